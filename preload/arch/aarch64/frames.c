/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aarch64: the step from a frame without call frame information, and from the kernel's frames of signals.
 *
 * The code tells: from the program counter on to where the procedure returns it either loads x30 from a place of the
 * stack, and that is where the return address is, or it does not, and x30 is what it was when the procedure was called.
 * Where that leads nowhere there is the frame record, two words that the frame pointer is at (Procedure Call Standard
 * for the Arm 64-bit Architecture, section 6.4.6); where its caller's stack pointer is, it does not tell.
 */
#include "preload/hot.h"
#include "preload/raw.h"
#include "preload/walk/walk.h"

#include <stddef.h>

enum { INSTRUCTIONS_MAX = 1000, JUMPS_MAX = 64, FP = CFI_FP, LINK = CFI_LINK, SP = 31 };

/* Where the return address is, as the code tells. */
enum link { LINK_UNKNOWN, LINK_IN_REGISTER, LINK_SAVED };

/* The procedure on its way out. */
struct way {
    enum link link;
    uint64_t sp, fp;         /* 0: not known */
    uint64_t link_at, fp_at; /* where they are loaded from, 0: they are not */
    bool returns;
};

/* A load or store with an immediate offset: what it moves, and what that does to its base. */
struct access {
    bool loads, wide;         /* wide: general registers of 64 bits */
    uint8_t base, reg, other; /* other: SP if there is one register alone */
    int64_t offset, change;   /* of the address, from the base as it was; of the base */
    uint8_t bytes;
};

