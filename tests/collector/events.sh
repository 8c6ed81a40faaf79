#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Events: exact amounts, counters of the processor through PAPI, several at once, and when and where to measure.
. tests/collector/lib.sh
: "${CC:=cc}"

# exact EVENT: "sum count" of the cells whose path matches a regular expression.
total() { echo "$(value "sum $1"):$(value "count $1")"; }

record -e LOCK -- true
check "no count is no sample" grep -q "^hq: 0 counts of exact events, 1 thread, 1 process in " "$TMP/err"
record -e ALLOC -- "$PROGRAMS/amounts" alloc
check "alloc runs" [ $status = 0 ]
# 1000 x (100 + 300) and 40 x 50 of the program; the C library's own (a thread's stack is no malloc) stay below 10 KB.
check "the closing line tells of the counts" grep -q "^hq: [1-9][0-9]* counts of exact events, 2 threads, 1 process in " "$TMP/err"
check "bytes allocated" holds "$(value 'sum ALLOC_BYTES') >= 402000 && $(value 'sum ALLOC_BYTES') < 412000"
check "calls" holds "$(value 'sum ALLOC_CALLS') >= 2040 && $(value 'sum ALLOC_CALLS') < 2060"
check "leaked: what another thread frees is not" holds "$(value 'sum ALLOC_LEAKED') >= 2000 && $(value 'sum ALLOC_LEAKED') < 12000"
check "by call path" [ "$(paths | awk '$2 == "ALLOC_CALLS" && $3 ~ /leaked;(__libc_)?calloc$/ { n += $1 } END { print n }')" = 40 ]
check "sound" sound

check "and no more is told" [ "$(grep -c 'no allocation was seen' "$TMP/err")" = 0 ]
# An allocator with C++'s operator new beside its malloc, which the first does not call.
cat >"$TMP/own_new.c" <<'C'
#include <stddef.h>
void *__libc_malloc(size_t);
void __libc_free(void *);
void *malloc(size_t bytes) { return __libc_malloc(bytes); }
void free(void *block) { __libc_free(block); }
void *_Znwm(size_t bytes) { return __libc_malloc(bytes); }
C
cat >"$TMP/news.c" <<'C'
#include <stdlib.h>
void *_Znwm(size_t);
int main(void) { for (int i = 0; i < 100; i++) free(_Znwm(100)); free(malloc(10)); }
C
${CC:-cc} -O1 -fno-builtin -shared -fPIC -o "$TMP/libown_new.so" "$TMP/own_new.c" && ${CC:-cc} -O1 -fno-builtin -o "$TMP/news" "$TMP/news.c" -L"$TMP" -lown_new -Wl,-rpath,"$TMP" || exit 1
record -e ALLOC -- "$TMP/news"
check "own operator new: runs" [ $status = 0 ]
check "own operator new: malloc is counted" [ "$(value 'count ALLOC_CALLS')" -ge 1 ]
check "own operator new: what is not counted is told, once" [ "$(grep -c 'operator new that does not call malloc' "$TMP/err")" = 1 ]

record -e ALLOC -- "$PROGRAMS/own_malloc"
check "a malloc of the program's own works, and is told not to be measured" [ "$status:$(cat "$TMP/out"):$(grep -c '; no allocation was seen: the program made none, or has a malloc of its own' "$TMP/err")" = 0:1:1 ]
check "by its names" grep -q '^hq: the program has malloc and [1-9][0-9]* more of its own: calls that these do not pass on are not counted$' "$TMP/err"

