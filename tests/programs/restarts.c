/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restarts N: reads N times from an empty pipe until a signal of its own, whose handler wants no restart, ends the
 * read. Prints how many of these signals found a read that would go on all the same: another handler that restarts was
 * entered first.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static int pipes[2];
static volatile int lost;
static timer_t timer;

static void arm(long nanoseconds)
{
    struct itimerspec once = {{0, 0}, {0, nanoseconds}};

    timer_settime(timer, 0, &once, NULL);
}

static void on_alarm(int number, siginfo_t *info, void *context)
{
    const greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)number, (void)info;
    if (reg[REG_RAX] == -EINTR)
        return;
    if (memcmp((const void *)reg[REG_RIP], "\x0f\x05", 2) != 0) {
        arm(100000); /* the read had not begun */
        return;
    }
    lost++;
    if (write(pipes[1], "x", 1) != 1)
        abort();
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    int times = argc > 1 ? atoi(argv[1]) : 1000;
    unsigned seed = 1;
    char c;

    if (pipe(pipes) || sigaction(SIGALRM, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer))
        abort();
    for (int i = 0; i < times; i++) {
        arm(150000 + rand_r(&seed) % 100000);
        if (read(pipes[0], &c, 1) < 0 && errno != EINTR)
            abort();
    }
    printf("%d\n", lost);
    return 0;
}
