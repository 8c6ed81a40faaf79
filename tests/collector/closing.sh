#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The closing line says how much time is in no sample, and where it went, and says nothing where all is there.
. tests/collector/lib.sh
: "${CC:=cc}"

missing='of [0-9.]+ s of CPU time [0-9.]+ s are in no sample'

# seconds WORDS: those that the closing line gives before these words, 0 if it does not. The kernel looks at CPU clocks at its tick, so how much of the
# end of a program is in no sample is left to chance, from nothing to all of it: the bounds below hold for both.
seconds() { local s; s=$(sed -nE "s/.* ([0-9.]+) s $1.*/\\1/p" "$TMP/err"); echo "${s:-0}"; }

# What the shell's earlier children took (0.9 s) belongs to the process that becomes `hq record`, but not to the recording, which can miss 0.3 s.
rm -rf "$DB"
bash -c 'for i in 1 2 3; do "$0" return; done; exec "$@"' "$PROGRAMS/ends" "$HQ" record -o "$DB" -- "$PROGRAMS/ends" return 2>"$TMP/err"
check "what was before exec by a shell is not missing" holds "$(seconds 'are in no sample') < 0.6"
check "and nothing else is said" [ "$(grep -vcE '^hq: [0-9]+ samples|are in no sample' "$TMP/err")" = 0 ]

# A library of the program is initialised before the collector.
cat >"$TMP/early.c" <<'EOF'
#include "burn.h"
int early(void) { return 0; }
static __attribute__((constructor)) void begin(void) { burn(0.4); }
EOF
cat >"$TMP/late.c" <<'EOF'
#include "burn.h"
int early(void);
int main(void) { burn(0.2); return early(); }
EOF
$CC -shared -fPIC -Itests/programs -o "$TMP/libearly.so" "$TMP/early.c" &&
    $CC -Itests/programs -o "$TMP/late" "$TMP/late.c" -L"$TMP" -learly -Wl,-rpath,"$TMP" || exit 1
# 0.4 s of the library, and what the loader takes.
loading='while programs were loaded, linked and initialised'
record -- "$TMP/late"
check "time before the collector is told" holds "$(seconds 'are in no sample') > 0.35 && $(seconds "$loading") >= 0.4 && $(seconds "$loading") < 0.7"
cat >"$TMP/before.c" <<'EOF'
#include "burn.h"
#include <unistd.h>
int main(int argc, char **argv) { burn(0.6); return argc < 2 || execv(argv[1], argv + 1); }
EOF
$CC -Itests/programs -o "$TMP/before" "$TMP/before.c" || exit 1
record -- "$TMP/before" "$TMP/late"
check "what an image before exec took is not told again" holds "$(seconds "$loading") >= 0.4 && $(seconds "$loading") < 0.7"

# A static program that is executed past the C library, as Go does it, has no name here; that another one has does not explain its time.
cat >"$TMP/past.c" <<'EOF'
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
    long result = SYS_execve;
    pid_t child = fork();
    if (!child) {
#ifdef __x86_64__
        __asm__ volatile("syscall" : "+a"(result) : "D"(argv[1]), "S"(argv + 1), "d"(environ) : "rcx", "r11", "memory");
#else
        syscall(result, argv[1], argv + 1, environ);
#endif
        _exit(1);
    }
    return waitpid(child, &argc, 0) != child || WEXITSTATUS(argc) != 7;
}
EOF
$CC -O1 -o "$TMP/past" "$TMP/past.c" && $CC -static -O1 -o "$TMP/static" -Itests/programs tests/programs/ends.c -lpthread 2>/dev/null &&
    printf 'int main(void) { return 0; }\n' | $CC -static -x c -o "$TMP/named" - || exit 1
record -- sh -c '"$0" && "$1" "$2" return' "$TMP/named" "$TMP/past" "$TMP/static"
check "one is named" grep -q "^hq: not measured: .*$TMP/named (statically linked)" "$TMP/err"
check "what another one took is told, too" holds "$status == 0 && $(seconds 'in processes that could not be measured') >= 0.25"

