#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that close all descriptors, change root or user, or filter system calls go on; programs that cannot be measured say so and run.
. tests/collector/lib.sh
: "${CC:=cc}"

try() {
    record -e "CPUTIME@${2:-200}/s" -- "$PROGRAMS/confined" "$1"
    if [ $status = 1 ]; then
        skip "$1 is not possible here"
        return
    fi
    check "$1: the program ends as it would" [ $status = 3 ]
    check "$1: measured to the end" holds "$(value 'sum CPUTIME') > 0.4e9"
    check "$1: nothing is lost" [ "$(value 'loss 0')" = 0 ]
    check "$1: nothing is said" [ "$(wc -l <"$TMP/err")" = 1 ]
    check "$1: sound" sound
}
for way in closefrom close_range descriptors ask wide filter filter-syscall filter-prctl; do
    try $way
done
for way in chroot chroot-syscall landlock pivot_root setuid setuid-syscall; do
    try $way 1000 # so many that the file has to grow
done
record -- "$PROGRAMS/confined" users "$DB/measurements"
check "what a change of the user reserves is reserved once ($status)" [ $status = 3 ]
# Forked children that can make no file say so, once; under REALTIME no account of CPU time tells.
record -e REALTIME@500/s -- "$PROGRAMS/confined" children
check "children without descriptors: the program ends as it would" [ $status = 3 ]
check "children without descriptors: one sentence" [ "$(grep -c 'forked processes cannot write .*they run unmeasured' "$TMP/err")" = 1 ]
for way in strict narrowest; do
    record -e REALTIME@500/s -e IO -- "$PROGRAMS/confined" $way
    check "$way, under REALTIME: the program ends as it would ($status)" [ $status = 3 ]
    record -e CPUTIME@1000/s -- "$PROGRAMS/confined" $way
    check "$way: the program ends as it would" [ $status = 3 ]
    check "$way: one sentence" [ "$(grep -c 'seccomp.*measured only up to here' "$TMP/err")" = 1 ]
    check "$way: measured until then" holds "$(value 'sum CPUTIME') > 0.05e9 && $(value 'sum CPUTIME') < 0.3e9"
done

record -e CPUTIME@1000/s -- "$PROGRAMS/confined" forbid-only "$(awk '$2 == "__NR_clock_gettime" { print $3 }' <($CC -E -dM -include sys/syscall.h -x c /dev/null))" errno
check "no clock: the program ends as it would" [ $status = 3 ]
check "no clock: the sentence names what is forbidden" grep -q 'forbids to read clocks' "$TMP/err"

# A sentence goes to standard error, and not into what the program has opened in its place.
(cd "$TMP" && "$HQ" record --force -o "$DB" -- "$PROGRAMS/confined" data 2>err)
check "another file is descriptor 2: the program ends as it would" [ $? = 3 ]
check "another file is descriptor 2: nothing is written there" [ -e "$TMP/data" -a ! -s "$TMP/data" ]
record -- "$PROGRAMS/confined" copy
check "a copy of standard error is standard error" [ "$status:$(grep -c 'seccomp.*measured only up to here' "$TMP/err")" = 3:1 ]

# Filters that end the program for one call each, of those that only the collector makes here: the program, its threads, its children and what these execute end
# as they would. The numbers are x86-64's.
ways=0
if [ "$(uname -m)" = x86_64 ]; then
    # rt_sigaction; sigaltstack; timer_delete; open, stat, readlink, sigaltstack, getpid, sched_getaffinity, gettid, getrusage, perf_event_open, prctl, clock_gettime, rt_sigreturn
    for way in "13 errno" "131 errno" "131 trap" "226 trap" {2,4,89,131,39,204,186,98,298,157,228,15}" kill"; do
        "$PROGRAMS/confined" forbid $way >"$TMP/out" 2>&1
        [ $? = 3 ] || continue      # the C library, or the shell, makes this call itself
        ways=$((ways + 1))
        record -e CPUTIME@1000/s -e IO -- "$PROGRAMS/confined" forbid $way
        check "call $way: the program ends as it would ($(cat "$TMP/out"))" [ $status = 3 ]
    done
    check "the calls that are forbidden above are the collector's" [ $ways -gt 8 ]
    "$PROGRAMS/confined" forbid 39 kill >"$TMP/alone"
    alone=$?
    record -e REALTIME@2000/s -- "$PROGRAMS/confined" forbid 39 kill
    check "getpid is forbidden before the first thread, under REALTIME: the program ends as it would ($alone, $status)" [ $status = $alone ]
    check "getpid is forbidden before the first thread: the program prints what it would" cmp "$TMP/alone" "$TMP/out"
    record -e ALLOC -- "$PROGRAMS/confined" contend
    check "sched_yield is forbidden to threads that meet in the counts: the program ends as it would ($status)" [ $status = 3 ]
    for number in 131 228; do # sigaltstack; clock_gettime
        record -e CPUTIME@1000/s -- "$PROGRAMS/confined" all $number
        check "call $number is forbidden to a thread that works and ends: the program ends as it would ($status)" [ $status = 3 ]
    done
    record -e CPUTIME@1000/s -- "$PROGRAMS/confined" vfork
    check "a child of vfork has a filter: it ends as it would ($(cat "$TMP/out"))" [ $status = 3 ]
    check "a child of vfork has a filter: its parent's threads are measured" holds "$(value 'sum CPUTIME') > 0.2e9"
    record -e CPUTIME@1000/s --mark main -- "$PROGRAMS/confined" forbid 131 kill
    check "a forked child that is not measured, with breakpoints: the program ends as it would ($(cat "$TMP/out"))" [ $status = 3 ]
    record -e CPUTIME@1000/s -- "$PROGRAMS/confined" forbid-writing 2 kill
    check "files are opened for reading only: the program ends as it would ($(cat "$TMP/out"))" [ $status = 3 ]
