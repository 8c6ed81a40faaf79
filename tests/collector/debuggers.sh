#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Debuggers and profilers under hq record, and the programs that they run, do what they do without, and are measured.
. tests/collector/lib.sh
have() { command -v "$1" >/dev/null || { skip "there is no $1"; return 1; }; }
# gdb 10 does not know that signal 33 belongs to the C library.
passing=()
gdb --version 2>/dev/null | head -1 | grep -q ' 10\.[0-9.]*' && passing=(-ex 'handle SIG33 nostop noprint pass')
for event in CPUTIME@1000/s REALTIME@1000/s; do
    if have gdb; then
        record -e $event -- gdb -q -nx -batch "${passing[@]}" -ex run -ex 'print $_exitcode' --args "$PROGRAMS/threads" 4 2 100000
        check "gdb, $event: no signal of ours stops the program" holds "$status == 0 && $(grep -c 'received signal' "$TMP/out") == 0"
        check "gdb, $event: the program ends well" grep -q '^\$1 = 0$' "$TMP/out"
        check "gdb, $event: the program is measured" holds "$(value threads) >= 4 && $(share 'work|burn') > 1"
        record -e $event -- gdb -q -nx -batch "${passing[@]}" -ex 'break burn' -ex run -ex backtrace -ex 'delete 1' -ex continue --args "$PROGRAMS/ends" return
        check "gdb, $event: it stops where it is told to" grep -q '^#0  burn ' "$TMP/out"
        check "gdb, $event: and the program goes on to its end" grep -q 'exited with code 07' "$TMP/out"
    fi
    if have strace; then
        record -e $event -- strace -f -o "$TMP/trace" "$PROGRAMS/ends" return
        check "strace, $event: the status is the program's" [ $status = 7 ]
        check "strace, $event: it sees the program's calls" grep -q 'exit_group(7)' "$TMP/trace"
        check "strace, $event: the program is measured" holds "$(share ';work;burn') > 5"
    fi
done
for way in "" "--mark work"; do
    have valgrind || break
    record $way -- valgrind -q --tool=none "$PROGRAMS/ends" return
    check "valgrind${way:+, $way}: the status is the program's" [ $status = 7 ]
    check "valgrind${way:+, $way}: nothing is said of itself" [ "$(grep -c 'VALGRIND INTERNAL ERROR\|impossible' "$TMP/err")" = 0 ]
done
# A debugger that hands signals on later, at another signal's stop, as ltrace does: the kernel then takes it for the sender.
cat >"$TMP/later.c" <<'C'
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words)
{
    int status, kept = 0;
    pid_t child = fork();

    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(words[count - 1], words + count - 1);
        _exit(1);
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        long number = WSTOPSIG(status), now = number == SIGURG ? kept : number == SIGTRAP || number == 33 ? 0 : number;
        kept = number == 33 ? 33 : number == SIGURG ? 0 : kept;
        ptrace(PTRACE_CONT, child, 0, now);
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
C
printf '#include <signal.h>\nint main(void) { for (int i = 0; i < 200; i++) { for (volatile int k = 0; k < 1000000; k++) ; raise(SIGURG); } return 7; }\n' >"$TMP/urges.c"
${CC:-cc} -O1 -o "$TMP/later" "$TMP/later.c" && ${CC:-cc} -O1 -o "$TMP/urges" "$TMP/urges.c" || exit 1
record -e REALTIME@1000/s -- "$TMP/later" "$TMP/urges"
check "signals handed on later: the program ends well" [ $status = 7 ]

# A child that its own parent traces, without a program in between: the parent takes each SIGTRAP for its breakpoint.
cat >"$TMP/parent.c" <<'C'
#define _GNU_SOURCE
#include "burn.h"
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words)
{
    int status, traps = 0, others = 0;
    pid_t child = fork();

    (void)words;
    if (child == 0) {
        burn(0.1); /* it has its clock by then */
        if (count > 1) syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
        else ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGUSR1);
        burn(0.2);
        raise(SIGTRAP);
        burn(0.2);
        _exit(7);
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        int number = WSTOPSIG(status);
        traps += number == SIGTRAP;
        others += number != SIGTRAP && number < 32;
        ptrace(PTRACE_CONT, child, 0L, number < 32 ? 0L : (long)number);
    }
    printf("%d traps, %d other signals\n", traps, others);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
C
${CC:-cc} -O1 -Itests/programs -o "$TMP/parent" "$TMP/parent.c" || exit 1
for way in "" bare; do
    record -e CPUTIME@1000/s -- "$TMP/parent" $way
    check "traced by its parent${way:+, $way}: ends as it would" [ $status = 7 ]
    check "traced by its parent${way:+, $way}: its signals are seen, and no SIGTRAP of ours: $(cat "$TMP/out")" grep -qx '1 traps, 1 other signals' "$TMP/out"
    check "traced by its parent${way:+, $way}: and is measured" holds "$(share burn) > 50"
done

# One inside, the other outside: each has its own signal.
profiler=$(ls /usr/lib/*/libprofiler.so.0 2>/dev/null | head -1)
if [ "$profiler" ]; then
    LD_PRELOAD=$profiler CPUPROFILE=$TMP/profile record -- "$PROGRAMS/ends" return
    check "gperftools: the program ends well" [ $status = 7 ]
    check "gperftools: both have samples" holds "$(stat -c %s "$TMP/profile" 2>/dev/null || echo 0) > 500 && $(value samples) > 20"
else
    skip "there is no libprofiler"
fi
if have perf; then
    record -- perf record -q -g -o "$TMP/perf.data" "$PROGRAMS/ends" return
    check "perf: the status is the program's" [ $status = 7 ]
    check "perf: both have samples" holds "$(stat -c %s "$TMP/perf.data" 2>/dev/null || echo 0) > 1000 && $(value samples) > 20"
fi
finish