# A library with such functions that is preloaded before the collector hides calls from it, of which the shell has some; behind the collector it does not.
cat >"$TMP/in_front.c" <<'C'
#include <stddef.h>
void *__libc_malloc(size_t);
void __libc_free(void *);
void *malloc(size_t bytes) { return __libc_malloc(bytes); }
void free(void *block) { __libc_free(block); }
long readv(int fd, const void *parts, int count) { return -1; }
C
printf '#include <stdlib.h>\nint main(void) { for (int i = 0; i < 1000; i++) free(malloc(10)); }\n' >"$TMP/mallocs.c"
$CC -O1 -w -fno-builtin -shared -fPIC -o "$TMP/libin_front.so" "$TMP/in_front.c" && $CC -O1 -fno-builtin -o "$TMP/mallocs" "$TMP/mallocs.c" || exit 1
hidden() { echo "$(grep -c "^hq: libin_front.so, which is preloaded before the collector, has $1: calls that these do not pass on are not counted; behind" "$TMP/err"):$(grep -c 'before the collector' "$TMP/err")"; }
record -e ALLOC -- sh -c "LD_PRELOAD=$TMP/libin_front.so:\$LD_PRELOAD exec $TMP/mallocs"
check "an allocator in front: what it hides is told" [ "$status:$(hidden malloc):$(value 'count ALLOC_CALLS' | awk '{ print ($1 < 1000) }')" = 0:1:1:1 ]
check "by info, too" [ "$("$HQ" "$DB" info </dev/null | grep -c '^warning  *libin_front.so, which is preloaded before the collector, has malloc: ')" = 1 ]
record -e ALLOC -- sh -c "export LD_PRELOAD=$TMP/libin_front.so:\$LD_PRELOAD; for i in 1 2 3; do $TMP/mallocs; done"
check "of several processes in one sentence" [ "$(grep 'before the collector' "$TMP/err" | sed 's/ has .*//')" = "hq: in 3 processes: libin_front.so, which is preloaded before the collector," ]
record -e IO -- sh -c "LD_PRELOAD=$TMP/libin_front.so:\$LD_PRELOAD exec $TMP/mallocs"
check "and functions of IO" [ "$status:$(hidden readv)" = 0:1:1 ]
record -e LOCK -- sh -c "LD_PRELOAD=$TMP/libin_front.so:\$LD_PRELOAD exec $TMP/mallocs"
check "nothing of what is not measured" [ "$status:$(hidden malloc)" = 0:0:0 ]
record -e ALLOC -e IO -- sh -c "LD_PRELOAD=\$LD_PRELOAD:$TMP/libin_front.so exec $TMP/mallocs"
check "behind the collector it hides nothing" [ "$status:$(hidden malloc):$(value 'count ALLOC_CALLS' | awk '{ print ($1 >= 1000) }')" = 0:0:0:1 ]

# A library whose constructor runs before ours and makes a mistake: dlerror asks for memory while it puts that into words, where glibc is older than 2.34.
printf '#define _GNU_SOURCE\n#include <dlfcn.h>\nint words;\n__attribute__((constructor)) static void early(void) { dlsym(RTLD_DEFAULT, "is_nowhere"); words = !!dlerror(); }\n' >"$TMP/early.c"
printf 'extern int words;\nint main(void) { return words != 1; }\n' >"$TMP/late.c"
$CC -shared -fPIC -o "$TMP/libearly.so" "$TMP/early.c" -ldl && $CC -o "$TMP/late" "$TMP/late.c" -L"$TMP" -learly -ldl "-Wl,-rpath,$TMP"
record -e ALLOC -- "$TMP/late"
check "mistakes of constructors have words" [ "$status" = 0 ]

# Threads that end leave their tree, with what is kept of it, to the next ones; cells are told apart all the same.
record -e ALLOC -- "$PROGRAMS/amounts" exchange
"$HQ" "$DB" 'procedures where name = exchanged columns alloc_calls, alloc_bytes, alloc_leaked as tsv' </dev/null | tail -n 1 | tr '\t' ',' >"$TMP/row"
check "threads that free each other's blocks: all is counted, exactly" grep -q ",$(tail -n 1 "$TMP/out")$" "$TMP/row"
check "and in each of them" [ "$("$HQ" "$DB" 'threads of exchanged where alloc_calls > 20000 columns alloc_calls as csv' </dev/null | grep -c ',thread,')" = 8 ]

record -e ALLOC -- "$PROGRAMS/amounts" aligned
check "aligned blocks, by each function that gives them" [ "$("$HQ" "$DB" 'procedures where name = aligned columns alloc_calls, alloc_bytes, alloc_leaked as tsv' </dev/null | tail -n 1 | cut -f 9-11)" = "50	204800	0" ]

for event in ALLOC IO LOCK; do
    record -e $event -- "$PROGRAMS/amounts" missing
    check "$event: a look-up that fails before the first free" [ $status = 0 ]
done

record -e IO -- "$PROGRAMS/amounts" io
check "io runs" [ $status = 0 ]
check "bytes written, exactly" [ "$(total IO_WRITE)" = 409600:100 ]
check "bytes read, exactly" [ "$(value 'sum IO_READ')" = 409600 ]
check "in reader" [ "$(paths | awk '$2 == "IO_READ" && $3 !~ /reader;_*fread(_chk)?$/' | wc -l)" = 0 ]

# What moves from descriptor to descriptor is read and written; stdio has functions without locks.
record -e IO -- "$PROGRAMS/amounts" moves
check "moves runs" [ $status = 0 ]
for what in read written; do
    event=IO_READ
    [ $what = written ] && event=IO_WRITE
    known=$(awk -v k=$what '$1 == k { print $2 }' "$TMP/out")
    check "bytes $what by calls of every kind: $(value "sum $event") of $known" [ "$(value "sum $event")" = "$known" ]
done
head -c 3000000 /dev/zero >"$TMP/three"
record -e IO -- cp "$TMP/three" "$TMP/other"
check "cp has written what it copies ($(value 'sum IO_WRITE'))" holds "$(value 'sum IO_WRITE') >= 3000000"

