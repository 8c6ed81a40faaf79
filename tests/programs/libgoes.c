/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that has to do with signals as the runtime of Go has in programs with C in them: it asks the kernel itself
 * for the alternate stack, which becomes its own where there is one, sets up handlers by the C library, interrupts its
 * threads by SIGURG while they are on small stacks, and believes in no handler that runs elsewhere. It has Go's note.
 */
#define _GNU_SOURCE
#include "burn.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { THREADS = 3, TIMES = 40, BYTES = 64 << 10 };

__asm__(".pushsection .note.go.buildid, \"a\", %note\n"
        ".balign 4\n"
        ".long 4, 4, 4\n"
        ".asciz \"Go\\0\"\n"
        ".asciz \"abc\"\n"
        ".popsection\n");

static int (*kernels_sigaltstack)(const stack_t *, stack_t *);
static _Thread_local stack_t mine;
static _Thread_local volatile int handled, elsewhere;

static void on_signal(int number, siginfo_t *info, void *context)
{
    uint64_t here = (uint64_t)__builtin_frame_address(0);

    (void)number;
    (void)info;
    (void)context;
    handled++;
    elsewhere += here - (uint64_t)mine.ss_sp >= mine.ss_size;
}

static void interrupted(void)
{
    for (int i = 0; i < TIMES; i++) {
        burn(0.0005);
        pthread_kill(pthread_self(), i % 4 ? SIGURG : SIGUSR1);
    }
}

static void *begin(void *unused)
{
    static _Thread_local ucontext_t here, there;

    kernels_sigaltstack(NULL, &mine);
    if (mine.ss_flags & SS_DISABLE) {
        mine = (stack_t){.ss_sp = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                         .ss_size = BYTES};
        kernels_sigaltstack(&mine, NULL);
    }
    getcontext(&there);
    there.uc_stack.ss_sp = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    there.uc_stack.ss_size = BYTES;
    there.uc_link = &here;
    makecontext(&there, interrupted, 0);
    swapcontext(&here, &there);
    printf("%d handled, %d elsewhere\n", handled, elsewhere);
    return unused;
}

void goes(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    pthread_t thread[THREADS];

    kernels_sigaltstack = (int (*)(const stack_t *, stack_t *))dlsym(dlopen("libc.so.6", RTLD_LAZY), "sigaltstack");
    sigfillset(&action.sa_mask);
    sigaction(SIGURG, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    begin(NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, begin, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}
