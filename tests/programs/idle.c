/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait, and that know how long.
 *
 *   idle crowd HOW THREADS SECONDS   so many threads wait while the first one has SECONDS of CPU time to use
 *   idle bursts HOW                  a thread waits and is woken to work, again and again
 *   idle handler                     all work is done in the handler of a signal that ends pause
 *   idle jump                        a handler leaves pause for good
 *   idle window                      hq_stop and hq_start are called during a wait
 *   idle cancelled                   a thread is cancelled while it waits
 *   idle last                        works a little, and waits for ever
 *
 * HOW: barrier cond sem read poll epoll futex raw. `raw` is a system call that no wrapper sees, as those of libgomp.
 * Prints lines `KEY SECONDS`: what `waits` and `works` have taken, all threads together.
 */
#define _GNU_SOURCE
#include "burn.h"
#include "hq.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int pipes[2], epoll, word; /* word: how often they were woken */
static const char *how;
static double waited, worked;

static bool is(const char *name)
{
    return !strcmp(how, name);
}

static long raw_futex(int operation, int value)
{
#ifdef __aarch64__
    register long x8 __asm__("x8") = SYS_futex;
    register long x0 __asm__("x0") = (long)&word;
    register long x1 __asm__("x1") = operation;
    register long x2 __asm__("x2") = value;
    register long x3 __asm__("x3") = 0;

    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
#else
    long result;
    register long r10 __asm__("r10") = 0;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_futex), "D"(&word), "S"(operation), "d"(value), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
#endif
}

static void wait_until(int turn)
{
    struct pollfd ready = {pipes[0], POLLIN, 0};
    struct epoll_event event;
    char byte;

    if (is("barrier")) { /* also who comes late is waited for */
        pthread_barrier_wait(&barrier);
        return;
    }
    while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) < turn) {
        int seen = turn - 1;
        if (is("cond")) {
            pthread_mutex_lock(&mutex);
            while (word < turn)
                pthread_cond_wait(&condition, &mutex);
            pthread_mutex_unlock(&mutex);
        } else if (is("sem")) {
            sem_wait(&semaphore);
        } else if (is("read")) {
            if (read(pipes[0], &byte, 1) < 0)
                perror("read");
        } else if (is("poll")) {
            poll(&ready, 1, -1);
        } else if (is("epoll")) {
            epoll_wait(epoll, &event, 1, -1);
        } else if (is("futex")) {
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
        } else {
            raw_futex(FUTEX_WAIT_PRIVATE, seen);
        }
    }
}

static __attribute__((noinline)) void waits(int turn)
{
    double start = now();

    wait_until(turn);
    double took = now() - start;
    pthread_mutex_lock(&mutex);
    waited += took;
    pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) void works(double seconds)
{
    double start = now();

    burn(seconds);
    worked += now() - start;
}

static void wake(int threads)
{
    pthread_mutex_lock(&mutex);
    __atomic_fetch_add(&word, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < threads && is("sem"); i++)
        sem_post(&semaphore);
    if (is("read") || is("poll") || is("epoll")) {
        close(pipes[1]);
    } else if (is("barrier")) {
        pthread_barrier_wait(&barrier);
    }
    raw_futex(FUTEX_WAKE_PRIVATE, 1 << 30);
}

static void *one_of_crowd(void *unused)
{
    (void)unused;
    waits(1);
    return NULL;
}

static void crowd(int threads, double seconds)
{
    pthread_t *all = calloc((size_t)threads, sizeof *all);
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&all[i], &small, one_of_crowd, NULL))
            exit(1);
    works(seconds);
    wake(threads);
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    free(all);
}

enum { BURSTS = 25 };

static void *in_bursts(void *unused)
{
    (void)unused;
    for (int i = 1; i <= BURSTS; i++) {
        waits(i);
        works(0.01);
    }
    return NULL;
}

static void rest(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (nanosleep(&t, &t) < 0 && errno == EINTR)
        ;
}

static void bursts(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, in_bursts, NULL);
    for (int i = 1; i <= BURSTS; i++) {
        rest(0.09 + i % 7 * 0.003);
        wake(1);
    }
    pthread_join(thread, NULL);
}

static sigjmp_buf away;
static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
    (void)number;
    alarms++;
    works(0.02);
}

static void handler(void)
{
    struct itimerval every = {{0, 100000}, {0, 100000}};

    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &every, NULL);
    while (alarms < 20) {
        double start = now(), before = worked;
        pause();
        waited += now() - start - (worked - before);
    }
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
}

static void on_jump(int number)
{
    (void)number;
    siglongjmp(away, 1);
}

static void jump(void)
{
    struct itimerval once = {{0, 0}, {0, 300000}};
    volatile double start = now();

    signal(SIGALRM, on_jump);
    setitimer(ITIMER_REAL, &once, NULL);
    if (!sigsetjmp(away, 1))
        for (;;)
            pause();
    waited += now() - start;
    works(0.5);
}

static void *waits_once(void *unused)
{
    (void)unused;
    waits(1);
    return NULL;
}

/* Prints what of the wait lay in the open window. */
static void window(void)
{
    pthread_t thread;
    double start, closed;

    pthread_create(&thread, NULL, waits_once, NULL);
    rest(0.4);
    start = now();
    hq_stop();
    rest(0.8);
    hq_start();
    closed = now() - start;
    rest(0.4);
    wake(1);
    pthread_join(thread, NULL);
    waited -= closed;
}

static void cancelled(void)
{
    pthread_t thread;
    double start = now();

    pthread_create(&thread, NULL, waits_once, NULL);
    rest(0.8);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    waited = now() - start;
}

static __attribute__((noinline)) void waits_for_ever(void)
{
    for (;;)
        rest(1000);
}

int main(int count, char **argument)
{
    const char *what = count > 1 ? argument[1] : "";
    double start = now();

    how = count > 2 ? argument[2] : "cond";
    sem_init(&semaphore, 0, 0);
    if (pipe(pipes) < 0)
        return 1;
    epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &(struct epoll_event){.events = EPOLLIN});
    if (!strcmp(what, "crowd") && count > 4)
        crowd(atoi(argument[3]), atof(argument[4]));
    else if (!strcmp(what, "bursts"))
        bursts();
    else if (!strcmp(what, "handler"))
        handler();
    else if (!strcmp(what, "jump"))
        jump();
    else if (!strcmp(what, "window"))
        window();
    else if (!strcmp(what, "cancelled"))
        cancelled();
    else if (!strcmp(what, "last")) {
        works(0.2);
        waits_for_ever();
    } else
        return 2;
    printf("waited %.4f\nworked %.4f\nelapsed %.4f\n", waited, worked, now() - start);
    return 0;
}
