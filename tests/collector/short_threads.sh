#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Threads that are shorter than a period: what each leaves over is passed on to the next, so the CPU time of all of them is found.
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
    if (fork() == 0) {      /* a child begins with nothing left over */
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
finish
