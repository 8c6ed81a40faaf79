/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queued: every real-time signal that a program can use is queued several times with values, while it is blocked, to
 * the process or to the thread, and fetched in every way: each arrives, in order, with its value. Then the two signals
 * that the C library keeps for itself do their work: setuid with threads, and the cancelling of threads that wait.
 * Burns some CPU time between, and prints `ok`.
 */
#define _GNU_SOURCE
#include "burn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <threads.h>
#include <unistd.h>

enum { TIMES = 5, THREADS = 4 };

static int bad;

static void wrong(const char *what, int number)
{
    bad++;
    printf("%s of signal %d\n", what, number);
}

/* ---- Sending ---- */

static int to_process(int number, int value)
{
    return sigqueue(getpid(), number, (union sigval){.sival_int = value});
}

static int to_thread(int number, int value)
{
    return pthread_sigqueue(pthread_self(), number, (union sigval){.sival_int = value});
}

static int (*const senders[])(int, int) = {to_process, to_thread};

static void queue(int number, int (*send)(int, int))
{
    for (int i = 0; i < TIMES; i++)
        if (send(number, i))
            wrong("cannot be sent", number);
}

/* ---- Fetching: value i of the signal, -1 if there is none ---- */

static int by_sigtimedwait(const sigset_t *set, int fd)
{
    siginfo_t info;

    (void)fd;
    return sigtimedwait(set, &info, &(struct timespec){1, 0}) > 0 ? info.si_value.sival_int : -1;
}

static int by_sigwaitinfo(const sigset_t *set, int fd)
{
    siginfo_t info;

    (void)fd;
    return sigwaitinfo(set, &info) > 0 ? info.si_value.sival_int : -1;
}

static int by_signalfd(const sigset_t *set, int fd)
{
    struct signalfd_siginfo info;
    struct pollfd poller = {fd, POLLIN, 0};

    (void)set;
    return poll(&poller, 1, 1000) == 1 && read(fd, &info, sizeof info) == sizeof info ? info.ssi_int : -1;
}

static int (*const fetchers[])(const sigset_t *, int) = {by_sigtimedwait, by_sigwaitinfo, by_signalfd};

static void fetch(int number, int (*send)(int, int), int (*get)(const sigset_t *, int))
{
    sigset_t set, pending;

    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    queue(number, send);
    sigpending(&pending);
    if (!sigismember(&pending, number)) {
        wrong("not pending", number);
    } else {
        for (int i = 0; i < TIMES; i++)
            if (get(&set, fd) != i)
                wrong("another value, or none,", number);
    }
    close(fd);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static volatile int handled;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_value.sival_int != handled)
        wrong("another value in the handler", number);
    handled++;
}

static void handle(int number, int (*send)(int, int))
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, before;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    handled = 0;
    sigaction(number, &action, &before);
    sigprocmask(SIG_BLOCK, &set, NULL);
    queue(number, send);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    if (handled != TIMES)
        wrong("not all handled", number);
    sigaction(number, &before, &action);
    if (action.sa_sigaction != on_signal)
        wrong("another handler", number);
}

/* ---- The C library's own ---- */

static sem_t nobody;

static void *wait_for_ever(void *unused)
{
    while (sem_wait(&nobody) < 0)
        ;
    return unused;
}

static int burn_c11(void *seconds)
{
    burn(*(double *)seconds);
    return 7;
}

static void with_threads(void)
{
    pthread_t waiting[THREADS];
    thrd_t burning;
    double seconds = 0.2;
    int result = 0;
    void *end;

    sem_init(&nobody, 0, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&waiting[i], NULL, wait_for_ever, NULL);
    thrd_create(&burning, burn_c11, &seconds);
    for (int i = 0; i < 200; i++)
        if (setuid(getuid()))
            bad++, puts("setuid");
    for (int i = 0; i < THREADS; i++)
        if (pthread_cancel(waiting[i]) || pthread_join(waiting[i], &end) || end != PTHREAD_CANCELED)
            bad++, puts("a thread was not cancelled");
    if (thrd_join(burning, &result) != thrd_success || result != 7)
        bad++, puts("C11");
}

int main(void)
{
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        for (size_t s = 0; s < sizeof senders / sizeof *senders; s++) {
            for (size_t f = 0; f < sizeof fetchers / sizeof *fetchers; f++)
                fetch(number, senders[s], fetchers[f]);
            handle(number, senders[s]);
        }
    burn(0.1);
    with_threads();
    burn(0.1);
    puts(bad ? "wrong" : "ok");
    return bad != 0;
}
