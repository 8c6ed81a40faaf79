/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g -pthread */
/*
 * guests KIND: does what few programs do, and what a profiler in the same process may stumble over. Prints what comes
 * out of it, which is the same in any run. Without KIND: the names of all of them.
 */
#define _GNU_SOURCE
#include "burn.h"
#include "guest.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

static jmp_buf back;

/* The stack pointer as a register like any other. */
static void nowhere(void)
{
    __asm__ volatile("mov %%rsp, %%r15\n xor %%esp, %%esp\n mov $150000000, %%ecx\n"
                     "1: dec %%ecx\n jnz 1b\n mov %%r15, %%rsp"
                     :
                     :
                     : "rcx", "r15", "cc", "memory");
    puts("back");
}

/* Another one that points to the last word of a page. */
static void last_word(void)
{
    char *page = aligned_alloc(4096, 4096);

    memset(page, 0x11, 4096);
    __asm__ volatile("mov %%rsp, %%r15\n lea 4088(%0), %%rsp\n mov $150000000, %%ecx\n"
                     "1: dec %%ecx\n jnz 1b\n mov %%r15, %%rsp"
                     :
                     : "r"(page)
                     : "rcx", "r15", "cc", "memory");
    puts("back");
}

static __attribute__((noinline)) int deeper(int levels)
{
    volatile char room[480];

    room[levels] = (char)levels;
    return levels ? deeper(levels - 1) + room[levels] : (int)(spin(1) & 1);
}

static void *on_small_stack(void *result)
{
    for (int i = 0; i < 20; i++)
        *(int *)result += deeper(15);
    return NULL;
}

/* The least stack that the C library gives a thread, in use. */
static void small(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int sum = 0;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16384);
    for (int i = 0; i < 10; i++)
        if (pthread_create(&thread, &attributes, on_small_stack, &sum) == 0)
            pthread_join(thread, NULL);
    printf("%d\n", sum);
}

/* Reading the time stamp counter ends the program. */
static void no_clock(void)
{
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    printf("%llx\n", (unsigned long long)spin(100));
}

static volatile char selector;

static void answer(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    selector = 0;
    hits++;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 77;
}

/* System calls come to a handler of the program. */
static void dispatches(void)
{
    uint64_t x;

    handle(SIGSYS, answer, 0);
    if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector) != 0) {
        puts("the kernel cannot");
        return;
    }
    for (int i = 0; i < 20; i++) {
        selector = 1;
        long result = syscall(SYS_getpid);
        selector = 0;
        if (result != 77)
            puts("wrong");
    }
    selector = 1;
    x = spin(100);
    selector = 0;
    printf("%d %llx\n", hits, (unsigned long long)x);
}

static void change_stack(int number, siginfo_t *info, void *context)
{
    stack_t none = {.ss_flags = SS_DISABLE};

    (void)number, (void)info, (void)context;
    hits += sigaltstack(&none, NULL) == 0;
}

/* An alternate stack that the kernel takes away while a handler runs, which asks for another one. */
static void disarmed(void)
{
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536, .ss_flags = (int)(1u << 31)}, now;

    handle(SIGUSR1, change_stack, SA_ONSTACK);
    sigaltstack(&stack, NULL);
    for (int i = 0; i < 3; i++) {
        raise(SIGUSR1);
        sigaltstack(NULL, &now);
        printf("%d %d %zu %x\n", hits, now.ss_sp == stack.ss_sp, now.ss_size, (unsigned)now.ss_flags);
    }
    spin(100);
}

static void jump(int number, siginfo_t *info, void *context)
{
    char large[100000];

    (void)number, (void)info, (void)context;
    memset(large, hits, sizeof large);
    __asm__ volatile("" : : "r"(large) : "memory");
    hits++;
    longjmp(back, 1);
}

/* Breakpoints whose handler needs much stack and jumps out. */
static void breakpoints(void)
{
    sigset_t mask;

    handle(SIGTRAP, jump, SA_NODEFER);
    for (volatile int i = 0; i < 200; i++)
        if (!_setjmp(back)) {
            spin(1);
            __asm__ volatile("int3");
        }
    sigprocmask(0, NULL, &mask);
    printf("%d %d %d\n", hits, sigismember(&mask, SIGALRM), sigismember(&mask, SIGUSR1));
}

