/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entries of signal handlers (preload/signals/entry.h) on aarch64. The kernel's frame is siginfo, ucontext with
 * what else of the processor's state there is, and a frame record of what was interrupted, which the frame pointer is
 * at; the handler returns to the address in x30.
 */
#include "preload/signals/entry.h"

#include "preload/signals/altstack.h"

#include <asm/sigcontext.h>
#include <stddef.h>

__asm__(".pushsection hq_entry, \"ax\", @progbits\n"
        ".balign 16\n"
        ".globl entry_first\n.hidden entry_first\n"
        "entry_first:\n"
        ".set entry_number, 0\n"
        ".rept 1024\n"
        "  .balign 16\n"
        "  .cfi_startproc\n"
        "  hint #34\n" /* bti c */
        "  mov w16, #entry_number\n"
        "  b entry_common\n"
        "  .cfi_endproc\n"
        "  .set entry_number, entry_number + 1\n"
        ".endr\n"
        ".balign 16\n"
        "entry_common:\n"
        "  .cfi_startproc\n"
        "  stp x29, x30, [sp, #-80]!\n"
        "  .cfi_def_cfa_offset 80\n"
        "  .cfi_offset 29, -80\n"
        "  .cfi_offset 30, -72\n"
        "  add x9, sp, #80\n"
        "  add x2, sp, #208\n" /* behind siginfo, of 128 bytes; x1 and x2 are set for SA_SIGINFO only */
        "  stp x9, x2, [sp, #16]\n"
        "  stp x9, x0, [sp, #32]\n"
        "  stp x29, x16, [sp, #48]\n"
        "  mov x29, sp\n"
        "  add x0, sp, #16\n"
        "  bl entry_note\n"
        "  mov x17, x0\n"
        "  ldp x9, x2, [sp, #16]\n"
        "  ldp x1, x0, [sp, #32]\n"
        "  ldr x30, [sp, #8]\n"
        "  ldr x29, [sp, #48]\n"
        "  .cfi_restore 29\n"
        "  .cfi_restore 30\n"
        "  mov sp, x9\n"
        "  .cfi_def_cfa_offset 0\n"
        "  br x17\n"
        "  .cfi_endproc\n"
        ".balign 16\n"
        "entry_return:\n" /* what unwinders know a handler's return by */
        "  mov x8, #139\n"
        "  svc #0\n"
        ".popsection\n");

extern const char entry_return[] __attribute__((visibility("hidden")));

/* Where the rest of the state lies in another place it is named by its address. */
ENTRY void entry_moved(struct entered *e, uint64_t distance)
{
    char *at = (char *)e->context->uc_mcontext.__reserved;
    char *end = at + sizeof e->context->uc_mcontext.__reserved;

    e->frame_pointer += distance;
    while (end - at >= (ptrdiff_t)sizeof(struct _aarch64_ctx)) {
        struct _aarch64_ctx *head = (struct _aarch64_ctx *)at;

        if (head->magic == EXTRA_MAGIC)
            ((struct extra_context *)at)->datap += distance;
        if (!head->magic || head->size < sizeof *head || head->size > (size_t)(end - at))
            break;
        at += head->size;
    }
}

/* The kernel's frame record: the first one of the chain that lies outside of our own frames. */
static uint64_t find_record(const struct entered *e)
{
    const uint64_t *record = __builtin_frame_address(0);
    uint64_t first = (uint64_t)record;

    for (int i = 0; i < 64 && (uint64_t)record >= first && (uint64_t)record < first + ALTSTACK_BYTES; i++) {
        if ((uint64_t)record > (uint64_t)e->context)
            return (uint64_t)record;
        record = (const uint64_t *)record[0];
    }
    return 0;
}

void entry_begin(struct entered *e)
{
    e->frame = (char *)e->context - sizeof(siginfo_t);
    e->frame_pointer = find_record(e);
}

void entry_go(const struct entered *e, sighandler_t handler)
{
    register uint64_t x0 __asm__("x0") = e->number;
    register uint64_t x1 __asm__("x1") = (uint64_t)e->info;
    register uint64_t x2 __asm__("x2") = (uint64_t)e->context;
    register uint64_t x16 __asm__("x16") = (uint64_t)e->frame;
    register uint64_t x17 __asm__("x17") = (uint64_t)handler;
    register uint64_t x9 __asm__("x9") = e->frame_pointer;

    __asm__ volatile("adrp x30, entry_return\n add x30, x30, #:lo12:entry_return\n"
                     "mov x29, x9\n mov sp, x16\n br x17\n"
                     :
                     : "r"(x0), "r"(x1), "r"(x2), "r"(x9), "r"(x16), "r"(x17)
                     : "memory");
    __builtin_unreachable();
}
