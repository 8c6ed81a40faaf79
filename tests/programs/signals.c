/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signals WAY: burns 0.4 s of CPU while it treats signals in one of the ways that hurt a profiler; prints `ok` if it
 * saw nothing strange. The test then looks for samples.
 */
#include "burn.h"

#include <pthread.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

static void count(int number)
{
    (void)number;
    seen++;
}

static int block_all(void)
{
    sigset_t all, now;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    burn(0.4);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, SIGUSR1);
}

static void *burn_thread(void *unused)
{
    burn(0.4);
    return unused;
}

/* As liblzma does: threads are made with everything blocked. */
static int block_in_thread(void)
{
    sigset_t all, old;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_create(&thread, NULL, burn_thread, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return pthread_join(thread, NULL) == 0;
}

static int reset_all(void)
{
    for (int i = 1; i < 65; i++)
        signal(i, SIG_DFL);
    for (int i = 1; i < 65; i++) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(i, &action, NULL);
    }
    burn(0.4);
    return 1;
}

static int ignore_all(void)
{
    for (int i = 1; i < 65; i++)
        signal(i, SIG_IGN);
    burn(0.4);
    return signal(SIGUSR1, SIG_DFL) == SIG_IGN;
}

static void *wait_all(void *result)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    sigwait(&all, result);
    return NULL;
}

static int wait_for_all(void)
{
    int number = 0;
    pthread_t thread;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, wait_all, &number);
    burn(0.4);
    kill(getpid(), SIGUSR1);
    pthread_join(thread, NULL);
    return number == SIGUSR1;
}

static int read_all(void)
{
    struct signalfd_siginfo info;
    struct pollfd pending;
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    pending = (struct pollfd){signalfd(-1, &all, 0), POLLIN, 0};
    burn(0.4);
    if (poll(&pending, 1, 0) != 0)
        return 0;
    raise(SIGUSR2);
    return read(pending.fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR2;
}

/* On a busy machine fewer of them come, by the clock of a thread that is kept waiting for the kernel's tick. */
static int many_come(void)
{
    burn(0.4);
    for (int i = 0; i < 200 && seen <= 10; i++)
        burn(0.1);
    return seen > 10;
}

/* The program profiles itself. */
static int own_profile(void)
{
    struct itimerval timer = {{0, 5000}, {0, 5000}};
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};

    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
    return many_come();
}

static int own_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct itimerspec time = {{0, 5000000}, {0, 5000000}};
    timer_t timer;

    signal(SIGRTMIN, count);
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer))
        return 0;
    timer_settime(timer, 0, &time, NULL);
    return many_come();
}

/* All real-time signals, ours among them, belong to the program: it must be able to use each. */
static int own_realtime(void)
{
    int wanted = 0;

    for (int i = SIGRTMIN; i <= SIGRTMAX; i++, wanted++)
        if (signal(i, count) != SIG_DFL)
            return 0;
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
        kill(getpid(), i);
    burn(0.4);
    return seen == wanted;
}

static sigjmp_buf back;
static volatile sig_atomic_t ready;

static void jump(int number)
{
    (void)number;
    if (ready)
        siglongjmp(back, 1);
}

/* A handler that jumps out, at any moment: also out of whatever it interrupted. */
static int jump_out(void)
{
    struct itimerval timer = {{0, 1000}, {0, 1000}};
    volatile int jumps = 0;

    signal(SIGALRM, jump);
    setitimer(ITIMER_REAL, &timer, NULL);
    while (thread_seconds() < 0.4) {
        if (sigsetjmp(back, 1))
            jumps++;
        else {
            ready = 1;
            burn(1);
        }
    }
    ready = 0; /* the next alarm finds this frame gone */
    return jumps > 50;
}

static void burn_in_handler(int number)
{
    (void)number;
    burn(0.4);
}

static int long_handler(void)
{
    struct sigaction action = {.sa_handler = burn_in_handler};

    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    return raise(SIGUSR1) == 0;
}

static int on_alternate_stack(void)
{
    stack_t stack = {.ss_size = 64 << 10, .ss_sp = malloc(64 << 10)}, now;
    struct sigaction action = {.sa_handler = burn_in_handler, .sa_flags = SA_ONSTACK};

    if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE))
        return 0;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    return raise(SIGUSR1) == 0;
}

/* No signal of the program comes, so a stack of the smallest size that there ever was does no harm. Below it nothing
 * can be touched. */
static int small_alternate_stack(void)
{
    char *memory = mmap(NULL, 128 << 10, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_size = 2048, .ss_sp = memory + (64 << 10)}, off = {.ss_flags = SS_DISABLE}, now;

    mprotect(stack.ss_sp, 4096, PROT_READ | PROT_WRITE);
    if (sigaltstack(&stack, NULL))
        return 1; /* newer kernels refuse it */
    burn(0.4);
    if (sigaltstack(&off, &now) || now.ss_sp != stack.ss_sp || now.ss_size != stack.ss_size)
        return 0;
    return !sigaltstack(NULL, &now) && now.ss_flags & SS_DISABLE;
}

/* A coroutine on a stack that has no room for the kernel's signal frame; below it nothing can be touched. */
static ucontext_t outside, inside;

static void burn_and_return(void)
{
    burn(0.4);
}

static int small_coroutine(void)
{
    enum { BYTES = 4096 };
    char *memory = mmap(NULL, 128 << 10, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    thread_seconds(); /* the linker's search for the clock wants more room */
    mprotect(memory + (64 << 10), BYTES, PROT_READ | PROT_WRITE);
    getcontext(&inside);
    inside.uc_stack = (stack_t){.ss_sp = memory + (64 << 10), .ss_size = BYTES};
    inside.uc_link = &outside;
    makecontext(&inside, burn_and_return, 0);
    return swapcontext(&outside, &inside) == 0;
}

/* clang-format off */
static const struct { const char *name; int (*run)(void); } ways[] = {
    { "block", block_all }, { "block-thread", block_in_thread }, { "reset", reset_all }, { "ignore", ignore_all },
    { "wait", wait_for_all }, { "signalfd", read_all }, { "profile", own_profile }, { "timer", own_timer },
    { "realtime", own_realtime }, { "jump", jump_out }, { "handler", long_handler }, { "altstack", on_alternate_stack },
    { "small-altstack", small_alternate_stack }, { "small-coroutine", small_coroutine },
};
/* clang-format on */

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && !strcmp(argv[1], ways[i].name)) {
            int fine = ways[i].run();
            puts(fine ? "ok" : "strange");
            return !fine;
        }
    return 2;
}
