/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Actions and masks of signals by syscall(2), behind the back of the C library: forked children put all signals back
 * to their defaults and work on before they start another program, as Chromium's do, and every answer is that of the
 * kernel to a program that nobody measures. Prints `ok`.
 */
#define _GNU_SOURCE
#include "burn.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 24, RESERVED = 33 };

struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

#define EXPECT(holds) expect(holds, __LINE__)

static volatile sig_atomic_t seen;

static void expect(int holds, int line)
{
    if (holds)
        return;
    printf("line %d\n", line);
    exit(1);
}

static void count(int number, siginfo_t *info, void *context)
{
    (void)context;
    seen += number == info->si_signo;
}

static long action(int number, const struct kernel_action *set, struct kernel_action *old)
{
    return syscall(SYS_rt_sigaction, number, set, old, sizeof set->mask);
}

static long mask(int how, const uint64_t *set, uint64_t *old)
{
    return syscall(SYS_rt_sigprocmask, how, set, old, sizeof *set);
}

static uint64_t bit(int number)
{
    return 1ull << (number - 1);
}

/* Runs in a child. */
static void put_back_and_work(const char *program)
{
    uint64_t all = ~0ull, before;
    struct kernel_action now, none = {0};

    EXPECT(mask(SIG_SETMASK, &all, &before) == 0);
    for (int number = 1; number <= 64; number++) {
        EXPECT(action(number, NULL, &now) == 0);
        EXPECT((action(number, &none, NULL) == 0) == (number != SIGKILL && number != SIGSTOP));
        EXPECT(action(number, NULL, &now) == 0 && now.handler == 0);
    }
    EXPECT(mask(SIG_SETMASK, &before, NULL) == 0);
    burn(0.02);
    execl(program, program, "nothing", NULL);
    _exit(3);
}

/* By fork and by the bare call in turn. */
static void start_children(const char *program)
{
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        pid_t child = i % 2 ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0)
            put_back_and_work(program);
        EXPECT(child > 0 && waitpid(child, &status, 0) == child);
        if (status != 0)
            printf("child %d: status %#x\n", i, status);
        EXPECT(status == 0);
    }
}

static struct kernel_action made_by_library(void)
{
    struct sigaction action_of_library = {.sa_sigaction = count, .sa_flags = SA_SIGINFO};
    struct kernel_action made;

    EXPECT(sigaction(SIGUSR1, &action_of_library, NULL) == 0 && action(SIGUSR1, NULL, &made) == 0);
    return made;
}

static void set_and_ask(int number)
{
    struct kernel_action before, now, wanted = made_by_library();
    uint64_t blocked = bit(number), old = 0;

    wanted.handler = (uint64_t)count;
    wanted.mask = bit(SIGUSR2);
    EXPECT(action(number, NULL, &before) == 0 && before.handler <= 1); /* posix_spawn leaves number 33 ignored */
    EXPECT(action(number, &wanted, &now) == 0 && now.handler == before.handler);
    EXPECT(action(number, NULL, &now) == 0 && now.handler == wanted.handler && now.flags & SA_SIGINFO);
    seen = 0;
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
    EXPECT(seen == 1);
    if (number != RESERVED) {
        EXPECT(now.mask == wanted.mask);
        EXPECT(mask(SIG_BLOCK, &blocked, &old) == 0 && !(old & blocked));
        EXPECT(mask(SIG_BLOCK, NULL, &old) == 0 && old & blocked);
        burn(0.02);
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
        EXPECT(seen == 1);
        EXPECT(mask(SIG_UNBLOCK, &blocked, &old) == 0 && old & blocked);
        EXPECT(seen == 2);
        EXPECT(mask(SIG_BLOCK, NULL, &old) == 0 && !(old & blocked));
    }
    EXPECT(action(number, &before, &now) == 0 && now.handler == wanted.handler);
}

static void ask_wrongly(int number)
{
    const struct kernel_action *nowhere = (const struct kernel_action *)8;
    struct kernel_action none = {0};
    uint64_t set = bit(number);

    EXPECT(action(number, nowhere, NULL) == -1 && errno == EFAULT);
    EXPECT(action(number, NULL, (struct kernel_action *)8) == -1 && errno == EFAULT);
    EXPECT(syscall(SYS_rt_sigaction, number, &none, NULL, 4) == -1 && errno == EINVAL);
    EXPECT(mask(SIG_BLOCK, (const uint64_t *)8, NULL) == -1 && errno == EFAULT);
    EXPECT(mask(SIG_BLOCK, NULL, (uint64_t *)8) == -1 && errno == EFAULT);
    EXPECT(mask(77, &set, NULL) == -1 && errno == EINVAL);
    EXPECT(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 4) == -1 && errno == EINVAL);
    EXPECT(action(65, NULL, &none) == -1 && errno == EINVAL);
    EXPECT(action(0, NULL, &none) == -1 && errno == EINVAL);
}

int main(int count_of_arguments, char **arguments)
{
    if (count_of_arguments > 1)
        return 0; /* a child's program */
    ask_wrongly(SIGTRAP);
    ask_wrongly(RESERVED);
    set_and_ask(SIGTRAP);
    set_and_ask(RESERVED);
    set_and_ask(SIGRTMAX);
    start_children(arguments[0]);
    burn(0.2);
    puts("ok");
    return 0;
}