static void once(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    hits++;
}

static void breakpoint_once(void)
{
    handle(SIGTRAP, once, SA_RESETHAND);
    __asm__ volatile("int3");
    printf("%d\n", hits);
    fflush(stdout);
    __asm__ volatile("int3");
    puts("not reached");
}

/* A child stops this process and lets it go on; nobody else is told. */
static void stopped(void)
{
    pid_t here = getpid(), child = fork();
    int status;

    for (int i = 0; child == 0 && i < 10; i++) {
        kill(here, i % 2 ? SIGSTOP : SIGTSTP);
        usleep(2000);
        kill(here, SIGCONT);
    }
    if (child == 0)
        _exit(3);
    spin(100);
    while (waitpid(child, &status, 0) != child)
        ;
    printf("%d\n", WEXITSTATUS(status));
}

static void count_hit(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    hits++;
}

static long system_call(long number, long a, long b)
{
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b) : "rcx", "r11", "memory");
    return result;
}

/* Works while thread-local storage is elsewhere, or nowhere, and signals come: nothing thread-local is used meanwhile.
 */
static void other_storage(void)
{
    enum { SET_BASE = 0x1002, GET_BASE = 0x1003, PAGE = 4096, ROUNDS = 200 };
    char *room = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const long bases[] = {(long)room + 32 * PAGE, 0, PAGE};
    unsigned long sum = 0, written = 0;
    long own;

    handle(SIGUSR1, count_hit, 0);
    handle(SIGUSR2, count_hit, SA_ONSTACK);
    handle(SIGTRAP, count_hit, 0);
    system_call(SYS_arch_prctl, GET_BASE, (long)&own);
    for (int i = 0; i < ROUNDS; i++) {
        system_call(SYS_arch_prctl, SET_BASE, bases[i % 3]);
        sum += spin(1);
        system_call(SYS_kill, system_call(SYS_getpid, 0, 0), i % 2 ? SIGUSR1 : SIGUSR2);
        __asm__ volatile("int3");
        system_call(SYS_arch_prctl, SET_BASE, own);
    }
    for (int i = 0; i < 64 * PAGE; i++)
        written += room[i] != 0;
    printf("%d %lx %lu\n", hits, sum, written);
}

static ucontext_t caller;
static int deep_sum, deep_rounds;

static void spin_on_stack(void)
{
    for (double end = thread_seconds() + 0.2; thread_seconds() < end; deep_rounds++)
        deep_sum += deeper(30);
}

/* A stack that has a key of protection, to which a signal handler has no right. */
static void keyed_stack(void)
{
    enum { BYTES = 1 << 20 };
    char *stack = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int key = pkey_alloc(0, 0);
    ucontext_t there;

    if (key >= 0 && pkey_mprotect(stack, BYTES, PROT_READ | PROT_WRITE, key) != 0)
        return;
    getcontext(&there);
    there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = BYTES};
    there.uc_link = &caller;
    makecontext(&there, spin_on_stack, 0);
    swapcontext(&caller, &there);
    printf("%d\n", deep_sum / deep_rounds);
}

/* Code that can be run and not read, and of which nothing is known. */
static void unreadable_code(void)
{
    static const unsigned char loop[] = {0x53,                         /* push rbx */
                                         0xb9, 0x80, 0x96, 0x98, 0x00, /* mov ecx, 10000000 */
                                         0xff, 0xc9, 0x75, 0xfc,       /* dec ecx; jnz */
                                         0x5b, 0xc3};                  /* pop rbx; ret */
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memcpy(page, loop, sizeof loop);
    mprotect(page, 4096, PROT_EXEC);
    for (double end = thread_seconds() + 0.2; thread_seconds() < end;)
        ((void (*)(void))page)();
    puts("back");
}

static void spin_below(void *unused, void **rest)
{
    (void)unused, (void)rest;
    spin(20);
    __asm__ volatile("");
}

