/* SPDX-License-Identifier: BSD-3-Clause */
/* The entries of signal handlers (preload/signals/entry.h) on x86-64. */
#include "preload/signals/entry.h"

/* Some emulators (QEMU 7) call handlers with a stack that is not aligned, so it is aligned here. */
__asm__(".pushsection hq_entry, \"ax\", @progbits\n"
        ".balign 16\n"
        ".globl entry_first\n.hidden entry_first\n"
        "entry_first:\n"
        ".set entry_number, 0\n"
        ".rept 1024\n"
        "  .balign 16\n"
        "  .cfi_startproc\n"
        "  push $entry_number\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  jmp entry_common\n"
        "  .cfi_endproc\n"
        "  .set entry_number, entry_number + 1\n"
        ".endr\n"
        ".balign 16\n"
        "entry_common:\n"
        "  .cfi_startproc\n"
        "  .cfi_def_cfa_offset 16\n"
        "  push %rbp\n"
        "  .cfi_def_cfa_offset 24\n"
        "  .cfi_offset %rbp, -24\n"
        "  mov %rsp, %rbp\n"
        "  .cfi_def_cfa_register %rbp\n"
        "  push %rdi\n"
        "  push %rsi\n"
        "  push %rdx\n"
        "  lea 16(%rbp), %rax\n"
        "  push %rax\n"
        "  mov %rsp, %rdi\n"
        "  and $-16, %rsp\n"
        "  call entry_note\n"
        "  mov %rax, %r11\n"
        "  mov -8(%rbp), %rdi\n"
        "  mov -16(%rbp), %rsi\n"
        "  mov -24(%rbp), %rdx\n"
        "  mov (%rbp), %r10\n"
        "  .cfi_register %rbp, %r10\n"
        "  mov -32(%rbp), %rsp\n"
        "  .cfi_def_cfa %rsp, 8\n"
        "  mov %r10, %rbp\n"
        "  .cfi_restore %rbp\n"
        "  xor %eax, %eax\n"
        "  jmp *%r11\n"
        "  .cfi_endproc\n"
        ".popsection\n");

/* The frame begins with the address that the handler returns to. */
void entry_begin(struct entered *e)
{
    e->frame = (char *)e->context - 8;
}

ENTRY void entry_moved(struct entered *e, uint64_t distance)
{
    if (e->context->uc_mcontext.fpregs)
        e->context->uc_mcontext.fpregs = (fpregset_t)((char *)e->context->uc_mcontext.fpregs + distance);
}

void entry_go(const struct entered *e, sighandler_t handler)
{
    __asm__ volatile("mov %0, %%rsp\n xor %%eax, %%eax\n jmp *%1\n"
                     :
                     : "r"(e->frame), "r"(handler), "D"(e->number), "S"(e->info), "d"(e->context)
                     : "memory");
    __builtin_unreachable();
}
