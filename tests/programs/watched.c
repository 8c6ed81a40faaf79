/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Procedures to be marked from outside: entered and left in every way that code has, while they count themselves.
 * Prints NAME COUNT for each, and how many signals of its own it saw.
 *
 *     watched N [PLUGIN]       N rounds; PLUGIN: a library with `long plugin_work(long)`, opened and closed in each
 *                              tenth round
 *
 * build: -O2 -g -fcf-protection=branch -fno-optimize-sibling-calls
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define APART    __attribute__((noipa))
#define TAILS    __attribute__((noipa, optimize("optimize-sibling-calls")))
#define COUNT(p) __atomic_fetch_add(&counts[p], 1, __ATOMIC_RELAXED)

enum { PLAIN, RECURSES, TAIL_CALLS, MAY_TAIL_CALL, BY_POINTER, SWITCHES, JUMPS_OUT, IN_HANDLER, IN_COROUTINE, KINDS };
static const char *const names[KINDS] = {"plain",    "recurses",  "tail_calls", "may_tail_call", "by_pointer",
                                         "switches", "jumps_out", "in_handler", "in_coroutine"};
static long counts[KINDS];
static volatile long sink = 1;
static __thread jmp_buf out;

APART static long plain(long x)
{
    COUNT(PLAIN);
    return x * 3 + sink;
}

APART static long recurses(long n)
{
    volatile long here = n; /* no loop is made of it */

    COUNT(RECURSES);
    return n ? recurses(n - 1) + here : sink;
}

TAILS static long tail_calls(long x)
{
    COUNT(TAIL_CALLS);
    return plain(x + 1);
}

TAILS static long may_tail_call(long x)
{
    COUNT(MAY_TAIL_CALL);
    if (x & 1)
        return plain(x);
    return sink;
}

static long (*volatile pointer)(long) = plain;
TAILS static long by_pointer(long x)
{
    COUNT(BY_POINTER);
    return pointer(x);
}

APART static long switches(long x)
{
    COUNT(SWITCHES);
    switch (x % 8) {
    case 0: return sink + 7;
    case 1: sink = sink * 5 + 1; break;
    case 2: sink = plain(sink); break;
    case 3: return sink ^ 99;
    case 4: sink = -sink; break;
    case 5: sink = sink >> 1; return x;
    case 6: sink += x; break;
    case 7: return plain(x);
    }
    return sink;
}

APART static void jumps_out(long x)
{
    COUNT(JUMPS_OUT);
    if (x)
        jumps_out(x - 1);
    longjmp(out, 1);
}

static volatile sig_atomic_t users, traps;

APART static void in_handler(void)
{
    COUNT(IN_HANDLER);
    users++;
}

static void on_user(int number)
{
    (void)number;
    in_handler();
}

static void on_trap(int number)
{
    (void)number;
    traps++;
}

static ucontext_t outside, inside;

APART static void in_coroutine(void)
{
    COUNT(IN_COROUTINE);
    swapcontext(&inside, &outside);
    sink = plain(sink);
}

static void coroutine(void)
{
    for (;;) {
        in_coroutine();
        in_coroutine();
    }
}

/* A loop goes through its first instruction, so it cannot be marked. */
__asm__(
    ".text\n .type loops, @function\nloops: .cfi_startproc\n1: decl %edi\n jne 1b\n ret\n .cfi_endproc\n .size loops, "
    ".-loops\n");
void loops(int n);

/* No unwind information. */
__asm__(".type bare, @function\nbare: ret\n .size bare, .-bare\n");
void bare(void);

/* First instructions that depend on where they stand, and ones that are all there is. */
__asm__(
    ".type relative, @function\nrelative: .cfi_startproc\n lock incq relative_count(%rip)\n ret\n .cfi_endproc\n .size "
    "relative, .-relative\n"
    ".type only_jumps, @function\nonly_jumps: .cfi_startproc\n jmp relative\n .cfi_endproc\n .size only_jumps, "
    ".-only_jumps\n"
    ".type branches, @function\nbranches: .cfi_startproc\n jrcxz 1f\n 1: ret\n .cfi_endproc\n .size branches, "
    ".-branches\n"
    ".type calls_first, @function\ncalls_first: .cfi_startproc\n call relative\n ret\n .cfi_endproc\n .size "
    "calls_first, .-calls_first\n"
    ".type by_stack, @function\nby_stack: .cfi_startproc\n leaq relative(%rip), %rax\n movq %rax, -16(%rsp)\n jmp "
    "*-16(%rsp)\n .cfi_endproc\n .size by_stack, .-by_stack\n"
    ".data\n .globl relative_count\nrelative_count: .quad 0\n .text\n");
void relative(void), only_jumps(void), branches(void), calls_first(void), by_stack(void);
extern long relative_count;

static inline __attribute__((always_inline)) long inlined(long x)
{
    return x * sink;
}

static void *work(void *data)
{
    long n = (long)data;

    for (long i = 0; i < n; i++) {
        sink += tail_calls(i) + may_tail_call(i) + by_pointer(i) + switches(i) + inlined(i);
        if (i % 50 == 0)
            sink += recurses(20);
        if (i % 100 == 0 && !setjmp(out))
            jumps_out(3);
        relative();
        only_jumps();
        calls_first();
        by_stack();
    }
    return NULL;
}

static void use_plugin(const char *path, long x)
{
    void *library = dlopen(path, RTLD_NOW);
    long (*function)(long) = library ? (long (*)(long))dlsym(library, "plugin_work") : NULL;

    if (!function)
        exit(9);
    function(x);
    function(x);
    dlclose(library);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 100, plugins = 0;
    char *stack = malloc(1 << 16), *alternate = malloc(1 << 16);
    pthread_t threads[2];

    sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = 1 << 16}, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_user, .sa_flags = SA_ONSTACK}, NULL);
    signal(SIGTRAP, on_trap);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = 1 << 16;
    makecontext(&inside, coroutine, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)n);
    for (long i = 0; i < n; i++) {
        sink += tail_calls(i);
        swapcontext(&outside, &inside);
        if (i % 10 == 0) {
            raise(SIGUSR1);
            __asm__ volatile("int3");
            if (argc > 2 && ++plugins)
                use_plugin(argv[2], i);
        }
        if (i % 10 == 5)
            raise(SIGTRAP);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    loops(3);
    bare();
    branches();
    for (int i = 0; i < KINDS; i++)
        printf("%s %ld\n", names[i], counts[i]);
    printf("relative_all %ld\nplugin_work %ld\nsignals %d %d\n", relative_count, 2 * plugins, users, traps);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        sink += plain(1) + plain(2) + tail_calls(3);
        _exit(5);
    }
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) + 2;
}
