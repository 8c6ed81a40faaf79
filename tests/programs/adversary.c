/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -rdynamic -ldl */
/*
 * adversary SECONDS [DIR]: everything that could make a remembered call path a wrong one, in turn: frames of changing
 * size behind the same return address, recursion, longjmp, coroutines that share code on many stacks, handlers on
 * alternate stacks, and (with DIR) two plugins that are loaded at the same address again and again.
 */
#define _GNU_SOURCE
#include "burn.h"

#include <alloca.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static unsigned long long state = 88172645463325252ull;

static unsigned next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 32);
}

static __attribute__((noinline, noipa)) void spend(void)
{
    volatile int x = 0;
    int n = (int)(next() % 3000);

    for (int i = 0; i < n; i++)
        x += i;
}

typedef void function(int);
static function *volatile pointers[4];

/* The size of the frame changes from call to call, what is below does not. */
static __attribute__((noinline, noipa)) void sized(int depth)
{
    volatile char *memory = alloca(16 + next() % 7 * 16);

    memory[0] = 1;
    if (depth > 0)
        pointers[next() % 3](depth - 1);
    else
        spend();
    memory[1] = 2;
}

static __attribute__((noinline, noipa)) void plain(int depth)
{
    if (depth > 0)
        pointers[next() % 3](depth - 1);
    else
        spend();
    __asm__ volatile("");
}

static __attribute__((noinline, noipa)) void twice(int depth)
{
    if (depth > 0)
        pointers[next() % 3](depth - 1);
    spend();
    if (depth > 1)
        pointers[next() % 3](depth / 2);
    __asm__ volatile("");
}

static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void framed(int depth)
{
    if (depth > 0)
        pointers[next() % 4](depth - 1);
    else
        spend();
    __asm__ volatile("");
}

/* Realigned frames find their caller through a register, or by an expression. */
static __attribute__((noinline, noipa)) void aligned(int depth)
{
    volatile char memory[64 + 64] __attribute__((aligned(64)));

    memory[0] = 1;
    if (depth > 0)
        pointers[next() % 4](depth - 1);
    else
        spend();
    memory[1] = 2;
}

static jmp_buf back;

static __attribute__((noinline, noipa)) void jump_from(int depth)
{
    if (depth == 0) {
        spend();
        longjmp(back, 1);
    }
    jump_from(depth - 1);
    __asm__ volatile("");
}

static void jumps(void)
{
    if (!setjmp(back))
        jump_from((int)(next() % 20));
    spend();
}

enum { COROUTINES = 8, COROUTINE_STACK = 32 << 10 };
static ucontext_t home, coroutine[COROUTINES];

static void coroutine_body(int number)
{
    for (;;) {
        pointers[next() % 4]((int)(next() % 10));
        swapcontext(&coroutine[number], &home);
    }
}

static void coroutines(void)
{
    static int made;

    for (int i = 0; i < COROUTINES && !made; i++) {
        getcontext(&coroutine[i]);
        coroutine[i].uc_stack.ss_size = COROUTINE_STACK;
        coroutine[i].uc_stack.ss_sp = mmap(NULL, COROUTINE_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                           -1, 0);
        makecontext(&coroutine[i], (void (*)(void))coroutine_body, 1, i);
    }
    made = 1;
    for (int i = 0; i < 20; i++)
        swapcontext(&home, &coroutine[next() % COROUTINES]);
}

static void on_signal(int number)
{
    (void)number;
    pointers[next() % 4]((int)(next() % 6));
}

static void handlers(void)
{
    raise(SIGUSR1); /* on the alternate stack */
    raise(SIGUSR2); /* on this one */
}

static const char *directory;

static void plugins(void)
{
    char path[4096];

    for (int i = 0; directory && i < 4; i++) {
        snprintf(path, sizeof path, "%s/libplugin_%c.so", directory, 'a' + (int)(next() % 2));
        void *handle = dlopen(path, RTLD_NOW);
        function *entry = handle ? (function *)dlsym(handle, "plugin_entry") : NULL;
        if (!entry)
            abort();
        entry((int)(next() % 5));
        dlclose(handle);
    }
}

/* Called back by the plugins. */
void adversary_spend(void);
void adversary_spend(void)
{
    spend();
}

int main(int argc, char **argv)
{
    double end = argc > 1 ? atof(argv[1]) : 1;
    stack_t stack = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10};
    struct sigaction alternate = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK},
                     ordinary = {.sa_handler = on_signal};

    directory = argc > 2 ? argv[2] : NULL;
    pointers[0] = sized;
    pointers[1] = plain;
    pointers[2] = framed;
    pointers[3] = aligned;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &alternate, NULL);
    sigaction(SIGUSR2, &ordinary, NULL);
    while (thread_seconds() < end) {
        sized(30);
        twice(12);
        aligned(20);
        jumps();
        coroutines();
        handlers();
        plugins();
    }
    return 0;
}
