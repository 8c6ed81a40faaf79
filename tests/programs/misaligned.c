/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls the collector's handler as some emulators do, on a stack that is not aligned, in a thread that was never
 * sampled; then burns 0.2 s. */
#define _GNU_SOURCE
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { OUR_VALUE = 0x6800 }; /* of the signals of the first event */

struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void *restorer;
    unsigned long mask;
};

static void *run(void *handler)
{
    static ucontext_t context;
    static siginfo_t info = {.si_code = SI_TIMER};

    info.si_value.sival_int = OUR_VALUE;
    getcontext(&context);
    register long number __asm__("rdi") = 33;
    register void *first __asm__("rsi") = &info, *second __asm__("rdx") = &context;
    __asm__ volatile("movq %%rsp, %%rbx\n andq $-16, %%rsp\n subq $136, %%rsp\n andq $-16, %%rsp\n subq $8, %%rsp\n "
                     "call *%3\n movq %%rbx, %%rsp"
                     : "+r"(number), "+r"(first), "+r"(second)
                     : "r"(handler)
                     : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3");
    burn(0.2);
    return NULL;
}

/* Not by syscall(2): that shows what the program itself has set up. */
static long ask_kernel(long number, struct kernel_action *action)
{
    register long bytes __asm__("r10") = sizeof action->mask;
    long result = SYS_rt_sigaction;

    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(number), "S"(NULL), "d"(action), "r"(bytes)
                     : "rcx", "r11", "memory");
    return result;
}

int main(void)
{
    struct kernel_action action;
    pthread_t thread;

    memset(&action, 0, sizeof action);
    if (ask_kernel(33, &action) != 0 || !action.handler ||
        pthread_create(&thread, NULL, run, (void *)action.handler) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    puts("ok");
    return 0;
}
