/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lower bound for a sampling profiler: the same per-thread timers as the collector's CPUTIME or, with
 * EMPTY_CLOCK=REALTIME, its REALTIME, with a handler that only counts. EMPTY_PERIOD is in nanoseconds; the count is a
 * 64-bit number in the file EMPTY_FILE, which is there already.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic unsigned long unwanted, *samples = &unwanted;
static clockid_t clock_used = CLOCK_THREAD_CPUTIME_ID;
static long period;

static void on_timer(int number)
{
    (void)number;
    ++*samples;
}

static void start_timer(void)
{
    struct itimerspec interval = {{period / 1000000000, period % 1000000000},
                                  {period / 1000000000, period % 1000000000}};
    struct sigevent notify;
    int id;

    memset(&notify, 0, sizeof notify);
    notify.sigev_notify = SIGEV_THREAD_ID;
    notify.sigev_signo = SIGRTMAX - 4;
    notify._sigev_un._tid = (int)syscall(SYS_gettid);
    if (syscall(SYS_timer_create, clock_used, &notify, &id) == 0)
        syscall(SYS_timer_settime, id, 0, &interval, NULL);
}

struct beginning {
    void *(*routine)(void *);
    void *argument;
};

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

    *b = (struct beginning){routine, argument};
    return real(thread, attributes, run, b);
}

/* Shared with all processes, so that none has to end in an orderly way. */
static void map_count(const char *path)
{
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *page = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *samples, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (fd >= 0)
        close(fd);
    if (page != MAP_FAILED)
        samples = page;
}

static __attribute__((constructor)) void begin(void)
{
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    const char *clock_name = getenv("EMPTY_CLOCK");

    if (clock_name && !strcmp(clock_name, "REALTIME"))
        clock_used = CLOCK_MONOTONIC;
    period = getenv("EMPTY_PERIOD") ? atol(getenv("EMPTY_PERIOD")) : 5000000;
    map_count(getenv("EMPTY_FILE"));
    sigaction(SIGRTMAX - 4, &action, NULL);
    start_timer();
}
