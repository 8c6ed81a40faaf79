#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Threads that are shorter than a period: what each leaves over is passed on to the next, so the CPU time of all of them is found. Processes that are
# shorter: each begins at a random point of a period, so their sum is found.
. tests/collector/lib.sh
: "${CC:=cc}"

cat >"$TMP/short.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>
static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
static void *work(void *nothing)
{
    while (now(CLOCK_THREAD_CPUTIME_ID) < 0.0007)
        ;
    return nothing;
}
static void run(int threads)
{
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, work, 0);
        pthread_join(thread, 0);
    }
}
int main(void)
{
    run(1000);
    if (fork() == 0) {      /* a child begins with nothing that its parent has left over */
        run(1);
        _exit(0);
    }
    wait(0);
    printf("%.3f\n", now(CLOCK_PROCESS_CPUTIME_ID));
}
C
$CC -O1 -pthread -o "$TMP/short" "$TMP/short.c" || exit 1
record -e CPUTIME@200/s -- "$TMP/short"
cpu=$(cat "$TMP/out") got=$(awk '/^sum CPUTIME/ { print $NF / 1e9 }' "$TMP/sums")
check "runs" [ $status = 0 ]
# What cannot be found is what the last threads left over: some 4 ms at a tick in every fourth millisecond, 40 ms in one of 20,000 runs. The least is
# of what the threads do by their own clocks, 0.7 s: the process has also what it costs to begin a thread, up to 0.1 ms with cold caches, where a tick
# meets the collector itself.
check "the time of short threads is found" holds "$got > 0.85 * 0.7 - 0.04 && $got < 1.1 * $cpu"
check "in them" holds "$(share 'work') > 75"
check "sound" sound
echo "short threads: $got s of $cpu s"

# The first sample of a thread puts another clock in the place of the first one. Where it came while that was being set up the program ended: here one
# comes at each instruction of that, each in a thread of its own.
record --clock=perf -e CPUTIME@5000/s -- "$PROGRAMS/clock_starts"
if [ $status = 77 ]; then
    skip "no process can be traced here"
elif ! grep -q 'by the software clock' "$TMP/err"; then
    skip "the kernel's software clock may not be used here"
else
    check "a tick at each instruction that sets a clock up (ends with $status): $(cat "$TMP/out")" [ $status = 0 ]
    check "some come there" holds "$(awk '{ print $1 }' "$TMP/out") >= 100"
fi
# The environment may hold anything.
for period in 0 1 18446744073709551615; do
    mkdir -p "$TMP/given"
    HQ_DIR=$TMP/given HQ_HOME=$TMP/given HQ_EVENTS=CPUTIME@$period,REALTIME@$period LD_PRELOAD=$(dirname "$HQ")/libhqpreload.so timeout 60 "$TMP/short" >"$TMP/out" 2>"$TMP/err"
    status=$?
    check "a period of $period in the environment does the program no harm (ends with $status)" [ $status = 0 ]
done

# A thread that maps or unmaps memory holds up all others while it is kept from a processor: thousands took ten times as long. What each needs is made for
# many at once, by who creates them.
cat >"$TMP/many.c" <<'C'
#include <pthread.h>
static pthread_barrier_t all;
static void *wait_for_all(void *nothing) { pthread_barrier_wait(&all); return nothing; }
int main(void)
{
    pthread_t thread[600];
    pthread_barrier_init(&all, 0, 601);
    for (int i = 0; i < 600; i++)
        if (pthread_create(&thread[i], 0, wait_for_all, 0)) return 1;
    pthread_barrier_wait(&all);
    for (int i = 0; i < 600; i++)
        pthread_join(thread[i], 0);
}
C
$CC -O1 -pthread -o "$TMP/many" "$TMP/many.c" || exit 1
if command -v strace >/dev/null; then
    strace -f -e trace=mmap,munmap -o "$TMP/bare" "$TMP/many"
    record -e CPUTIME@200/s -- strace -f -e trace=mmap,munmap -o "$TMP/traced" "$TMP/many"
    check "many threads: runs" [ $status = 0 ]
    bare=$(grep -c 'map(' "$TMP/bare") traced=$(grep -c 'map(' "$TMP/traced")
    check "many threads map little: $bare calls without hq, $traced with it" holds "$traced < $bare + 300"