fi

# Programs that the loader does not give a library to.
$CC -static -O1 -o "$TMP/static" -Itests/programs tests/programs/ends.c -lpthread 2>/dev/null || exit 1
record -- "$TMP/static" return
check "static: the program runs" [ $status = 7 ]
check "static: one sentence" [ "$(grep -c 'statically linked' "$TMP/err")" = 1 ]
record -- sh -c "'$TMP/static' return; '$PROGRAMS/ends' return"
check "static among others: the others are measured" holds "$(value 'sum CPUTIME') > 0.2e9"
check "static among others: it is named" grep -q "not measured: $TMP/static (statically linked)" "$TMP/err"
record -- sh -c 'for i in 1 2 3; do env -i "$0" return; "$1" return; done; PATH=$2:$PATH; static return; true' "$PROGRAMS/ends" "$TMP/static" "$TMP"
check "each is named once, with how often" grep -q "static (statically linked) 4 times, $PROGRAMS/ends (started without LD_PRELOAD in its environment) 3 times" "$TMP/err"
cp "$PROGRAMS/ends" "$TMP/set-user-id"
if chown 65534 "$TMP/set-user-id" 2>/dev/null && chmod u+s "$TMP/set-user-id"; then
    record -- "$TMP/set-user-id" return
    check "set-user-ID: one sentence" grep -q 'set-user-ID' "$TMP/err"
    check "set-user-ID: the program runs" [ $status = 7 ]
else
    skip "set-user-ID needs root"
fi

# A loader that audits has no room left for the collector's thread-local storage, and would end the program.
printf 'unsigned la_version(unsigned v) { return v; }\n' | $CC -shared -fPIC -x c -o "$TMP/audit.so" - || exit 1
record -- env LD_AUDIT="$TMP/audit.so" "$PROGRAMS/ends" return
check "audited: the program runs" [ $status = 7 ]
check "audited: it is named" grep -q "not measured: $PROGRAMS/ends (started with LD_AUDIT)" "$TMP/err"
LD_AUDIT=$TMP/audit.so record -- "$PROGRAMS/ends" return
check "audited from the start: the program runs" [ $status = 7 ]
check "audited from the start: one sentence" [ "$(grep -c 'LD_AUDIT leaves' "$TMP/err")" = 1 ]
record -- env LD_AUDIT="$TMP/audit.so" GLIBC_TUNABLES=glibc.rtld.optional_static_tls=8192 "$PROGRAMS/ends" return
check "audited with room: it is measured" holds "$status == 7 && $(value 'sum CPUTIME') > 0.2e9"

# The collector's tables would leave the loader no room for the C library: status 127.
for limit in "-d 3000" "-d 1500" "-v 5000" "-s 31"; do
    record -- bash -c "ulimit $limit; exec '$PROGRAMS/ends' return"
    check "ulimit $limit: the program runs" [ $status = 7 ]
    check "ulimit $limit: it is named" grep -q "not measured: $PROGRAMS/ends (started with a limit of memory" "$TMP/err"