record -e LOCK -- "$PROGRAMS/amounts" lock
check "lock runs" [ $status = 0 ]
check "time blocked" holds "$(value 'sum LOCK_WAIT') > 0.19e9 && $(value 'sum LOCK_WAIT') < 2e9"
check "free locks are not counted" holds "$(value 'count LOCK_WAIT') < 10"
check "in blocked" [ "$(paths | awk '$2 == "LOCK_WAIT" && $3 ~ /blocked;.*pthread_mutex_lock/' | wc -l)" -ge 1 ]
record -e LOCK -- "$PROGRAMS/amounts" lock11
check "lock11 runs" [ $status = 0 ]
check "time blocked in C11's mutex" holds "$(value 'sum LOCK_WAIT') > 0.19e9 && $(value 'sum LOCK_WAIT') < 2e9"
check "C11's free locks are not counted" holds "$(value 'count LOCK_WAIT') < 10"

# Samples that come while an exact event is at work are kept, where it was called, as no cost of who calls: a table of
# blocks and its locks are outside of the guard, and were half of what churn seemed to cost itself.
record -e CPUTIME@1000/s -e ALLOC -- "$PROGRAMS/amounts" churn
check "time and memory together" holds "$(value 'sum CPUTIME') > 0.35e9 && $(value 'sum ALLOC_CALLS') > 10000"
check "no sample is lost to the wrappers" holds "$(value 'loss 1') <= 0.01 * $(value 'count CPUTIME')"
check "what the wrappers cost is told" "$HQ" "$DB" 'procedures of "[hq: measuring]" expect any cputime > 20%'
check "and stands in the summary" [ "$("$HQ" "$DB" 'summary as csv' | awk -F, '$3 == "measuring"' | wc -l)" = 1 ]
check "and is no cost of who calls them" "$HQ" "$DB" 'procedures of churn expect any cputime.x < 10%'
check "all below who calls them" "$HQ" "$DB" 'procedures of churn expect any cputime > 90%'
check "sound" sound
record -e CPUTIME@500/s -e REALTIME@500/s -- "$PROGRAMS/ends" return
check "two clocks" holds "$(value 'sum CPUTIME') > 0.2e9 && $(value 'sum REALTIME') > 0.2e9"

record -e CPUTIME@500/s -- "$PROGRAMS/amounts" parts
check "hq_start and hq_stop" holds "$(share ';middle;') > 95 && $(value 'sum CPUTIME') > 0.2e9 && $(value 'sum CPUTIME') < 0.4e9"
"$PROGRAMS/amounts" parts
check "hq.h without the collector" [ $? = 0 ]
record --stopped -e CPUTIME@500/s -- "$PROGRAMS/ends" return
check "--stopped" [ "$(value samples)" = 0 ]
check "--stopped without hq_start is told, not a run that is too short" \
    [ "$(grep -c 'no sample came while the program had measuring on' "$TMP/err"):$(grep -c 'too little CPU' "$TMP/err")" = 1:0 ]
record --stopped -e CPUTIME@500/s -- sh -c 'exit 7'
check "nor a status of the program's own that recording it anew would change" \
    [ "$(grep -c 'ended with status 7; no sample came' "$TMP/err"):$(grep -c 'record it anew' "$TMP/err")" = 1:0 ]
start=$EPOCHREALTIME
record --delay 200ms -e REALTIME@500/s -- "$PROGRAMS/ends" return
check "--delay" holds "$(value 'sum REALTIME') > 0.02e9 && $(value 'sum REALTIME') / 1e9 < $EPOCHREALTIME - $start - 0.19"
# That time begins when hq does, and may be over before the program is there: a busy machine gets more.
for seconds in 0.2 1 5 25; do
    record --duration ${seconds}s -e REALTIME@500/s -- bash -c 'end=$((${EPOCHREALTIME/[.,]/} + $0)); while [ "${EPOCHREALTIME/[.,]/}" -lt $end ]; do :; done' \
        "$(awk "BEGIN { print ($seconds + 0.1) * 1e6 }")"
    ! holds "$(value 'sum REALTIME') > 0.01e9" || break
done
check "--duration" holds "$(value 'sum REALTIME') > 0.01e9 && $(value 'sum REALTIME') <= ($seconds + 0.01) * 1e9"
PMI_RANK=2 record --ranks 1,3-4 -- "$PROGRAMS/ends" return
check "--ranks leaves others alone" [ "$status:$(value 'sum CPUTIME')" = 7:0 ]
PMI_RANK=3 record --ranks 1,3-4 -- "$PROGRAMS/ends" return
check "--ranks measures its own" holds "$(value 'sum CPUTIME') > 0.2e9"
record --no-trace -- "$PROGRAMS/ends" return
check "--no-trace" [ "$(value samples):$(value trace)" = "$(value samples):0" ]

