/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose measurement files are made shorter while they are written ($HQ_DIR), and programs that have to do
 * with SIGBUS in ways of their own: what they print and how they end is the same without hq.
 *   cut            lists the kinds
 *   cut KIND       runs one
 */
#define _GNU_SOURCE
#include "burn.h"

#include <dirent.h>
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ull
#endif

enum { WORK_MS = 20 };

static volatile sig_atomic_t handled, sum;
static sigjmp_buf back;

static __attribute__((noinline)) void work(void)
{
    burn(WORK_MS / 1e3);
}

static void *work_in_thread(void *unused)
{
    work();
    return unused;
}

/* All files of the recording, to `bytes`. */
static void cut_files(off_t bytes)
{
    const char *name = getenv("HQ_DIR");
    DIR *directory = name ? opendir(name) : NULL;

    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[8192];
        snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
        if (strstr(entry->d_name, ".hqm") && truncate(path, bytes) != 0)
            perror(path);
    }
    if (directory)
        closedir(directory);
}

static void block_all(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void in_threads(void *(*function)(void *))
{
    pthread_t thread[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, function, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
}

/* New paths, so that there is something to store in every part of the file. */
static __attribute__((noinline)) void deep(int depth)
{
    void *volatile block = malloc(100 + (size_t)depth);

    free(block);
    burn(0.001);
    if (depth > 0)
        deep(depth - 1);
    __asm__ volatile("");
}

static void cut_to(off_t bytes)
{
    work();
    cut_files(bytes);
    in_threads(work_in_thread);
    deep(10);
    cut_files(0);
    work();
    fflush(stdout);
    if (fork() == 0) {
        work();
        _exit(0);
    }
    int status;
    bool is_there = wait(&status) > 0;
    printf("%d %d\n", is_there, status);
}

static void to_nothing(void)
{
    cut_to(0);
}

static void to_a_part(void)
{
    cut_to(4096 * 5 + 7);
}

static void while_blocked(void)
{
    block_all();
    cut_to(0);
}

static void jump(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    handled++;
    siglongjmp(back, info->si_code);
}

static void take(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    handled++;
    sum += info->si_value.sival_int;
}

static void handle(void (*handler)(int, siginfo_t *, void *), int flags)
{
    sigaction(SIGBUS, &(struct sigaction){.sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO}, NULL);
}

/* The second page of a file of one. */
static volatile char *beyond_the_end(void)
{
    FILE *file = tmpfile();

    if (ftruncate(fileno(file), 4096) != 0)
        return NULL;
    return (volatile char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0) + 4096;
}

static void with_handler(void)
{
    volatile char *beyond = beyond_the_end();
    static char stack[65536];

    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (volatile int i = 0; i < 6; i++) {
        handle(jump, i % 2 ? SA_ONSTACK | SA_RESTART : SA_NODEFER);
        if (i == 3)
            cut_files(0);
        work();
        int code = sigsetjmp(back, 1);
        if (code == 0)
            *beyond = 1;
        else if (code != BUS_ADRERR)
            printf("code %d\n", code);
    }
    printf("handled %d\n", handled);
}

static void told(void)
{
    struct sigaction action;

    sigaction(SIGBUS, NULL, &action);
    printf("%d %x\n", action.sa_handler == SIG_DFL, (unsigned)action.sa_flags);
    handle(take, SA_ONSTACK);
    sigaction(SIGBUS, NULL, &action);
    printf("%d %x\n", action.sa_sigaction == take, (unsigned)action.sa_flags);
    printf("%d\n", signal(SIGBUS, SIG_DFL) == (void (*)(int))(void *)take);
    printf("%d\n", signal(SIGBUS, SIG_IGN) == SIG_DFL);
    raise(SIGBUS);
    printf("%d\n", signal(SIGBUS, SIG_DFL) == SIG_IGN);
    action = (struct sigaction){.sa_handler = SIG_DFL, .sa_flags = SA_RESTART};
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGBUS, NULL, &action);
    printf("%d %x\n", action.sa_handler == SIG_DFL, (unsigned)action.sa_flags);
    work();
}

static void sent(void)
{
    handle(take, SA_RESTART);
    for (int i = 0; i < 100; i++) {
        sigqueue(getpid(), SIGBUS, (union sigval){.sival_int = i});
        burn(0.0003);
        raise(SIGBUS);
    }
    printf("handled %d %d\n", handled, sum);
}

static int heard[2];
static volatile sig_atomic_t strange;
static pid_t sender;

static void hear(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    handled++;
    strange += info->si_code != SI_USER || info->si_pid != sender;
    if (write(heard[1], "", 1) != 1)
        strange++;
}

static void *burn_until_end(void *done)
{
    while (!*(volatile int *)done)
        burn(0.001);
    return NULL;
}

/* Threads that were made later, for the first one blocks it, are told who has sent it, and how. */
static void sent_by_another(void)
{
    static int done;
    pthread_t thread[2];
    char byte;

    handle(hear, SA_RESTART);
    if (pipe(heard) != 0)
        return;
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, burn_until_end, &done);
    block_all();
    sender = fork();
    if (sender == 0) {
        for (int i = 0; i < 3000; i++) /* not before the handler knows by whom */
            if (read(heard[0], &byte, 1) != 1 || kill(getppid(), SIGBUS) != 0)
                _exit(1);
        _exit(read(heard[0], &byte, 1) != 1);
    }
    if (write(heard[1], "", 1) != 1)
        return;
    waitpid(sender, NULL, 0);
    *(volatile int *)&done = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    printf("handled %d, %d of them by somebody else\n", handled, strange);
}

