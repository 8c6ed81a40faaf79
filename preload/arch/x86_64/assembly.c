/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The step from a frame without call frame information: by what its machine code does (follow.h), kept as a recipe, or
 * by its frame pointer.
 *
 * Whatever the code says, the word that it calls the return address must be one: behind a call, in the code of a
 * module.
 */
#include "preload/arch/x86_64/rule.h"
#include "preload/hot.h"
#include "preload/walk/walk.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/*
 * How a rule read from code is packed in the `cfa` of a recipe, in units of 8. RECIPE_CODE: CFA = register + distance.
 * RECIPE_CODE_SAVED: CFA = what is saved at rsp + 8 * via, + distance.
 */
enum { REGISTER_BITS = 4, DISTANCE_MAX = 1 << 12, SAVED_DISTANCE_BITS = 5, VIA_MAX = 1 << 11 };
static_assert(sizeof(struct follow) <= ARCH_SCRATCH_BYTES, "it has its place in the lane");
enum { INSTRUCTIONS_MAX = 400 };
enum { FRAME_KNOWN = 1 << CFI_SP | 1 << CFI_FP | 1 << CFI_PC };

/*
 * Interpreters of virtual machines push return addresses of their own making, behind no call, and so does who makes a
 * stack (Go's goexit), with a frame pointer of zero. A chain of frame pointers is proof enough there.
 */
static bool plausible_in_chain(struct walk *w, uint64_t pc, uint64_t caller_bp)
{
    uint32_t kind = recipe_find(pc - 1, w->memo->cfi).kind;

    return kind == RECIPE_LOOSE || (recipe_has_no_cfi(kind) && caller_bp == 0 && w->stack.foreign) ||
           walk_plausible_return(w, pc);
}

/* The ABI marks the outermost frame by a frame pointer of zero. On a foreign stack it is believed if a chain of them
 * led there (goroutines). */
static bool is_outermost(struct walk *w)
{
    if (!w->stack.foreign)
        return w->stack.own_high - w->reg[CFI_SP] < 1 << 16;
    if (w->frames < 2)
        return false;
    const struct frame *inner = &w->memo->fresh[w->frames - 2];
    uint32_t kind = recipe_find(inner->pc - !(inner->how & FRAME_EXACT), w->memo->cfi).kind;
    return recipe_has_no_cfi(kind) || kind == RECIPE_LOOSE;
}

/* A call of nothing, or a leaf in code of no module: it has hardly touched the stack. */
static bool step_leaf(struct walk *w)
{
    uint64_t sp = w->reg[CFI_SP], bp = w->reg[CFI_FP], pc;

    for (uint64_t at = sp; w->how & FRAME_EXACT && at < sp + 32 && at != bp + 8 && walk_load(&w->stack, at, &pc);
         at += 8)
        if (walk_plausible_return(w, pc)) {
            walk_move(w, pc, at + 8, bp, FRAME_BARRIER);
            w->known = FRAME_KNOWN;
            return true;
        }
    return false;
}

/* Padding, as between procedures, behind an instruction that does not go on? */
static bool ends_procedure(const struct machine *m, const uint8_t *next)
{
    bool ends = m->kind == MACHINE_RETURN || m->kind == MACHINE_JUMP;

    return *next == 0xcc ||
           (ends && (*next == 0x90 || *next == 0x66 || *next == 0x2e || (*next == 0x0f && next[1] == 0x1f)));
}

/* Was the procedure of this frame called there, and does it make its frame pointer before it comes to where it is? */
static bool made_frame(struct walk *w, uint64_t pc)
{
    uint64_t here = walk_lookup_address(w), at;
    bool made = false;
    struct machine call, m;
    struct code code;

    if (!modules_find(here, &code) || !modules_is_text(code.module, pc - 5) ||
        !machine_decode((const uint8_t *)pc - 5, (const uint8_t *)pc, &call) || call.kind != MACHINE_CALL ||
        !call.target || !modules_is_text(code.module, call.target))
        return false;
    at = call.target;
    for (int i = 0; i < INSTRUCTIONS_MAX && at < here; i++, at += m.length) {
        if (!machine_decode((const uint8_t *)at, (const uint8_t *)here + 1, &m) ||
            ends_procedure(&m, (const uint8_t *)at + m.length))
            return false;
        made |= m.kind == MACHINE_MOVE && m.reg == MACHINE_RBP && m.base == MACHINE_RSP;
    }
    return made && at == here + !(w->how & FRAME_EXACT);
}

/* The frame pointer may be an outer frame's, or data: where `proof` is wanted, the call tells that the procedure has
 * made it. */
static enum step step_by_frame_pointer(struct walk *w, bool proof)
{
    uint64_t sp = w->reg[CFI_SP], bp = w->reg[CFI_FP], pc, caller_bp;

