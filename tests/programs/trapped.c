/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g -pthread */
/* trapped KIND: blocks SIGTRAP, which the software clock uses, and waits for it or hands it on (guest.h). */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void count_value(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    hits += info->si_value.sival_int;
}

static void count_one(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    hits++;
}

static bool blocks_trap(void)
{
    sigset_t mask;

    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, SIGTRAP);
}

static void *fetch_trap(void *set)
{
    int number = 0;

    sigwait(set, &number);
    return (void *)(intptr_t)number;
}

static int status_of(pid_t child)
{
    int status = -1;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Blocks SIGTRAP, which comes then from others, and waits for it in each way there is. */
static void blocked_trap(void)
{
    const struct timespec soon = {20, 0}, now = {0, 0};
    struct signalfd_siginfo read_info;
    sigset_t set, none, pending;
    siginfo_t info;
    pthread_t thread;
    char own[4096] = "";
    void *number;
    pid_t child;

    handle(SIGTRAP, count_value, 0);
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    spin(20);
    printf("%d", blocks_trap());
    sigprocmask(SIG_BLOCK, &set, NULL);
    printf("%d", blocks_trap());

    char *arguments[] = {"trapped", "tells-trap", NULL};
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0)
        printf(" %d", status_of(child));
    if ((child = fork()) == 0) {
        execv("/proc/self/exe", arguments);
        _exit(9);
    }
    printf(" %d", status_of(child));
    if (readlink("/proc/self/exe", own, sizeof own - 1) > 0) {
        setenv("TRAPPED", own, 1);
        printf(" %d", WEXITSTATUS(system("exec \"$TRAPPED\" tells-trap")));
        printf(" %d", WEXITSTATUS(pclose(popen("exec \"$TRAPPED\" tells-trap", "r"))));
    }

    sigqueue(getpid(), SIGTRAP, (union sigval){5});
    spin(20);
    sigpending(&pending);
    printf(" %d %d", hits, sigismember(&pending, SIGTRAP));
    printf(" %d", sigtimedwait(&set, &info, &soon));
    printf(" %d %d\n", info.si_value.sival_int, sigtimedwait(&set, &info, &now));

    int fd = signalfd(-1, &set, 0);
    pthread_kill(pthread_self(), SIGTRAP);
    struct pollfd ready = {fd, POLLIN, 0};
    printf("%d", poll(&ready, 1, 20000));
    printf(" %zd", read(fd, &read_info, sizeof read_info));
    printf(" %d\n", read_info.ssi_signo);

    pthread_create(&thread, NULL, fetch_trap, &set);
    if ((child = fork()) == 0) {
        kill(getppid(), SIGTRAP);
        _exit(0);
    }
    spin(20);
    pthread_join(thread, &number);
    printf("%d %d\n", status_of(child), (int)(intptr_t)number);

    sigqueue(getpid(), SIGTRAP, (union sigval){7});
    int before = hits;
    sigsuspend(&none);
    printf("%d %d %d\n", before, hits, blocks_trap());
    sigqueue(getpid(), SIGTRAP, (union sigval){11});
    spin(20);
    before = hits;
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf("%d %d %d\n", before, hits, blocks_trap());
    sigqueue(getpid(), SIGTRAP, (union sigval){100});
    spin(20);
    printf("%d\n", hits);
}

/* The status of another program that it was handed on to. */
static void tells_trap(void)
{
    exit(20 + blocks_trap());
}

/* One that is pending ends the calls whose masks let it come, also where spin has breakpoints. */
static void suspended_breakpoint(void)
{
    sigset_t set, none;

    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    handle(SIGTRAP, count_one, 0);
    handle(SIGALRM, count_one, 0); /* who waits for ever has one more */
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (int round = 0; round < 4; round++) {
        spin(5);
        kill(getpid(), SIGTRAP);
        spin(5);
        alarm(20);
        int result = round % 2 ? sigsuspend(&none) : ppoll(NULL, 0, NULL, &none);
        alarm(0);
        printf("%d %d %d %d\n", result, errno == EINTR, (int)hits, blocks_trap());
    }
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    spin(5);
    printf("%d\n", (int)hits);
}

/* The clock's signal may come first, and the call is not over by that. */
static void suspended_often(void)
{
    struct timespec wait = {20, 0};
    sigset_t set, none;
    int without = 0;

    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    handle(SIGTRAP, count_one, 0);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (int round = 0; round < 20000; round++) {
        int before = (int)hits;
        kill(getpid(), SIGTRAP);
        ppoll(NULL, 0, &wait, &none);
        without += (int)hits == before;
    }
    printf("%d calls ended without it\n", without);
}

static sigjmp_buf back;

static void jump_back(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    siglongjmp(back, 1);
}

