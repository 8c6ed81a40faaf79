/* SPDX-License-Identifier: BSD-3-Clause */
/* redzone SECONDS: assembly that aligns its stack and keeps the address of its frame in the red zone, below the stack
 * pointer, as libcrypto's SHA does. */
#include "burn.h"

#include <stdlib.h>

void red_zone(long rounds);

__asm__(".text\n"
        ".globl red_zone\n"
        ".type red_zone, @function\n"
        "red_zone:\n"
        "    .cfi_startproc\n"
        "    mov %rsp, %rax\n"
        "    .cfi_def_cfa_register %rax\n"
        "    push %rbx\n"
        "    .cfi_offset %rbx, -16\n"
        "    sub $256, %rsp\n"
        "    and $-1024, %rsp\n"
        "    mov %rax, -8(%rsp)\n"
        "    .cfi_escape 0x0f, 0x05, 0x77, 0x78, 0x06, 0x23, 0x08\n" /* the CFA is the word at rsp - 8, plus 8 */
        "    mov $1, %eax\n"
        "1:  imul $3, %rax, %rax\n"
        "    dec %rdi\n"
        "    jnz 1b\n"
        "    mov -8(%rsp), %rax\n"
        "    .cfi_def_cfa %rax, 8\n"
        "    mov -8(%rax), %rbx\n"
        "    .cfi_restore %rbx\n"
        "    mov %rax, %rsp\n"
        "    .cfi_def_cfa_register %rsp\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size red_zone, . - red_zone\n");

int main(int argc, char **argv)
{
    double end = thread_seconds() + (argc > 1 ? atof(argv[1]) : 1);

    while (thread_seconds() < end)
        red_zone(100000);
    return 0;
}
