/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stacks WAY: burns 0.4 s of CPU on stacks that a profiler may trip over; prints `ok` if all was as it should be.
 *
 *     coroutines BYTES  made as by GNU Pth: a handler on an alternate stack of that size returns, and is jumped back
 * into without     the same, by a handler that wants an alternate stack and was given none told        what sigaltstack
 * tells, and where handlers run nested      two handlers on one alternate stack of 16 KiB, the second called from the
 * first dangling    an alternate stack that is unmapped bare        the same, made by syscall() closed      a thread
 * with an unreadable page among the frames that wait gone        a thread that unmaps the part of its stack that it
 * does not need
 */
#define _GNU_SOURCE
#include "burn.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t size = 8192;

static char *memory_of(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    return memory;
}

/* ---- Coroutines ---- */

enum { COROUTINES = 40, ROUNDS = 3 };

static struct coroutine {
    sigjmp_buf inside, outside;
    char *stack;
    int rounds;
    uint32_t local_sum;
} coroutines[COROUTINES], *made;
static volatile sig_atomic_t entered;

static void body(struct coroutine *c)
{
    volatile uint32_t own[64]; /* what another one on the same stack would overwrite */

    for (int i = 0; i < 64; i++)
        own[i] = (uint32_t)(c - coroutines) * 64 + (uint32_t)i;
    for (int round = 0; round < ROUNDS; round++) {
        burn(0.4 / (COROUTINES * ROUNDS));
        c->rounds++;
        if (!sigsetjmp(c->inside, 0))
            siglongjmp(c->outside, 1);
    }
    for (int i = 0; i < 64; i++)
        c->local_sum += own[i];
    siglongjmp(c->outside, 1);
}

static void on_start(int number)
{
    struct coroutine *c = made;

    (void)number;
    entered = 1;
    if (sigsetjmp(c->inside, 0))
        body(c);
}

static bool make(struct coroutine *c, bool alternate)
{
    struct sigaction action = {.sa_handler = on_start, .sa_flags = SA_ONSTACK};
    stack_t stack = {.ss_sp = c->stack, .ss_size = size}, off = {.ss_flags = SS_DISABLE};
    sigset_t all;

    sigfillset(&action.sa_mask);
    sigaction(SIGUSR2, &action, NULL);
    sigfillset(&all);
    sigdelset(&all, SIGUSR2);
    made = c;
    entered = 0;
    if (alternate && sigaltstack(&stack, NULL))
        return false;
    raise(SIGUSR2);
    while (!entered)
        sigsuspend(&all);
    return !alternate || sigaltstack(&off, NULL) == 0;
}

static bool run_coroutines(void)
{
    uint32_t sum = 0, wanted = 0;
    int rounds = 0;

    for (int i = 0; i < COROUTINES; i++) {
        coroutines[i].stack = memory_of(size);
        if (!make(&coroutines[i], true))
            return false;
    }
    for (int round = 0; round <= ROUNDS; round++)
        for (int i = 0; i < COROUTINES; i++)
            if (!sigsetjmp(coroutines[i].outside, 0))
                siglongjmp(coroutines[i].inside, 1);
    for (int i = 0; i < COROUTINES; i++) {
        rounds += coroutines[i].rounds;
        sum += coroutines[i].local_sum;
    }
    for (uint32_t i = 0; i < COROUTINES * 64; i++)
        wanted += i;
    return rounds == COROUTINES * ROUNDS && sum == wanted;
}

/* Without an alternate stack the handler is where the program is. */
static char *volatile handler_at;

static void note_place(int number)
{
    (void)number;
    handler_at = __builtin_frame_address(0);
    burn(0.2);
}

static bool without(void)
{
    struct sigaction action = {.sa_handler = note_place, .sa_flags = SA_ONSTACK};
    char *here = __builtin_frame_address(0);

    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    burn(0.2);
    return handler_at < here && here - handler_at < 65536;
}

/* ---- What is told ---- */

static stack_t in_handler;
static int change_in_handler, change_error;

static void look(int number)
{
    stack_t other = {.ss_sp = NULL, .ss_size = 65536};

    note_place(number);
    sigaltstack(NULL, &in_handler);
    change_in_handler = sigaltstack(&other, NULL);
    change_error = errno;
}