/* Below many frames of generated code, on a stack of its own. */
static void deep_generated(void)
{
    enum { FRAMES = 900 };
    /* push %rbp; mov %rsp,%rbp; push %rbx; push %rbx; mov %rdi,%rax; mov (%rsi),%rdi; add $8,%rsi; call *%rax;
     * pop %rbx; pop %rbx; pop %rbp; ret */
    static const unsigned char forward[] = {0x55, 0x48, 0x89, 0xe5, 0x53, 0x53, 0x48, 0x89, 0xf8, 0x48, 0x8b,
                                            0x3e, 0x48, 0x83, 0xc6, 0x08, 0xff, 0xd0, 0x5b, 0x5b, 0x5d, 0xc3};
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static void *list[FRAMES + 2];
    static ucontext_t inside, outside;

    memcpy(page, forward, sizeof forward);
    for (int i = 0; i < FRAMES; i++)
        list[i] = page;
    list[FRAMES] = (void *)spin_below;
    getcontext(&inside);
    inside.uc_stack = (stack_t){.ss_sp = malloc(1 << 18), .ss_size = 1 << 18};
    inside.uc_link = &outside;
    makecontext(&inside, (void (*)(void))page, 2, page, list);
    swapcontext(&outside, &inside);
    puts("back");
}

uintptr_t _Unwind_GetIP(void *context); /* libgcc_s.so */

static char looked_at[4096];

static __attribute__((noinline)) void leave_words(void)
{
    volatile uint64_t words[10000];

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = (uint64_t)looked_at + i % sizeof looked_at;
}

/* Generated code without a frame pointer, whose frame of 64 KiB hides all others, calls the exceptions' runtime again
 * and again. */
static void generated_runtime(void)
{
    /* push %rbx; push %rbp; push %r12; mov %rsi,%r12; mov %rdx,%rbx; mov %rdi,%rbp; sub $65536,%rsp;
     * 1: mov %rbp,%rdi; call *%r12; dec %rbx; jnz 1b; add $65536,%rsp; pop %r12; pop %rbp; pop %rbx; ret */
    static const unsigned char again[] = {0x53, 0x55, 0x41, 0x54, 0x49, 0x89, 0xf4, 0x48, 0x89, 0xd3, 0x48,
                                          0x89, 0xfd, 0x48, 0x81, 0xec, 0x00, 0x00, 0x01, 0x00, 0x48, 0x89,
                                          0xef, 0x41, 0xff, 0xd4, 0x48, 0xff, 0xcb, 0x75, 0xf5, 0x48, 0x81,
                                          0xc4, 0x00, 0x00, 0x01, 0x00, 0x41, 0x5c, 0x5d, 0x5b, 0xc3};
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memcpy(page, again, sizeof again);
    leave_words();
    ((void (*)(void *, void *, long))page)(looked_at, (void *)_Unwind_GetIP, 50000000);
    puts("back");
}

static void *spin_some(void *unused)
{
    spin(50);
    return unused;
}

/* A filter ends who asks for the thread's number or queues a signal; signals and threads come all the
 * same. */
static void filtered(void)
{
    enum { FORBIDDEN = 3 };
    static const unsigned numbers[FORBIDDEN] = {SYS_gettid, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo};
    pthread_t thread;
    struct sock_filter code[2 * FORBIDDEN + 2];
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigset_t set;
    int n = 0;

    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < FORBIDDEN; i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    handle(SIGUSR1, count_hit, SA_ONSTACK);
    handle(SIGTRAP, count_hit, 0);
    sigaltstack(&stack, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        puts("no filter");
    for (int i = 0; i < 50; i++) {
        spin(1);
        kill(getpid(), i % 2 ? SIGUSR1 : SIGTRAP);
    }
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGTRAP);
    spin(1);
    if (pthread_create(&thread, NULL, spin_some, NULL) == 0)
        pthread_join(thread, NULL);
    printf("%d\n", hits);
}

int main(int argc, char **argv)
{
    static const struct guest kinds[] = {{"nowhere", nowhere},
                                         {"last-word", last_word},
                                         {"small", small},
                                         {"no-clock", no_clock},
                                         {"dispatches", dispatches},
                                         {"disarmed", disarmed},
                                         {"breakpoints", breakpoints},
                                         {"breakpoint-once", breakpoint_once},
                                         {"stopped", stopped},
                                         {"other-storage", other_storage},
                                         {"keyed-stack", keyed_stack},
                                         {"unreadable-code", unreadable_code},
                                         {"deep-generated", deep_generated},
                                         {"generated-runtime", generated_runtime},
                                         {"filtered", filtered}};

    return guest_main(argc, argv, kinds, sizeof kinds / sizeof *kinds);
}