/* A handler jumps out of one call; another signal stays pending; a third one ends another call. */
static void suspended_jumped(void)
{
    struct timespec most = {20, 0};
    sigset_t set, none;

    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    handle(SIGUSR1, jump_back, 0);
    handle(SIGUSR2, count_one, 0);
    handle(SIGALRM, count_one, 0);
    kill(getpid(), SIGUSR1);
    if (sigsetjmp(back, 1) == 0)
        sigsuspend(&none);
    kill(getpid(), SIGUSR2);
    spin(5);
    alarm(1);
    int result = poll(NULL, 0, 20000);
    printf("%d %d %d\n", result, errno == EINTR, (int)hits);
    alarm(1);
    result = nanosleep(&most, NULL);
    printf("%d %d %d\n", result, errno == EINTR, (int)hits);
}

/* A breakpoint while it is blocked: the kernel does not ask. */
static void blocked_breakpoint(void)
{
    sigset_t all;

    handle(SIGTRAP, count_value, 0);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    spin(20);
    __asm__ volatile("int3");
    puts("not reached");
}

/* Pages that are there for the first time. */
static void touch(int count)
{
    volatile char *pages = mmap(NULL, (size_t)count * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (int i = 0; i < count; i++)
        pages[i * 4096] = 1;
}

/* An event that the kernel tells the program of by SIGTRAP: one that is blocked waits, and one that is ignored is none.
 * The kernel keeps one SIGTRAP at most: that of the clock may be in the way of one of several. */
static void own_event(void)
{
    union { /* newer than the system's header */
        struct perf_event_attr known;
        uint64_t words[17];
    } event = {.known = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_PAGE_FAULTS}};
    sigset_t set;

    event.known.sample_period = 1;
    event.known.exclude_kernel = 1;
    event.words[5] |= UINT64_C(3) << 36; /* remove_on_exec, sigtrap */
    event.words[16] = 0x1234;            /* sig_data */
    handle(SIGTRAP, count_one, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    spin(20);
    if (syscall(SYS_perf_event_open, &event, 0, -1, -1, 0) < 0)
        puts("none");
    touch(4);
    printf("%d", hits > 0);
    sigprocmask(SIG_BLOCK, &set, NULL);
    hits = 0;
    touch(4);
    printf(" %d", hits);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf(" %d", hits > 0);
    signal(SIGTRAP, SIG_IGN);
    touch(4);
    spin(20);
    puts(" goes on");
}

/* The mask of a child of vfork is not its parent's, in whose memory the child runs: neither what the child blocks and
 * unblocks, nor what it is sent meanwhile, nor what it hands on. */
static void vforked_mask(void)
{
    char *arguments[] = {"trapped", "tells-trap", NULL};
    sigset_t set;
    pid_t child;

    handle(SIGTRAP, count_one, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    sigaddset(&set, SIGBUS);
    spin(20);
    if ((child = vfork()) == 0) {
        sigprocmask(SIG_BLOCK, &set, NULL);
        _exit(20 + blocks_trap());
    }
    printf("%d", status_of(child));
    printf(" %d", blocks_trap());
    raise(SIGTRAP);
    printf(" %d\n", hits);
    if ((child = vfork()) == 0) {
        sigprocmask(SIG_BLOCK, &set, NULL);
        kill(getpid(), SIGTRAP);
        spin(20);
        _exit(20 + hits);
    }
    printf("%d", status_of(child));
    spin(20);
    raise(SIGTRAP);
    printf(" %d %d\n", blocks_trap(), hits);
    if ((child = vfork()) == 0) {
        sigprocmask(SIG_BLOCK, &set, NULL);
        execv("/proc/self/exe", arguments);
        _exit(9);
    }
    printf("%d %d\n", status_of(child), blocks_trap());

    sigprocmask(SIG_BLOCK, &set, NULL);
    if ((child = vfork()) == 0) {
        bool had = blocks_trap();
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        _exit(20 + 2 * had + blocks_trap());
    }
    printf("%d %d", status_of(child), blocks_trap());
    kill(getpid(), SIGTRAP);
    spin(20);
    printf(" %d", hits);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf(" %d\n", hits);
}

int main(int argc, char **argv)
{
    static const struct guest kinds[] = {{"blocked-trap", blocked_trap},
                                         {"tells-trap", tells_trap},
                                         {"vforked-mask", vforked_mask},
                                         {"blocked-breakpoint", blocked_breakpoint},
                                         {"suspended-breakpoint", suspended_breakpoint},
                                         {"suspended-often", suspended_often},
                                         {"suspended-jumped", suspended_jumped},
                                         {"own-event", own_event}};

    return guest_main(argc, argv, kinds, sizeof kinds / sizeof *kinds);
}