else
    skip "there is no strace"
fi

cat >"$TMP/children.c" <<'C'
#include "burn.h"
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static double had(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}
int main(void)
{
    for (int i = 0; i < 200; i++) {
        if (fork() == 0) {
            burn(0.003);
            _exit(0);
        }
        wait(0);
    }
    printf("%.3f\n", had(RUSAGE_CHILDREN) + had(RUSAGE_SELF));
}
C
$CC -O1 -Itests/programs -o "$TMP/children" "$TMP/children.c" || exit 1
record -e CPUTIME@200/s -- "$TMP/children"
cpu=$(cat "$TMP/out") got=$(awk '/^sum CPUTIME/ { print $NF / 1e9 }' "$TMP/sums")
check "short processes: runs" [ $status = 0 ]
# Each of 200 has a sample of 5 ms with the chance 0.6 at least: 0.6 s, and six standard deviations are 0.21 s. Without chance it was 0.02 s, and where
# each had one 1 s. Timers fire at the tick, and what a process does behind its last one is in no sample: of 0.6 s a third.
if grep -q 'by the software clock' "$TMP/err"; then
    check "short processes: their time is found" holds "$got > 0.6 - 0.21 && $got < $cpu + 0.21"
else
    check "short processes: some of their time is found" holds "$got > 0.05 && $got < $cpu + 0.21"
fi
check "sound" sound
# Beside it stands what the kernel has counted: all that the program could count, its end, and the beginning of hq record's child.
counted=$("$HQ" "$DB" "info as csv" 2>"$TMP/asked" | awk -F, '$3 == "CPU time" && $10 ~ /^s/ { print $9 }')
check "the kernel's count is told for programs: ${counted:-none}" holds "${counted:-0} >= $cpu && ${counted:-0} < $cpu + 0.1"
check "and beside the samples for people" eval '"$HQ" "$DB" info 2>"$TMP/asked" | grep -qE "^CPU time  +$counted[.0]* s by the kernel.s count.*; samples: [0-9.]+ s, [0-9.]+ %$"'
echo "short processes: $got s of $cpu s"

# Of a program that does nothing most is the time before the collector begins: the kernel's count has it, and no sample.
record -e CPUTIME@200/s -- true
"$HQ" "$DB" "info as csv" >"$TMP/facts" 2>"$TMP/asked"
counted=$(awk -F, '$3 == "CPU time" && $10 ~ /^s/ { print $9 }' "$TMP/facts")
loading=$(awk -F, '$3 == "CPU time before measuring" && $10 ~ /^s/ { print $9 }' "$TMP/facts")
check "the time of loading is told: ${loading:-none} of ${counted:-none} s" holds "${loading:-0} > 0 && ${loading:-0} <= ${counted:-0}"

# Threads that the C library makes for routines of the program's: 120 of 3 ms.
"$PROGRAMS/notified" >"$TMP/alone"
for clock in CPUTIME REALTIME; do
    record -e $clock@1000/s -- "$PROGRAMS/notified"
    check "notified, $clock: ends as it would, and its routines see what they would ($status, $(cat "$TMP/out"))" cmp "$TMP/alone" "$TMP/out"
    got=$("$HQ" "$DB" "procedures where name = notified as csv" 2>"$TMP/asked" | awk -F, '$3 == "notified" { print $9 }')
    check "notified, $clock: the routines are measured (${got:-0} of 0.36 s)" holds "${got:-0} > 0.3"
    check "notified, $clock: sound" sound
done
finish
