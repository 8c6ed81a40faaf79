/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * swapcontext and setcontext load the new stack pointer some instructions before they push the address to go to, and no
 * unwind information says so. Meanwhile a register still points at the context; it is believed if the stack pointer in
 * it is the present one.
 */
#include "preload/raw.h"
#include "preload/walk/walk.h"

#include <stddef.h>
#include <ucontext.h>

enum { CFI_RDX = 1, CFI_RDI = 5 };

/* The saved registers of the context at an address, NULL if there is none for this stack pointer. */
static const greg_t *context_at(uint64_t address, uint64_t sp)
{
    uint64_t first = address + offsetof(ucontext_t, uc_mcontext.gregs), last = first + NGREG * sizeof(greg_t) - 8;
    const greg_t *saved = (const greg_t *)first;

    if (address % 8 || !raw_readable(first) || !raw_readable(last))
        return NULL;
    return (uint64_t)saved[REG_RSP] == sp ? saved : NULL;
}

bool walk_behind_switch(struct walk *w)
{
    static const struct {
        uint8_t dwarf, saved;
    } preserved[] = {{CFI_RBX, REG_RBX}, {CFI_FP, REG_RBP}, {CFI_SP, REG_RSP}, {12, REG_R12},
                     {13, REG_R13},      {14, REG_R14},     {15, REG_R15},     {CFI_PC, REG_RIP}};
    const greg_t *saved;

    if (w->frames != 1 || !(w->memo->fresh[0].how & FRAME_EXACT))
        return false;
    saved = context_at(w->leaf[CFI_RDX], w->leaf[CFI_SP]);
    if (!saved)
        saved = context_at(w->leaf[CFI_RDI], w->leaf[CFI_SP]);
    if (!saved)
        return false;
    w->known = 0;
    for (size_t i = 0; i < sizeof preserved / sizeof *preserved; i++) {
        w->reg[preserved[i].dwarf] = (uint64_t)saved[preserved[i].saved];
        w->known |= 1u << preserved[i].dwarf;
    }
    w->how = FRAME_BARRIER | (walk_is_first_instruction(w) ? FRAME_EXACT : 0);
    w->partial = 0;
    return walk_to_end(w);
}