# 100 threads at once, half a second all together: with a period of ten thousand one in 20,000 runs has a sample.
cat >"$TMP/short.c" <<'EOF'
#include "burn.h"
#include <pthread.h>
enum { THREADS = 100 };
static pthread_barrier_t all;
static void *run(void *unused) { pthread_barrier_wait(&all); burn(0.005); return unused; }
int main(void)
{
    pthread_t thread[THREADS];
    pthread_barrier_init(&all, 0, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], 0, run, 0))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], 0);
    return 0;
}
EOF
$CC -Itests/programs -o "$TMP/short" "$TMP/short.c" -lpthread || exit 1
record -e CPUTIME@10000s -- "$TMP/short"
check "threads that were too short are told" grep -Eq "$missing: [0-9.]+ s in threads and processes that ended before a sample was due" "$TMP/err"
check "all threads are counted" grep -Eq ' 101 threads, 1 process' "$TMP/err"
check "info counts them, too" [ "$("$HQ" "$DB" info 2>/dev/null | grep -c '^threads  *101, ')" = 1 ]

# Pid 1 of a namespace is also the pid of a process that runs: it is not taken for the one that was measured.
if unshare -Urpf true 2>/dev/null; then
    record -- unshare -Urpf "$PROGRAMS/ends" exit_group
    check "pid 1: measured" holds "$(value 'sum CPUTIME') > 0.05e9"
    check "pid 1: not said to run still" [ "$(grep -c 'still run' "$TMP/err")" = 0 ]
    record -- "$PROGRAMS/ends" return
    check "pid 1: its recording can be replaced" [ $status = 7 ]
else
    skip "no namespace of processes can be made here"
fi

# Nor is a process that has got the pid of one that was killed: this shell.
record -- sh -c '"$0" kill; true' "$PROGRAMS/ends"
for file in "$DB"/measurements/*.hqm; do
    python3 -c 'import struct, sys; f = open(sys.argv[1], "r+b"); f.seek(16); f.write(struct.pack("<I", int(sys.argv[2])))' "$file" $$
done
check "a killed process is still said to have no end" [ "$(value running)" = 1 ]
"$HQ" "$DB" info >/dev/null 2>"$TMP/err"
check "a pid used again: nothing runs" [ "$?:$(grep -c 'still runs' "$TMP/err")" = 0:0 ]
record -- "$PROGRAMS/ends" return
check "a pid used again: the recording can be replaced" [ $status = 7 ]

# A program that may have no timers.
if (ulimit -i 0) 2>/dev/null; then
    (ulimit -i 0; timeout 100 "$HQ" record --clock=timer --force -o "$DB" -- sh -c '"$0" return; "$0" return' "$PROGRAMS/ends" >"$TMP/out" 2>"$TMP/err"; exit $?)
    check "without timers the program runs" [ $? = 7 ]
    check "without timers: one sentence" [ "$(grep -c 'kernel refuses a timer' "$TMP/err")" = 1 ]
    (ulimit -i 0; "$HQ" record --clock=timer -e CPUTIME@1000/s --force -o "$DB" -- sh -c '"$0" return; :' "$PROGRAMS/ends" >"$TMP/out" 2>"$TMP/err")
    check "without timers nobody is told that it used too little time" [ "$(grep -c 'no sample came in' "$TMP/err"):$(grep -c 'too little CPU' "$TMP/err")" = 1:0 ]
else
    skip "the number of pending signals cannot be limited here"
fi
# The kernel's count has no child that nobody waits for: a share of it would be above 100 %.
record -- perl -e '$SIG{CHLD} = "IGNORE"; if (!fork) { 1 while (times)[0] < 0.4; exit } wait'
check "processes that nobody waited for: no share of the kernel's count" [ "$("$HQ" "$DB" info </dev/null | grep -c '^CPU time .*; samples: [0-9.]* s, more than that: the count lacks processes that nobody waited for, or few samples scatter$')" = 1 ]
finish
