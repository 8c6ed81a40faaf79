/* SPDX-License-Identifier: BSD-3-Clause */
/* libomp's functions that open regions (preload/openmp/fork.c), on aarch64. */
#include "preload/openmp/fork.h"

#include <assert.h>

static_assert(FORK_CALL == 0 && FORK_CALL_IF == 1 && FORK_TEAMS == 2, "numbers below");

/* The third argument is the body. hint 34 is a landing pad (bti c) where there are such. */
#define FORK(name, number) \
    __asm__(".pushsection .text." name ", \"ax\", %progbits\n" \
            ".balign 16\n" \
            ".globl " name "\n" \
            ".type " name ", %function\n" name ":\n" \
            "  .cfi_startproc\n" \
            "  hint #34\n" \
            "  stp x29, x30, [sp, #-224]!\n" \
            "  .cfi_def_cfa_offset 224\n" \
            "  .cfi_offset 29, -224\n" \
            "  .cfi_offset 30, -216\n" \
            "  mov x29, sp\n" \
            "  stp x0, x1, [sp, #16]\n" \
            "  stp x2, x3, [sp, #32]\n" \
            "  stp x4, x5, [sp, #48]\n" \
            "  stp x6, x7, [sp, #64]\n" \
            "  str x8, [sp, #80]\n" \
            "  stp q0, q1, [sp, #96]\n" \
            "  stp q2, q3, [sp, #128]\n" \
            "  stp q4, q5, [sp, #160]\n" \
            "  stp q6, q7, [sp, #192]\n" \
            "  mov x0, x30\n" \
            "  mov x1, x2\n" \
            "  mov w2, #" number "\n" \
            "  bl fork_noted\n" \
            "  mov x16, x0\n" \
            "  ldp q6, q7, [sp, #192]\n" \
            "  ldp q4, q5, [sp, #160]\n" \
            "  ldp q2, q3, [sp, #128]\n" \
            "  ldp q0, q1, [sp, #96]\n" \
            "  ldr x8, [sp, #80]\n" \
            "  ldp x6, x7, [sp, #64]\n" \
            "  ldp x4, x5, [sp, #48]\n" \
            "  ldp x2, x3, [sp, #32]\n" \
            "  ldp x0, x1, [sp, #16]\n" \
            "  ldp x29, x30, [sp], #224\n" \
            "  .cfi_def_cfa_offset 0\n" \
            "  .cfi_restore 29\n" \
            "  .cfi_restore 30\n" \
            "  br x16\n" \
            "  .cfi_endproc\n" \
            ".size " name ", . - " name "\n" \
            ".popsection\n")

FORK("__kmpc_fork_call", "0");
FORK("__kmpc_fork_call_if", "1");
FORK("__kmpc_fork_teams", "2");
