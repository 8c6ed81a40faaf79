/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads go through phases of known length: init, then steps of compute and exchange with a rest between them,
 * then a pause in which nothing runs. Prints for each thread when every phase began and ended, in seconds since main
 * began.
 *
 *     phases STEPS [die]       die: kills itself at the end
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noipa))

static volatile unsigned long sink;
static double began;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

#define WORK(seconds) \
    do { \
        double end = now(CLOCK_THREAD_CPUTIME_ID) + (seconds); \
        while (now(CLOCK_THREAD_CPUTIME_ID) < end) { \
            unsigned long x = sink; \
            for (long i = 0; i < 200000; i++) \
                x = x * 6364136223846793005ul + 1442695040888963407ul; \
            sink = x; \
        } \
    } while (0)

NOINLINE void init(void)
{
    WORK(0.4);
}
NOINLINE void compute(void)
{
    WORK(0.25);
}
NOINLINE void exchange(void)
{
    WORK(0.15);
}
NOINLINE void rest(void)
{
    WORK(0.1);
}
NOINLINE void wait_a_while(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
}

static double tell(int thread, const char *phase, double start)
{
    double end = now(CLOCK_REALTIME) - began;
    printf("%d %s %.6f %.6f\n", thread, phase, start, end);
    return end;
}

NOINLINE void step(int thread)
{
    double at = now(CLOCK_REALTIME) - began;
    compute();
    at = tell(thread, "compute", at);
    exchange();
    tell(thread, "exchange", at);
}

static int steps;

NOINLINE void work(int thread)
{
    double at = now(CLOCK_REALTIME) - began;
    init();
    tell(thread, "init", at);
    for (int i = 0; i < steps; i++) {
        step(thread);
        at = now(CLOCK_REALTIME) - began;
        rest();
        tell(thread, "rest", at);
    }
    at = now(CLOCK_REALTIME) - began;
    wait_a_while();
    tell(thread, "wait_a_while", at);
    at = now(CLOCK_REALTIME) - began;
    rest();
    tell(thread, "rest", at);
}

static void *worker(void *arg)
{
    work(1);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    began = now(CLOCK_REALTIME);
    steps = argc > 1 ? atoi(argv[1]) : 3;
    pthread_create(&thread, NULL, worker, NULL);
    work(0);
    pthread_join(thread, NULL);
    fflush(stdout);
    if (argc > 2)
        raise(SIGKILL);
    return 0;
}
