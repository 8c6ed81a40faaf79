/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * swapcontext and setcontext of the C library on aarch64. swapcontext puts the address at which it goes on later into
 * x30, and its caller's into the context, as the value of x1; no unwind information says so. setcontext loads the stack
 * pointer from a context that its information takes for the frame. Meanwhile a register points at that context: it is
 * believed if the stack pointer, the frame pointer and x30 in it are the present ones. Behind the system call that
 * setcontext begins with no register is left that leads to the caller of swapcontext: there a path ends with a reason.
 */
#include "preload/raw.h"
#include "preload/walk/walk.h"

#include <stddef.h>
#include <ucontext.h>

enum { MOV_X30_X1 = (int)0xaa0103fe, NOP = (int)0xd503201f, BTI_J = (int)0xd503249f };

/* The saved registers of the context at an address, NULL if there is none that belongs to the present ones. */
static const mcontext_t *context_at(const struct walk *w, uint64_t address)
{
    uint64_t first = address + offsetof(ucontext_t, uc_mcontext.regs);
    uint64_t last = address + offsetof(ucontext_t, uc_mcontext.pc);
    const mcontext_t *saved = &((const ucontext_t *)address)->uc_mcontext;

    if (address % 8 || last < address || !raw_readable(first) || !raw_readable(last))
        return NULL;
    return saved->sp == w->leaf[CFI_SP] && saved->regs[29] == w->leaf[CFI_FP] && saved->regs[30] == w->leaf[CFI_LINK]
               ? saved
               : NULL;
}

/* Where swapcontext goes on it takes its caller's address from x1: at the present instruction, or at the next one,
 * behind a landing pad? */
static bool goes_on(const struct walk *w)
{
    uint64_t pc = w->leaf[CFI_PC];

    return raw_readable(pc) && (pc & 4095) < 4092 &&
           (arch_word(pc) == MOV_X30_X1 ||
            ((arch_word(pc) == NOP || arch_word(pc) == BTI_J) && arch_word(pc + 4) == MOV_X30_X1));
}

/* Goes on at that address, with the registers that calls keep and the stack pointer of the sample. */
static bool walk_from(struct walk *w, const uint64_t *reg, uint64_t pc)
{
    for (unsigned i = 19; i <= CFI_LINK; i++)
        w->reg[i] = reg[i];
    w->reg[CFI_SP] = w->leaf[CFI_SP];
    w->reg[CFI_PC] = arch_code_address(pc);
    w->known = CFI_BIT(CFI_PC + 1) - CFI_BIT(19);
    w->frames = 1;
    w->partial = 0;
    w->how = FRAME_BARRIER | (walk_is_first_instruction(w) ? FRAME_EXACT : 0);
    if (!(w->how & FRAME_EXACT))
        w->known &= ~CFI_BIT(CFI_LINK);
    return walk_to_end(w);
}

bool walk_behind_switch(struct walk *w)
{
    const mcontext_t *saved;
    uint64_t pc;

    if (!w->frames || w->frames > 2 || !(w->memo->fresh[0].how & FRAME_EXACT))
        return false;
    if (goes_on(w) && walk_plausible_return(w, arch_code_address(w->leaf[1])))
        return walk_from(w, w->leaf, w->leaf[1]);
    saved = context_at(w, w->leaf[0]);
    if (!saved)
        saved = context_at(w, w->leaf[2] - offsetof(ucontext_t, uc_sigmask));
    if (!saved)
        return false;
    /* Of swapcontext both are the place in itself; what getcontext or makecontext has filled tells the one in pc. */
    pc = saved->pc;
    if (pc == saved->regs[30] && !walk_plausible_return(w, arch_code_address(pc)))
        pc = saved->regs[1];
    return walk_from(w, (const uint64_t *)saved->regs, pc);
}
