/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g -pthread */
/* own_traps KIND ROUNDS: perf events of the program's own, each of whose hits the kernel tells it by a SIGTRAP, between
 * short pieces of work. Says how many hits there were, how many signals, and 77 where the kernel has no such events. */
#define _GNU_SOURCE
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long watched;
static _Atomic long signals;
static long rounds;

static void count(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    atomic_fetch_add(&signals, 1);
}

/* The system call itself, which no library sees. */
static long bare(long number, long a, long b, long c, long d, long e)
{
#ifdef __x86_64__
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
#else
    return syscall(number, a, b, c, d, e);
#endif
}

/* On each store to `watched` by a thread. */
static void watch(pid_t tid, bool inherit, bool by_instruction)
{
    union { /* newer than the system's header */
        struct perf_event_attr known;
        uint64_t words[17];
    } event;

    memset(&event, 0, sizeof event);
    event.known.type = PERF_TYPE_BREAKPOINT;
    event.known.size = 128;
    event.known.bp_type = HW_BREAKPOINT_W;
    event.known.bp_addr = (uintptr_t)&watched;
    event.known.bp_len = HW_BREAKPOINT_LEN_8;
    event.known.sample_period = 1;
    event.known.exclude_kernel = 1;
    event.known.inherit = inherit;
    event.words[5] |= (uint64_t)inherit << 35; /* inherit_thread */
    event.words[5] |= UINT64_C(3) << 36;       /* remove_on_exec, sigtrap */
    event.words[15] = 0x1234;                  /* sig_data */
    long fd = by_instruction ? bare(SYS_perf_event_open, (long)&event, tid, -1, -1, 0)
                             : syscall(SYS_perf_event_open, &event, tid, -1, -1, 0);
    if (fd < 0) {
        fprintf(stderr, "the kernel has no such events here\n");
        exit(77);
    }
}

static void *work(void *unused)
{
    for (long i = 0; i < rounds; i++) {
        for (volatile int k = 0; k < 10000; k++)
            ;
        watched = i;
    }
    return unused;
}

static pthread_barrier_t ready;
static volatile pid_t tid_of_other;

static void *other(void *unused)
{
    tid_of_other = (pid_t)syscall(SYS_gettid);
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&ready);
    return work(unused);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    bool by_instruction = !strncmp(kind, "bare-", 5);
    struct sigaction action = {.sa_sigaction = count, .sa_flags = SA_SIGINFO};
    pthread_t thread[2];
    long want;

    rounds = argc > 2 ? atol(argv[2]) : 1000;
    want = rounds;
    sigaction(SIGTRAP, &action, NULL);
    kind += by_instruction ? 5 : 0;
    if (!strcmp(kind, "forked")) { /* a child, before anything else */
        int status;
        pid_t child = fork();

        if (child)
            return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        watch(0, false, by_instruction);
        work(NULL);
    } else if (!strcmp(kind, "own")) {
        watch(0, false, by_instruction);
        work(NULL);
    } else if (!strcmp(kind, "other")) {
        pthread_barrier_init(&ready, NULL, 2);
        pthread_create(&thread[0], NULL, other, NULL);
        pthread_barrier_wait(&ready);
        watch(tid_of_other, false, by_instruction);
        pthread_barrier_wait(&ready);
        pthread_join(thread[0], NULL);
    } else if (!strcmp(kind, "inherited")) {
        watch(0, true, by_instruction);
        for (int i = 0; i < 2; i++)
            pthread_create(&thread[i], NULL, work, NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(thread[i], NULL);
        want *= 2;
    } else {
        return 2;
    }
    printf("%ld of %ld\n", atomic_load(&signals), want);
    return 0;
}