static int64_t sign_extend(uint32_t value, unsigned bits)
{
    return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

/* Arm Architecture Reference Manual, C4.1.94: load/store pair, and register with immediate. */
static bool read_access(uint32_t word, struct access *a)
{
    bool vector = word >> 26 & 1;
    unsigned size = word >> 30, mode;
    int64_t immediate;

    *a = (struct access){.base = word >> 5 & 31, .reg = word & 31, .other = SP, .loads = word >> 22 & 1};
    if ((word & 0x3a000000) == 0x28000000) {
        mode = word >> 23 & 3;
        a->bytes = (uint8_t)(vector ? 4 << size : size == 2 ? 8 : 4);
        a->other = word >> 10 & 31;
        a->wide = !vector && size == 2;
        immediate = sign_extend(word >> 15 & 127, 7) * a->bytes;
    } else if ((word & 0x3b200000) == 0x38000000) {
        mode = word >> 10 & 3;
        a->wide = !vector && size == 3;
        a->bytes = 8;
        immediate = sign_extend(word >> 12 & 511, 9);
    } else if ((word & 0x3b000000) == 0x39000000) {
        mode = 0;
        a->wide = !vector && size == 3;
        a->bytes = 8;
        immediate = (int64_t)(word >> 10 & 4095) << size;
    } else {
        return false;
    }
    a->offset = mode == 1 ? 0 : immediate;
    a->change = mode == 1 || mode == 3 ? immediate : 0;
    return true;
}

static void note_access(struct way *way, const struct access *a)
{
    bool first = a->reg == LINK, second = a->other == LINK;

    if (a->wide && (first || second) && way->link == LINK_UNKNOWN)
        way->link = a->loads ? LINK_SAVED : LINK_IN_REGISTER;
    if (a->base == SP && way->sp && a->wide && a->loads) {
        uint64_t at = way->sp + (uint64_t)a->offset;

        if (first || second)
            way->link_at = at + (second ? 8 : 0);
        if (a->reg == FP || a->other == FP)
            way->fp_at = at + (a->other == FP ? 8 : 0);
    }
    if (a->base == SP && way->sp)
        way->sp += (uint64_t)a->change;
    if (a->wide && a->loads && (a->reg == FP || a->other == FP))
        way->fp = 0;
}

/* add and sub with an immediate that give the stack or the frame pointer: at a procedure's first instructions that is
 * still its caller's. What else gives the stack pointer cannot be followed. */
static void note_arithmetic(struct way *way, uint32_t word)
{
    uint64_t immediate = (uint64_t)(word >> 10 & 4095) << (word >> 22 & 1 ? 12 : 0);
    unsigned base = word >> 5 & 31, to = word & 31;
    uint64_t value = base == FP ? way->fp : base == SP ? way->sp : 0;

    if ((word & 0xbf800000) == 0x91000000 && (to == SP || to == FP)) {
        value += !value ? 0 : word >> 30 & 1 ? -immediate : immediate;
        *(to == SP ? &way->sp : &way->fp) = value;
    } else if (to == SP && ((word & 0xbfe00000) == 0x8b200000 || (word & 0xff800000) == 0x92000000)) {
        way->sp = 0; /* by a register, or aligned */
    }
}

/* From the program counter to where the procedure returns. Where a branch may be taken it is not: both ways lead to a
 * return, and what is allocated on one of them is given back there. */
static void follow_out(const struct walk *w, uint32_t module, struct way *way)
{
    uint64_t pc = w->reg[CFI_PC];
    int jumps = 0;

    *way = (struct way){.sp = w->known & CFI_BIT(CFI_SP) ? w->reg[CFI_SP] : 0,
                        .fp = w->known & CFI_BIT(CFI_FP) ? w->reg[CFI_FP] : 0};
    for (int i = 0; i < INSTRUCTIONS_MAX && modules_is_text(module, pc); i++, pc += 4) {
        uint32_t word = (uint32_t)arch_word(pc);
        struct access access;

        if (arch_is_return(pc)) {
            way->link = way->link == LINK_UNKNOWN ? LINK_IN_REGISTER : way->link;
            way->returns = true;
            return;
        }
        if (read_access(word, &access)) {
            note_access(way, &access);
        } else if (word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000) { /* bl, blr: it must have been saved */
            way->link = way->link == LINK_UNKNOWN ? LINK_SAVED : way->link;
        } else if (word >> 26 == 5) { /* b */
            if (++jumps > JUMPS_MAX)
                return;
            pc += (uint64_t)(sign_extend(word & 0x3ffffff, 26) * 4) - 4;
        } else if ((word & 0xfffffc1f) == 0xd61f0000 || word >> 16 == 0) { /* br, udf */
            return;
        } else {
            note_arithmetic(way, word);
        }
    }
}

static bool is_sigreturn(const struct walk *w, uint64_t pc)
{
    /* mov x8, #139; svc #0 */
    return pc % 4 == 0 && !(w->how & FRAME_EXACT) && raw_readable(pc) && raw_readable((pc & ~7ull) + 8) &&
           arch_word(pc) == (int)0xd2801168 && arch_word(pc + 4) == ARCH_SVC;
}

COLD bool walk_signal(struct walk *w)
{
    const uint64_t first = w->reg[CFI_SP] + sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext.regs);
    uint64_t word[33];

    if (!w->frames || !is_sigreturn(w, w->reg[CFI_PC]))
        return false;
    for (unsigned i = 0; i < 33; i++)
        if (!walk_load(&w->stack, first + 8 * i, &word[i]))
            return false;
    for (unsigned i = 0; i <= CFI_SP; i++)
        w->reg[i] = word[i];
    w->reg[CFI_PC] = word[32];
    w->known = CFI_BIT(CFI_REGISTERS) - 1;
    w->how = FRAME_BARRIER | FRAME_EXACT;
    walk_enter_stack(w);
    return true;
}

/* Instructions of a linkage stub, which changes x16 and x17 alone: adrp or adr, ldr from x16, add to x16, landing pads
 * and checks of signatures, which are hints. */
static bool is_of_stub(uint32_t word)
{
    return (word & 0x1f00001e) == 0x10000010 || (word & 0xffc003fe) == 0xf9400210 ||
           (word & 0xffc003ff) == 0x91000210 || (word & 0xfffff01f) == 0xd503201f;
}

/*
 * Between a call and what is called the linker may put code that uses x16 and x17 only (Procedure Call Standard, 6.1.1)
 * and jumps by one of them: the return address is in x30. The first stub of a table has also put that on the stack for
 * the loader, with x16. The caller's stack pointer, 0: this is no such code.
 */
static uint64_t stub_caller(const struct walk *w, uint32_t module)
{
    enum { STUB_WORDS = 8, PUSH = (int)0xa9bf7bf0 }; /* stp x16, x30, [sp, #-16]! */
    uint64_t pc = w->reg[CFI_PC], before = pc - 4, pushed = 0;

    if (arch_word(pc) == PUSH)
        pc += 4;
    else
        for (int i = 0; i < STUB_WORDS && !pushed && modules_is_text(module, before); i++, before -= 4) {
            if (arch_word(before) == PUSH)
                pushed = 16;
            else if (!is_of_stub((uint32_t)arch_word(before)))
                break;
        }
    for (int i = 0; i < STUB_WORDS && modules_is_text(module, pc); i++, pc += 4) {
        uint32_t word = (uint32_t)arch_word(pc);

        if ((word & 0xffffffdf) == 0xd61f0200) /* br x16, br x17 */
            return w->reg[CFI_SP] + pushed;
        if (!is_of_stub(word))
            break;
    }
    return 0;
}