static void dies_by_itself(void)
{
    work();
    *beyond_the_end() = 1;
    puts("lives");
}

static void dies_by_another(void)
{
    work();
    kill(getpid(), SIGBUS);
    puts("lives");
}

/* Behind the C library's back, as Go has it: the way back from the handler is that of another one. */
static void handle_by_kernel(void (*handler)(int, siginfo_t *, void *))
{
    uint64_t made[4]; /* the kernel's: handler, flags, way back, mask */

    sigaction(SIGUSR2, &(struct sigaction){.sa_sigaction = handler, .sa_flags = SA_SIGINFO}, NULL);
    syscall(SYS_rt_sigaction, SIGUSR2, NULL, made, 8);
    made[0] = (uint64_t)handler;
    syscall(SYS_rt_sigaction, SIGBUS, made, NULL, 8);
}

static void with_handler_of_the_kernels(void)
{
    volatile char *beyond = beyond_the_end();

    handle_by_kernel(jump);
    in_threads(work_in_thread);
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(back, 1) == 0)
            *beyond = 1;
    printf("handled %d\n", handled);
    cut_to(0);
    printf("handled %d\n", handled);
}

/* Everybody blocks it; who waits for it gets it, and no thread that computes. */
static void *compute(void *done)
{
    while (!*(volatile int *)done)
        burn(0.002);
    return NULL;
}

static void waited_for(void)
{
    pthread_t thread;
    static int done;
    sigset_t bus;
    int got = 0;

    block_all();
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    pthread_create(&thread, NULL, compute, &done);
    for (int i = 0; i < 60; i++) {
        siginfo_t info = {0};
        kill(getpid(), SIGBUS);
        burn(0.0005);
        got += sigwaitinfo(&bus, &info) == SIGBUS && info.si_pid == getpid();
    }
    *(volatile int *)&done = 1;
    pthread_join(thread, NULL);
    printf("got %d\n", got);
}

static void waited_for_and_not_deferred(void)
{
    handle(take, SA_NODEFER);
    waited_for();
    printf("handled %d\n", handled);
}

/* A child that was given no handlers at all. */
static void cleared(void)
{
    for (int i = 0; i < 2; i++) {
        struct clone_args how = {.flags = CLONE_CLEAR_SIGHAND, .exit_signal = SIGCHLD};
        int status = 0;
        long child = syscall(SYS_clone3, &how, sizeof how);

        if (child == 0) {
            work();
            _exit(7);
        }
        if (child < 0 && errno != ENOSYS && errno != EINVAL)
            printf("error %d\n", errno);
        else if (child > 0 && waitpid((pid_t)child, &status, 0) == child)
            printf("status %x\n", (unsigned)status);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {
    {"to-nothing", to_nothing},
    {"to-a-part", to_a_part},
    {"while-blocked", while_blocked},
    {"with-handler", with_handler},
    {"told", told},
    {"sent", sent},
    {"sent-by-another", sent_by_another},
    {"dies-by-itself", dies_by_itself},
    {"dies-by-another", dies_by_another},
    {"waited-for", waited_for},
    {"waited-for-and-not-deferred", waited_for_and_not_deferred},
    {"with-handler-of-the-kernels", with_handler_of_the_kernels},
    {"cleared", cleared},
};

int main(int count, char **argument)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (count < 2) {
            puts(kinds[i].name);
        } else if (!strcmp(argument[1], kinds[i].name)) {
            kinds[i].run();
            puts("end");
            return 11;
        }
    return count < 2 ? 0 : 2;
}
