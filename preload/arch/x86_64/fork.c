/* SPDX-License-Identifier: BSD-3-Clause */
/* libomp's functions that open regions (preload/openmp/fork.c), on x86-64. */
#include "preload/openmp/fork.h"

#include <assert.h>

static_assert(FORK_CALL == 0 && FORK_CALL_IF == 1 && FORK_TEAMS == 2, "numbers below");

/* The third argument is the body. A caller that passes nothing in vector registers says so in al. */
#define FORK(name, number) \
    __asm__(".pushsection .text." name ", \"ax\", @progbits\n" \
            ".balign 16\n" \
            ".globl " name "\n" \
            ".type " name ", @function\n" name ":\n" \
            "  .cfi_startproc\n" \
            "  endbr64\n" \
            "  push %rbp\n" \
            "  .cfi_def_cfa_offset 16\n" \
            "  .cfi_offset %rbp, -16\n" \
            "  mov %rsp, %rbp\n" \
            "  .cfi_def_cfa_register %rbp\n" \
            "  push %rax\n" \
            "  push %rdi\n" \
            "  push %rsi\n" \
            "  push %rdx\n" \
            "  push %rcx\n" \
            "  push %r8\n" \
            "  push %r9\n" \
            "  sub $136, %rsp\n" \
            "  test %al, %al\n" \
            "  je 1f\n" \
            "  movaps %xmm0, (%rsp)\n" \
            "  movaps %xmm1, 16(%rsp)\n" \
            "  movaps %xmm2, 32(%rsp)\n" \
            "  movaps %xmm3, 48(%rsp)\n" \
            "  movaps %xmm4, 64(%rsp)\n" \
            "  movaps %xmm5, 80(%rsp)\n" \
            "  movaps %xmm6, 96(%rsp)\n" \
            "  movaps %xmm7, 112(%rsp)\n" \
            "1:\n" \
            "  mov 8(%rbp), %rdi\n" \
            "  mov %rdx, %rsi\n" \
            "  mov $" number ", %edx\n" \
            "  call fork_noted\n" \
            "  mov %rax, %r11\n" \
            "  cmpb $0, -8(%rbp)\n" \
            "  je 2f\n" \
            "  movaps (%rsp), %xmm0\n" \
            "  movaps 16(%rsp), %xmm1\n" \
            "  movaps 32(%rsp), %xmm2\n" \
            "  movaps 48(%rsp), %xmm3\n" \
            "  movaps 64(%rsp), %xmm4\n" \
            "  movaps 80(%rsp), %xmm5\n" \
            "  movaps 96(%rsp), %xmm6\n" \
            "  movaps 112(%rsp), %xmm7\n" \
            "2:\n" \
            "  add $136, %rsp\n" \
            "  pop %r9\n" \
            "  pop %r8\n" \
            "  pop %rcx\n" \
            "  pop %rdx\n" \
            "  pop %rsi\n" \
            "  pop %rdi\n" \
            "  pop %rax\n" \
            "  pop %rbp\n" \
            "  .cfi_def_cfa %rsp, 8\n" \
            "  .cfi_restore %rbp\n" \
            "  jmp *%r11\n" \
            "  .cfi_endproc\n" \
            ".size " name ", . - " name "\n" \
            ".popsection\n")

FORK("__kmpc_fork_call", "0");
FORK("__kmpc_fork_call_if", "1");
FORK("__kmpc_fork_teams", "2");