    if (bp == 0 && is_outermost(w))
        return STEP_END;
    if (bp < sp || bp % 8 || !walk_load(&w->stack, bp, &caller_bp) || !walk_load(&w->stack, bp + 8, &pc) ||
        !plausible_in_chain(w, pc, caller_bp) || (proof && !made_frame(w, pc)))
        return walk_fail(w, HQM_PARTIAL_NO_CFI);
    walk_move(w, pc, bp + 16, caller_bp, FRAME_BP | -16);
    w->known = FRAME_KNOWN;
    return STEP_ON;
}

/* A step by a recipe that was read from code before. False: that did not lead to a return address. */
static bool step_by_rule(struct walk *w, const struct recipe *recipe)
{
    uint32_t packed = (uint32_t)recipe->cfa / 8, base = packed % (1 << REGISTER_BITS);
    uint64_t sp = w->reg[CFI_SP], bp = w->reg[CFI_FP], cfa, pc;
    int32_t how = base == MACHINE_RSP ? 0 : FRAME_BARRIER;

    if (recipe->kind == RECIPE_CODE_SAVED) {
        if (!walk_load(&w->stack, sp + packed / (1 << SAVED_DISTANCE_BITS) * 8, &cfa))
            return false;
        cfa += packed % (1 << SAVED_DISTANCE_BITS) * 8;
        how = FRAME_BARRIER;
    } else {
        if (!(w->known >> follow_dwarf[base] & 1))
            return false;
        cfa = w->reg[follow_dwarf[base]] + packed / (1 << REGISTER_BITS) * 8;
    }
    if (cfa < sp + 8 || cfa % 8 || !walk_load(&w->stack, cfa - 8, &pc) || !walk_plausible_return(w, pc))
        return false;
    w->known = 1u << CFI_SP | 1u << CFI_PC | (w->known & CFI_BIT(CFI_FP));
    if (recipe->rbp) {
        if (!walk_load(&w->stack, cfa + (uint64_t)(int64_t)recipe->rbp, &bp))
            return false;
        how |= FRAME_BP | recipe->rbp;
        w->known |= 1u << CFI_FP;
    }
    walk_move(w, pc, cfa, bp, how);
    return true;
}

/* How far the CFA is above what the rule is about; the caller's frame begins there. */
static bool pack_cfa(const struct walk *w, const struct follow_exit *exit, struct recipe *recipe)
{
    const struct follow_value *at = &exit->at;
    uint64_t saved, up;

    if (exit->caller_sp != at->word + 8)
        return false;
    if (at->origin < MACHINE_REGISTERS) {
        up = (exit->caller_sp - w->reg[follow_dwarf[at->origin]]) / 8;
        recipe->kind = RECIPE_CODE;
        recipe->cfa = (int32_t)(up << REGISTER_BITS | at->origin) * 8;
        return up < DISTANCE_MAX;
    }
    if (at->origin != FOLLOW_SAVED || at->via < 0 || at->via >= VIA_MAX ||
        !follow_evaluate(w->memo->follow,
                         &(struct follow_value){.word = w->reg[CFI_SP] + 8 * (uint64_t)at->via, .kind = FOLLOW_AT},
                         &saved))
        return false;
    up = (exit->caller_sp - saved) / 8;
    recipe->kind = RECIPE_CODE_SAVED;
    recipe->cfa = (int32_t)((uint32_t)at->via << SAVED_DISTANCE_BITS | up) * 8;
    return up < 1 << SAVED_DISTANCE_BITS;
}

/* Keeps what was found if it is the same for every frame there. */
static void keep(const struct walk *w, const struct follow_exit *exit, uint32_t module)
{
    const struct follow_value *bp = &exit->reg[MACHINE_RBP];
    struct recipe recipe = {.module = module};

    if (bp->kind == FOLLOW_AT && bp->plus == 0 && bp->origin == exit->at.origin && bp->via == exit->at.via)
        recipe.rbp = (int32_t)(bp->word - exit->caller_sp);
    else if (bp->kind == FOLLOW_AT || bp->origin != MACHINE_RBP || bp->word != w->reg[CFI_FP])
        return;
    if (recipe.rbp <= -8 || recipe.rbp == 0)
        if (pack_cfa(w, exit, &recipe))
            recipe_keep(walk_lookup_address(w), w->memo->follow->steady, &recipe);
}

/* To the caller, with all registers that the way out says something about. */
static void take(struct walk *w, const struct follow_exit *exit, uint64_t pc)
{
    uint64_t reg[CFI_REGISTERS] = {0};
    uint32_t known = 1u << CFI_SP | 1u << CFI_PC;

    for (unsigned i = 0; i < MACHINE_REGISTERS; i++)
        if (follow_evaluate(w->memo->follow, &exit->reg[i], &reg[follow_dwarf[i]]))
            known |= 1u << follow_dwarf[i];
    for (unsigned i = 0; i < CFI_REGISTERS; i++)
        w->reg[i] = reg[i];
    w->known = known;
    walk_move(w, pc, exit->caller_sp, reg[CFI_FP], FRAME_BARRIER);
}

