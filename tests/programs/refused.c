/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls with addresses that cannot be read, or not written: the kernel refuses them with EFAULT, and the program goes
 * on. Prints those that did something else. What the C library itself reads is left out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int bad;

static void refused(const char *call, const void *address, long result)
{
    if (result != -1 || errno != EFAULT)
        bad++, printf("%s of %p: %ld (%s)\n", call, address, result, strerror(errno));
}

#define REFUSED(call)  refused(#call, no, call)
#define RETURNED(call) (errno = call, refused(#call, no, -1))

static void wait_for(void *no, int epoll, int semaphores)
{
    struct timespec ms = {0, 1000000};
    struct epoll_event event;
    struct sembuf down = {0, -1, 0};

    REFUSED(nanosleep(no, NULL));
    RETURNED(clock_nanosleep(CLOCK_MONOTONIC, 0, no, NULL));
    RETURNED(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, no, NULL));
    REFUSED(epoll_pwait(epoll, &event, 1, 1, no));
    REFUSED(ppoll(NULL, 0, &ms, no));
    REFUSED(pselect(0, NULL, NULL, NULL, &ms, no));
    REFUSED(semtimedop(semaphores, &down, 1, no));
    REFUSED(syscall(SYS_nanosleep, no, NULL));
}

static void handle_signals(void *no)
{
    sigset_t usr2;

    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    REFUSED(sigsuspend(no));
    REFUSED(sigwaitinfo(no, NULL));
    REFUSED(sigtimedwait(&usr2, NULL, no));
    REFUSED(signalfd(-1, no, 0));
    REFUSED(sigaltstack(no, NULL));
    REFUSED(sigaltstack(NULL, no));
    REFUSED(syscall(SYS_sigaltstack, no, NULL));
}

static void execute(void *no)
{
    char *arguments[] = {"true", NULL}, *holds_no[] = {"A=1", no, NULL};
    pid_t child;

    REFUSED(execve(no, arguments, environ));
    REFUSED(execve("/bin/true", arguments, no));
    REFUSED(execve("/bin/true", arguments, holds_no));
    RETURNED(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, no));
}

static void on_alarm(int number)
{
    (void)number;
}

/* A signal ends it, and what is left cannot be written. */
static void end_sleep(void *no)
{
    struct timespec second = {1, 0};

    for (int i = 0; i < 2; i++) {
        setitimer(ITIMER_REAL, &(struct itimerval){{0, 10000}, {0, 10000}}, NULL);
        if (i)
            RETURNED(clock_nanosleep(CLOCK_MONOTONIC, 0, &second, no));
        else
            REFUSED(nanosleep(&second, no));
    }
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
}

int main(void)
{
    void *addresses[] = {(void *)8, mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), (void *)-4096L};
    int epoll = epoll_create1(0), semaphores = semget(IPC_PRIVATE, 1, 0600);

    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        wait_for(addresses[i], epoll, semaphores);
        handle_signals(addresses[i]);
        execute(addresses[i]);
        end_sleep(addresses[i]);
    }
    semctl(semaphores, 0, IPC_RMID);
    return bad != 0;
}