static bool told(void)
{
    struct sigaction action = {.sa_handler = look, .sa_flags = SA_ONSTACK};
    char *memory = memory_of(65536);
    stack_t stack = {.ss_sp = memory, .ss_size = size}, now, small = {.ss_sp = memory, .ss_size = 100},
            wrong = {.ss_sp = memory, .ss_size = size, .ss_flags = 7}, off = {.ss_flags = SS_DISABLE};

    if (sigaltstack(NULL, &now) || now.ss_flags != SS_DISABLE)
        return false;
    if (sigaltstack(&small, NULL) == 0 || errno != ENOMEM || sigaltstack(&wrong, NULL) == 0 || errno != EINVAL)
        return false;
    if (sigaltstack(&stack, &now) || now.ss_flags != SS_DISABLE || sigaltstack(NULL, &now))
        return false;
    if (now.ss_sp != memory || now.ss_size != size || now.ss_flags != 0)
        return false;
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    if (handler_at < memory || handler_at >= memory + size || in_handler.ss_flags != SS_ONSTACK ||
        in_handler.ss_sp != memory || change_in_handler != -1 || change_error != EPERM)
        return false;
    burn(0.2);
    return !sigaltstack(&off, &now) && now.ss_sp == memory && !sigaltstack(NULL, &now) && now.ss_flags == SS_DISABLE;
}

static char *outer_at;

static void outer(int number)
{
    (void)number;
    outer_at = __builtin_frame_address(0);
    raise(SIGUSR2);
    burn(0.1);
}

static bool nested(void)
{
    struct sigaction first = {.sa_handler = outer, .sa_flags = SA_ONSTACK},
                     second = {.sa_handler = note_place, .sa_flags = SA_ONSTACK};
    char *memory = memory_of(16384);
    stack_t stack = {.ss_sp = memory, .ss_size = 16384};

    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &first, NULL);
    sigaction(SIGUSR2, &second, NULL);
    raise(SIGUSR1);
    burn(0.1);
    return outer_at > handler_at && handler_at >= memory && outer_at < memory + 16384;
}

/* ---- Memory that is not there ---- */

static bool dangling(void)
{
    stack_t stack = {.ss_sp = memory_of(65536), .ss_size = 65536};

    sigaltstack(&stack, NULL);
    munmap(stack.ss_sp, stack.ss_size);
    burn(0.4);
    return true;
}

static bool bare(void)
{
    stack_t stack = {.ss_sp = memory_of(65536), .ss_size = 65536};

    syscall(SYS_sigaltstack, &stack, NULL);
    syscall(SYS_munmap, stack.ss_sp, stack.ss_size);
    burn(0.4);
    return true;
}

static __attribute__((noinline)) void deep(int levels, char *page)
{
    volatile char room[512];

    room[0] = (char)levels;
    if (levels) {
        deep(levels - 1, page);
    } else {
        mprotect(page, 4096, PROT_NONE);
        burn(0.2);
        mprotect(page, 4096, PROT_READ | PROT_WRITE);
    }
    room[1] = room[0];
}

static void *in_deep(void *stack)
{
    (void)stack;
    deep(60, (char *)(((uintptr_t)__builtin_frame_address(0) - 4096) & ~4095ull));
    return NULL;
}

static void *without_rest(void *stack)
{
    char *page = (char *)(((uintptr_t)__builtin_frame_address(0) - 32768) & ~4095ull);

    munmap(stack, (size_t)(page - (char *)stack));
    burn(0.2);
    return NULL;
}

static bool in_thread(void *(*routine)(void *))
{
    enum { BYTES = 1 << 20 };

    for (int i = 0; i < 2; i++) {
        char *stack = memory_of(BYTES);
        pthread_attr_t attributes;
        pthread_t thread;

        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stack, BYTES);
        if (pthread_create(&thread, &attributes, routine, stack) || pthread_join(thread, NULL))
            return false;
    }
    return true;
}

static bool closed(void)
{
    return in_thread(in_deep);
}

static bool gone(void)
{
    return in_thread(without_rest);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*run)(void);
    } ways[] = {{"coroutines", run_coroutines}, {"without", without}, {"told", told},     {"nested", nested},
                {"dangling", dangling},         {"bare", bare},       {"closed", closed}, {"gone", gone}};

    if (argc > 2)
        size = (size_t)atol(argv[2]);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && !strcmp(argv[1], ways[i].name))
            puts(ways[i].run() ? "ok" : "wrong");
    return 0;
}
