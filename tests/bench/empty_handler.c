/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lower bound for a sampling profiler: the same per-thread timers as the collector's CPUTIME, with a handler that only counts.
 * EMPTY_PERIOD is in nanoseconds; the count goes to the file EMPTY_FILE at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic unsigned long samples;
static long period;

static void on_timer(int number)
{
    (void)number;
    samples++;
}

static void start_timer(void)
{
    struct itimerspec interval = { { period / 1000000000, period % 1000000000 }, { period / 1000000000, period % 1000000000 } };
    struct sigevent notify;
    int id;

    memset(&notify, 0, sizeof notify);
    notify.sigev_notify = SIGEV_THREAD_ID;
    notify.sigev_signo = SIGRTMAX - 4;
    notify._sigev_un._tid = (int)syscall(SYS_gettid);
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &notify, &id) == 0)
        syscall(SYS_timer_settime, id, 0, &interval, NULL);
}

struct beginning { void *(*routine)(void *); void *argument; };

static void *run(void *data)
{
    struct beginning b = *(struct beginning *)data;

    free(data);
    start_timer();
    return b.routine(b.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    struct beginning *b = malloc(sizeof *b);

    *b = (struct beginning){ routine, argument };
    return real(thread, attributes, run, b);
}

static __attribute__((constructor)) void begin(void)
{
    struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };

    period = getenv("EMPTY_PERIOD") ? atol(getenv("EMPTY_PERIOD")) : 5000000;
    sigaction(SIGRTMAX - 4, &action, NULL);
    start_timer();
}

static __attribute__((destructor)) void end(void)
{
    FILE *file = getenv("EMPTY_FILE") ? fopen(getenv("EMPTY_FILE"), "a") : NULL;

    if (file) {
        fprintf(file, "%lu\n", samples);
        fclose(file);
    }
}