static bool load(void *stack, uint64_t address, uint64_t *value)
{
    return walk_load(stack, address, value);
}

/* Where the frame's machine code may be read. */
static bool bounds(struct walk *w, struct follow *f, struct code *code)
{
    uint64_t address = walk_lookup_address(w);
    const struct module *module;

    if (!modules_find(address, code))
        return false;
    module = modules_get(code->module);
    for (int i = 0; i < MODULE_TEXTS; i++)
        if (address >= module->text[i].start && address < module->text[i].end) {
            f->start = module->text[i].start;
            f->end = module->text[i].end;
            cfi_gap(address, code, w->memo->cfi, &f->start, &f->end);
            return w->reg[CFI_PC] < f->end;
        }
    return false;
}

static bool is_sigreturn(struct walk *w, uint64_t pc)
{
    struct recipe recipe = recipe_find(pc, w->memo->cfi);

    return recipe.module && modules_is_text(recipe.module, pc + RETURN_SIGNAL_BYTES) &&
           return_is_of_signal((const uint8_t *)pc);
}

/* Walks from a signal handler to the code that the signal interrupted, where the code that returns from it has no call
 * frame information either. */
COLD bool walk_signal(struct walk *w)
{
    const uint64_t context = w->reg[CFI_SP];
    ucontext_t copy;
    uint64_t *words = (uint64_t *)&copy;
    size_t bytes = offsetof(ucontext_t, uc_mcontext.fpregs);

    if (w->how & FRAME_EXACT || !is_sigreturn(w, w->reg[CFI_PC]))
        return false;
    for (size_t i = 0; i < bytes / 8; i++)
        if (!walk_load(&w->stack, context + 8 * i, &words[i]))
            return false;
    unwind_registers(&copy, w->reg);
    w->known = (1u << CFI_REGISTERS) - 1;
    w->how = FRAME_BARRIER | FRAME_EXACT;
    walk_enter_stack(w);
    return true;
}

static bool is_way_back(void *walk, uint64_t pc)
{
    return walk_plausible_return(walk, pc) || is_sigreturn(walk, pc);
}

/* By reading the code. Of several ways out one must be the only one with a return address. */
static bool step_by_code(struct walk *w)
{
    const struct follow_exit *found;
    struct follow *f = w->memo->follow;
    uint64_t pc;
    struct code code;

    f->load = load;
    f->rule = recipe_rule;
    f->where = &w->stack;
    f->scratch = w->memo->cfi;
    if (!bounds(w, f, &code) || !follow_out(f, w->reg, (uint32_t)w->known))
        return false;
    found = follow_exit_of(f, w->reg[CFI_SP], is_way_back, w, &pc);
    if (!found)
        return false;
    if (f->exits == 1 && !f->disagree)
        keep(w, found, code.module);
    take(w, found, pc);
    return true;
}

/* The frame before it was left by what its code says about more than the frame's own registers: all of them may help.
 */
static bool registers_may_help(const struct walk *w)
{
    return !w->thorough && w->frames == 2 && recipe_has_no_cfi(recipe_find(w->memo->fresh[0].pc, w->memo->cfi).kind);
}

void walk_found_return(struct walk *w, uint64_t pc, uint64_t at)
{
    w->reg[CFI_PC] = pc;
    w->reg[CFI_SP] = at + 8;
    w->known = CFI_BIT(CFI_PC) | CFI_BIT(CFI_SP);
}

COLD enum step walk_without_cfi(struct walk *w, struct recipe recipe)
{
    struct recipe silent = {.kind = RECIPE_CODE_SILENT, .module = recipe.module};

    if (walk_signal(w))
        return STEP_ON;
    if (!recipe_has_no_cfi(recipe.kind))
        return step_leaf(w) ? STEP_ON : step_by_frame_pointer(w, false);
    if (!w->thorough && (recipe.kind == RECIPE_CODE || recipe.kind == RECIPE_CODE_SAVED) && step_by_rule(w, &recipe))
        return STEP_ON;
    if (recipe.kind != RECIPE_CODE_SILENT && follow_may(w->memo->follow)) {
        if (step_by_code(w))
            return STEP_ON;
        if (registers_may_help(w))
            return STEP_MORE_REGISTERS;
        if (recipe.kind == RECIPE_NO_CFI)
            recipe_keep(walk_lookup_address(w), walk_lookup_address(w), &silent);
    }
    return step_by_frame_pointer(w, !w->stack.foreign);
}
