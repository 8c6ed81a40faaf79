/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -static */
/*
 * routine SECONDS: works on a stack as the Go runtime makes one: its bottom is an address in a procedure that nobody
 * has called, with unwind information that leads on, and above it is what that memory held before.
 */
#include "burn.h"

#include <stdint.h>
#include <stdlib.h>

extern const char bottom[];
void enter(void *stack);
uint64_t outside;
static double seconds;

__asm__(".text\n"
        ".globl bottom\n.type bottom, @function\n"
        "bottom:\n.cfi_startproc\n nop\n call leave\n nop\n.cfi_endproc\n.size bottom, . - bottom\n"
        ".globl enter\n.type enter, @function\n"
        "enter:\n mov %rsp, outside(%rip)\n mov %rdi, %rsp\n jmp routine\n.size enter, . - enter\n"
        ".type leave, @function\n"
        "leave:\n mov outside(%rip), %rsp\n ret\n.size leave, . - leave\n");

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
    for (int i = 0; i < WORDS; i++)
        stack[i] = 0x401f0effffffffull;
    stack[WORDS - 32] = (uint64_t)stack;
    stack[WORDS - 33] = (uint64_t)bottom + 1;
    enter(&stack[WORDS - 33]);
    return 0;
}
