/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -static */
/*
 * switched SECONDS: works on another stack, called by a procedure of the name and kind of the Go runtime's: its unwind
 * information knows of no change of stacks, and leads to what that memory held before.
 */
#include "burn.h"

#include <stdint.h>
#include <stdlib.h>

extern const char stale[];
void enter(void *stack) __asm__("runtime.systemstack");
uint64_t outside;
static double seconds;

__asm__(".text\n"
        ".type nobody, @function\n"
        "nobody:\n.cfi_startproc\n call enter_not\n.globl stale\nstale:\n nop\n ret\n.cfi_endproc\n.size nobody, . - "
        "nobody\n"
        ".type enter_not, @function\n"
        "enter_not:\n ret\n.size enter_not, . - enter_not\n"
        ".globl runtime.systemstack\n.type runtime.systemstack, @function\n"
        "runtime.systemstack:\n.cfi_startproc\n mov %rsp, outside(%rip)\n mov %rdi, %rsp\n call routine\n"
        " mov outside(%rip), %rsp\n ret\n.cfi_endproc\n.size runtime.systemstack, . - runtime.systemstack\n");

__attribute__((noinline, noipa)) void routine(void)
{
    burn(seconds);
    __asm__ volatile(""); /* no tail call */
}

int main(int count, char **words)
{
    enum { WORDS = 8192 };
    static uint64_t stack[WORDS] __attribute__((aligned(16)));

    seconds = count > 1 ? strtod(words[1], NULL) : 0.3;
    stack[WORDS - 32] = (uint64_t)stale;
    enter(&stack[WORDS - 32]);
    return 0;
}