"$HQ" record --list >"$TMP/out"
check "--list names the clocks" grep -q '^CPUTIME' "$TMP/out"
check "--list speaks of the processor" grep -q '^Events of the processor' "$TMP/out"
for wrong in CPUTIME@ CPUTIME@0 CPUTIME@fast NO_SUCH_EVENT ALLOC@5 @5ms; do
    record -e $wrong -- true
    check "-e $wrong is refused" [ "$status:$(grep -c '^hq record: ' "$TMP/err")" = 2:1 ]
done
record --ranks 3-1 -- true
check "--ranks 3-1 is refused" [ $status = 2 ]

if "$HQ" record --list | grep -q 'built without PAPI\|not installed'; then
    skip "there is no PAPI"
else
    $CC -shared -fPIC -O1 -o "$TMP/counter.so" tests/collector/software_counter.c -ldl || exit 1
    counter() { LD_PRELOAD=$TMP/counter.so LIBPFM_FORCE_PMU=amd64_fam17h_zen2 record "$@"; }
    # The shim counts nanoseconds of the task.
    counter -e PAPI_TOT_CYC@1000000 -- "$PROGRAMS/ends" return
    check "PAPI: the program runs" [ $status = 7 ]
    check "PAPI: counts overflow" holds "$(value 'sum PAPI_TOT_CYC') > 0.2e9 && $(value 'sum PAPI_TOT_CYC') < 0.5e9"
    check "PAPI: in work" holds "$(share ';work;burn') > 90"
    check "PAPI: full paths" full 99
    check "PAPI: sound" sound
    counter -e PAPI_TOT_CYC@1000000 -e PAPI_TOT_INS@2000000 -e CPUTIME@200/s -- "$PROGRAMS/threads" 8 4 100000
    check "PAPI: two counters and a clock, in threads" holds "$(value 'sum PAPI_TOT_CYC') > 0.5e9 && $(value 'sum PAPI_TOT_INS') > 0.5e9 && $(value 'sum CPUTIME') > 0.5e9"
    counter -e INSTRUCTIONS@2000000 -- "$PROGRAMS/ends" return
    check "PAPI: instructions by that name" holds "$(value 'sum PAPI_TOT_INS') > 0.2e9"
    counter -e PAPI_TOT_CYC@1000000 -- "$PROGRAMS/family" fork
    check "PAPI: a forked child is counted" holds "$(share child_work) > 90 && $(value 'sum PAPI_TOT_CYC') > 0.2e9"
    counter -e PAPI_TOT_CYC@1000000 -- "$PROGRAMS/family" exec
    check "PAPI: an executed child" holds "$status == 0 && $(value 'sum PAPI_TOT_CYC') > 0.2e9"
    counter -e PAPI_TOT_CYC@1000000 -- "$PROGRAMS/signals" block
    check "PAPI: its signal cannot be blocked" holds "$(value 'sum PAPI_TOT_CYC') > 0.25e9"
    counter -e PAPI_TOT_CYC@1000000 -- "$PROGRAMS/signals" reset
    check "PAPI: its handler cannot be reset" holds "$status == 0 && $(value 'sum PAPI_TOT_CYC') > 0.25e9"
    counter -e PAPI_TOT_CYC@1000000 -- "$PROGRAMS/queued"
    check "PAPI: queued signals of the program arrive" [ "$status:$(cat "$TMP/out")" = 0:ok ]
    # PAPI knows the processor by its model, whether or not the kernel reaches its counters; the kernel's own events are counted anywhere.
    LIBPFM_FORCE_PMU=amd64_fam17h_zen2 record -e PAPI_TOT_CYC@1000000 -- true
    check "PAPI: what the kernel does not count is refused with its reason" [ "$status:$(grep -c 'cannot be measured: PAPI cannot count it here (.' "$TMP/err")" = 2:1 -o "$(value 'count PAPI_TOT_CYC')" -gt 0 ]
    if "$HQ" record --list | grep -q '^perf::PAGE-FAULTS '; then
        # @1 is refused: see repl/record/events.c.
        record -e perf::PAGE-FAULTS@2 -- /usr/bin/python3 -c 'bytearray(10000000)'
        check "PAPI: page faults, by their call path" holds "$status == 0 && $(value 'sum perf::PAGE-FAULTS') > 2000 && $(share 'Py_RunMain;') > 50"
    else
        skip "the kernel counts no events of its own here"
    fi
    counter -e PAPI_NO_SUCH@1000 -- true
    check "PAPI: an unknown event is refused with the reason" grep -q 'PAPI says' "$TMP/err"
fi
finish