done
(ulimit -d 3000; "$HQ" record --force -o "$DB" -- "$PROGRAMS/ends" return >"$TMP/out" 2>"$TMP/err")
status=$?
check "ulimit -d from the start: the program runs" [ $status = 7 ]
check "ulimit -d from the start: one sentence" [ "$(grep -c 'has no room for the collector' "$TMP/err")" = 1 ]
(ulimit -s 28; "$HQ" record --force -o "$DB" -- "$PROGRAMS/ends" return >"$TMP/out" 2>"$TMP/err")
status=$?
check "ulimit -s 28 from the start: the program runs" [ $status = 7 ]
check "ulimit -s 28 from the start: one sentence" [ "$(grep -c 'has no room for the collector' "$TMP/err")" = 1 ]
# What ends on a small stack is measured to its end, and its files come home from a buffer.
for stack in 32 48; do
    for buffer in "" "--buffer $TMP"; do
        (ulimit -s $stack; "$HQ" record --force -e CPUTIME@1000/s -o "$DB" $buffer -- "$PROGRAMS/ends" return >"$TMP/out" 2>"$TMP/err")
        status=$?
        "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
        check "ulimit -s $stack $buffer: the program ends as it would" [ $status = 7 ]
        check "ulimit -s $stack $buffer: it is measured" holds "$(value 'sum CPUTIME') > 0.2e9"
    done
done
(ulimit -s 28; "$HQ" "$DB" "procedures limit 3" >"$TMP/out" 2>"$TMP/err")
check "ulimit -s 28: a question is answered" [ "$?:$(grep -c work "$TMP/out")" = 0:1 ]

# Loaders that do not pass over the collector in silence get an environment without it: that of another C library, and ours where the library is not seen.
cat >"$TMP/other.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
int main(void) { const char *list = getenv("LD_PRELOAD"); puts(list ? list : "none"); return 5; }
EOF
cp "$(readlink -f /lib64/ld-linux-x86-64.so.2)" "$TMP/ld-other.so.1" &&
    $CC -o "$TMP/other" "$TMP/other.c" -Wl,--dynamic-linker="$TMP/ld-other.so.1" || exit 1
record -- "$TMP/other"
check "another C library: the program runs as it would" [ "$status:$(cat "$TMP/out")" = 5:none ]
check "another C library: one sentence" [ "$(grep -c 'is for another C library (its loader is .*ld-other.so.1)' "$TMP/err")" = 1 ]
for way in '"$0"' 'exec "$0"' 'bash -c "\"$0\"; exit"' 'perl -e "system @ARGV; exit \$? >> 8" "$0"' 'timeout 50 "$0"'; do
    record -- sh -c "$way" "$TMP/other"
    check "another C library by $way: runs as it would" [ "$status:$(cat "$TMP/out")" = 5:none ]
    check "another C library by $way: it is named" grep -q "not measured: $TMP/other (for another C library)" "$TMP/err"
done
record -- sh -c 'LD_PRELOAD=libm.so.6:$LD_PRELOAD:libdl.so.2 "$0"' "$TMP/other"
check "what else is preloaded stays" [ "$status:$(cat "$TMP/out")" = 5:libm.so.6:libdl.so.2 ]
record -- sh -c 'LD_PRELOAD=/nowhere/libhqpreload.so "$0" return' "$PROGRAMS/ends"
check "where the library is not seen the loader stays silent" [ "$status:$(grep -c 'cannot be preloaded' "$TMP/err")" = 7:0 ]
check "and the program is named" grep -q "not measured: .*/ends (started where the collector's library is not to be seen)" "$TMP/err"
printf '#!%s\nexit 5\n' "$TMP/no-such-interpreter" >"$TMP/script"
chmod +x "$TMP/script"
record -- "$TMP/script"
check "no interpreter: cannot be run" [ $status = 126 ] || [ $status = 127 ]
record -- "$TMP/no-such-command"
check "no such command" [ $status = 127 ]
record -- "$TMP"
check "a directory is no command" [ $status = 126 ]
record -- sh -c 'exit 42'
check "a shell's status" [ $status = 42 ]

# A recording is not overwritten by accident, and nothing else ever.
rm -rf "$DB"
"$HQ" record -o "$DB" -- true 2>"$TMP/err"
"$HQ" record -o "$DB" -- true 2>"$TMP/err"
check "a second recording is refused" [ $? = 2 ]
check "and says how" grep -q -- --force "$TMP/err"
"$HQ" record --force -o "$DB" -- true 2>"$TMP/err"
check "unless forced" [ $? = 0 ]
mkdir -p "$TMP/precious"
touch "$TMP/precious/file"
"$HQ" record --force -o "$TMP/precious" -- true 2>"$TMP/err"
check "other directories are never touched" [ "$?:$(ls "$TMP/precious")" = 2:file ]
finish
