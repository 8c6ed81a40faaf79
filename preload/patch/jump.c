/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/patch/jump.h"

#include "preload/arch/arch.h" /* also __get_cpuid */
#include "preload/hot.h"
#include "preload/patch/slots.h"
#include "preload/patch/visits.h"
#include "preload/reach.h"
#include "preload/signals/signals.h"
#include "preload/thread.h"
#include "unwind/cfi.h"

volatile bool jump_over;
uint64_t jump_signals;

/* Intel's manual, volume 1, chapter 13: xsave leaves the header alone but for the first word, xsavec writes it. */
__attribute__((visibility("hidden"))) bool jump_compacts __asm__("jump_compacts");

/*
 * Called by a slot; so as unwind information has it this is a handler of a signal that came there
 * (patch_leave_slots then says where that is). 0xe6: the registers of SSE, AVX and AVX-512, as far as there are any.
 * Words that were popped are still read below the stack pointer, where handlers leave 128 bytes alone.
 */
__asm__(".pushsection hq_hot, \"ax\", @progbits\n"
        ".balign 64\n"
        ".globl patch_stub\n.hidden patch_stub\n.type patch_stub, @function\n"
        "patch_stub:\n"
        "  .cfi_startproc\n"
        "  .cfi_signal_frame\n"
        "  pushfq\n"
        "  .cfi_def_cfa_offset 16\n"
        "  cld\n"
        "  push %rbp\n"
        "  .cfi_def_cfa_offset 24\n"
        "  .cfi_offset %rbp, -24\n"
        "  mov %rsp, %rbp\n"
        "  .cfi_def_cfa_register %rbp\n"
        "  push %rax\n  push %rcx\n  push %rdx\n  push %rbx\n  push %rsi\n  push %rdi\n"
        "  push %r8\n  push %r9\n  push %r10\n  push %r11\n"
        "  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  .cfi_offset %rbx, -56\n"
        "  .cfi_offset %r12, -112\n"
        "  .cfi_offset %r13, -120\n"
        "  .cfi_offset %r14, -128\n"
        "  .cfi_offset %r15, -136\n"
        "  mov %rsp, %rbx\n"
        "  mov %rsp, %rdi\n"
        "  and $-16, %rsp\n"
        "  call jump_enter\n"
        "  test %rax, %rax\n"
        "  jz 3f\n"
        "  mov %rax, %r12\n"
        "  mov $0xe6, %eax\n"
        "  xor %edx, %edx\n"
        "  cmpb $0, jump_compacts(%rip)\n"
        "  je 1f\n"
        "  xsavec (%r12)\n"
        "  jmp 2f\n"
        "1: xsave (%r12)\n"
        "2: mov %rbx, %rdi\n"
        "  mov %r12, %rsp\n"
        "  call jump_count\n"
        "  mov $0xe6, %eax\n"
        "  xor %edx, %edx\n"
        "  xrstor (%r12)\n"
        "  mov %rbx, %rsp\n"
        "  and $-16, %rsp\n"
        "  call jump_leave\n"
        "3: mov %rbx, %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n"
        "  pop %r11\n  pop %r10\n  pop %r9\n  pop %r8\n"
        "  pop %rdi\n  pop %rsi\n  pop %rbx\n  pop %rdx\n  pop %rcx\n  pop %rax\n"
        "  pop %rbp\n"
        "  .cfi_def_cfa %rsp, 16\n"
        "  .cfi_restore %rbp\n"
        "  popfq\n"
        "  .cfi_def_cfa_offset 8\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size patch_stub, . - patch_stub\n"
        ".popsection\n");

bool jump_is_possible(void)
{
    unsigned a, b, c, d;

    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return false;
    jump_signals = signal_ours();
    jump_compacts = __get_cpuid_count(13, 1, &a, &b, &c, &d) && a & 2;
    return true;
}

void jump_end(void)
{
    jump_over = true;
}

HOT void jump_count(const struct saved *s)
{
    const struct slot *slot = slot_of_call(s->back);
    const uint64_t sp = (uint64_t)(s + 1) + SLOT_ZONE;
    const uint64_t reg[CFI_REGISTERS] = {s->rax, s->rdx, s->rcx, s->rbx, s->rsi,        s->rdi,
                                         s->rbp, sp,     s->r8,  s->r9,  s->r10,        s->r11,
                                         s->r12, s->r13, s->r14, s->r15, slot->original};
    struct reach found = reach_to(0);
    bool opened = self.blocks_bus && cut_open();

    visits_count(slot->place, reg, (slot->place->flags & HQP_EXIT) != 0);
    cut_close(opened);
    reach_leave(&found);
}