/* The record may belong to the return address, if that lies in one. */
void walk_found_return(struct walk *w, uint64_t pc, uint64_t at)
{
    w->reg[CFI_PC] = pc;
    w->reg[CFI_SP] = at + 8;
    w->known = CFI_BIT(CFI_PC);
    if (walk_load(&w->stack, at - 8, &w->reg[CFI_FP]) && w->reg[CFI_FP] > at)
        w->known |= CFI_BIT(CFI_FP);
}

/* The address in x30, if it is one: for the innermost frame. */
static bool step_by_link(struct walk *w, uint64_t caller_sp)
{
    uint64_t pc = arch_code_address(w->reg[CFI_LINK]);

    if (!(w->how & FRAME_EXACT) || !(w->known & CFI_BIT(CFI_LINK)) || !walk_plausible_return(w, pc))
        return false;
    w->known &= ~(CFI_BIT(CFI_LINK) | (caller_sp ? 0 : CFI_BIT(CFI_SP)));
    walk_move(w, pc, caller_sp ? caller_sp : w->reg[CFI_SP], w->reg[CFI_FP], FRAME_BARRIER);
    return true;
}

/* The address that the code loads before it returns. */
static bool step_by_code(struct walk *w, const struct way *way)
{
    uint64_t pc, fp = w->reg[CFI_FP], known = CFI_BIT(CFI_PC) | CFI_BIT(CFI_SP) | (w->known & CFI_BIT(CFI_FP));

    if (!way->returns || !way->link_at || way->sp <= way->link_at || !walk_load(&w->stack, way->link_at, &pc))
        return false;
    pc = arch_code_address(pc);
    if (!walk_plausible_return(w, pc) || (way->fp_at && !walk_load(&w->stack, way->fp_at, &fp)))
        return false;
    w->known = known | (way->fp_at ? CFI_BIT(CFI_FP) : 0);
    walk_move(w, pc, way->sp, fp, FRAME_BARRIER);
    return true;
}

/* The outermost frame has a frame pointer of zero, or a record of zeros. */
static enum step step_by_record(struct walk *w)
{
    uint64_t fp = w->reg[CFI_FP], pc, caller_fp;

    if (!(w->known & CFI_BIT(CFI_FP)))
        return STEP_MORE_REGISTERS;
    if (fp == 0)
        return STEP_END;
    if (fp < w->reg[CFI_SP] || fp % 8 || !walk_load(&w->stack, fp, &caller_fp) || !walk_load(&w->stack, fp + 8, &pc))
        return walk_fail(w, HQM_PARTIAL_NO_CFI);
    if (!pc && !caller_fp)
        return STEP_END;
    pc = arch_code_address(pc);
    if (!walk_plausible_return(w, pc))
        return walk_fail(w, HQM_PARTIAL_NO_CFI);
    walk_move(w, pc, fp + 16, caller_fp, FRAME_BARRIER);
    w->known = WALK_BEHIND_RECORD;
    return STEP_ON;
}

COLD enum step walk_without_cfi(struct walk *w, struct recipe recipe)
{
    struct way way = {.link = LINK_UNKNOWN};
    uint64_t sp = 0;

    if (recipe.module && w->how & FRAME_EXACT && modules_is_text(recipe.module, w->reg[CFI_PC]))
        sp = stub_caller(w, recipe.module);
    if (sp && step_by_link(w, sp))
        return STEP_ON;
    if (recipe.module && modules_is_text(recipe.module, w->reg[CFI_PC]))
        follow_out(w, recipe.module, &way);
    else if (w->how & FRAME_EXACT && step_by_link(w, w->reg[CFI_SP])) /* a call of nothing */
        return STEP_ON;
    if (way.link == LINK_IN_REGISTER && step_by_link(w, way.returns ? way.sp : 0))
        return STEP_ON;
    if (way.link == LINK_SAVED && step_by_code(w, &way))
        return STEP_ON;
    return step_by_record(w);
}
