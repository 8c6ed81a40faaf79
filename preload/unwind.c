/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/unwind.h"

#include "preload/lane.h"
#include "preload/raw.h"

#include <string.h>

enum { PAGE = 4096, JUMP_MAX = 64 * PAGE };

/* The walk as it stands at a frame. */
struct walk {
    struct stack stack;
    struct memo *memo;
    uint64_t reg[CFI_REGISTERS];
    uint32_t known;             /* which of reg are the frame's; rsp, rbp and rip always */
    int32_t how;
    uint32_t frames;            /* in memo->fresh */
    uint32_t partial;
    bool thorough;              /* follow all registers, ignore recipes and the memo */
};

enum step { STEP_ON, STEP_END, STEP_FAILED, STEP_MORE_REGISTERS };

void unwind_registers(const ucontext_t *context, uint64_t reg[CFI_REGISTERS])
{
    static const uint8_t order[CFI_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
        REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };

    for (int i = 0; i < CFI_REGISTERS; i++)
        reg[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

static void enter_stack(struct stack *stack, uint64_t sp)
{
    stack->foreign = sp < stack->own_low || sp >= stack->own_high;
    stack->low = sp;
    stack->high = stack->own_high;
    if (stack->foreign)
        stack->high = raw_readable(sp & ~7ull) ? (sp | (PAGE - 1)) + 1 : sp;
}

/* On a foreign stack the known part grows, page by page, to where the walk wants to read. */
static bool reach(struct stack *stack, uint64_t address)
{
    if (!stack->foreign || address < stack->low || address - stack->low > 1ull << 40 || address + 8 - stack->high > JUMP_MAX)
        return false;
    while (address + 8 > stack->high) {
        if (!raw_readable(stack->high))
            return false;
        stack->high += PAGE;
    }
    return true;
}

static inline bool load(struct stack *stack, uint64_t address, uint64_t *value)
{
    if (address < stack->low || address + 8 > stack->high || address + 8 < address)
        if (address + 8 < address || !reach(stack, address))
            return false;
    memcpy(value, (const void *)address, sizeof *value);
    return true;
}

static bool load_for_expression(void *stack, uint64_t address, uint64_t *value)
{
    return load(stack, address, value);
}

static enum step fail(struct walk *w, uint32_t reason)
{
    w->partial = reason;
    return STEP_FAILED;
}

static inline void move(struct walk *w, uint64_t pc, uint64_t sp, uint64_t bp, int32_t how)
{
    w->reg[CFI_RIP] = pc;
    w->reg[CFI_RSP] = sp;
    w->reg[CFI_RBP] = bp;
    w->how = how;
}

/* A step by a recipe: two words of the stack at most. */
static enum step step_recipe(struct walk *w, const struct recipe *recipe)
{
    uint64_t sp = w->reg[CFI_RSP], bp = w->reg[CFI_RBP], pc;
    uint64_t cfa = (recipe->kind == RECIPE_RSP ? sp : bp) + (uint64_t)(int64_t)recipe->cfa;
    int32_t how = 0;

    if (cfa < sp + 8 || !load(&w->stack, cfa - 8, &pc))
        return fail(w, HQM_PARTIAL_STACK_BOUNDS);
    /* In an epilogue the word may have been popped already, while its rule still stands: then rbp is the caller's. */
    if (recipe->rbp && cfa + (uint64_t)(int64_t)recipe->rbp >= sp) {
        if (!load(&w->stack, cfa + (uint64_t)(int64_t)recipe->rbp, &bp))
            return fail(w, HQM_PARTIAL_STACK_BOUNDS);
        how = FRAME_BP | recipe->rbp;
    }
    w->known = 1u << CFI_RSP | 1u << CFI_RBP | 1u << CFI_RIP;
    move(w, pc, cfa, bp, how);
    return STEP_ON;
}

/* Bytes before a return address that a call instruction may consist of. */
static bool after_call(uint64_t pc)
{
    const uint8_t *code = (const uint8_t *)pc;

    if (code[-5] == 0xe8)
        return true;
    for (int bytes = 2; bytes <= 7; bytes++)
        if (code[-bytes] == 0xff && (code[1 - bytes] & 0x38) == 0x10)
            return true;
    return false;
}

static bool plausible_return(struct walk *w, uint64_t pc)
{
    struct recipe recipe = recipe_find(pc - 1, w->memo->cfi);

    return recipe.kind != RECIPE_NONE && recipe.kind != RECIPE_BAD && modules_is_text(recipe.module, pc - 8) && after_call(pc);
}

/* Without unwind information: a leaf may not have touched the stack yet; otherwise only a frame pointer helps. */
static enum step step_without_cfi(struct walk *w)
{
    uint64_t sp = w->reg[CFI_RSP], bp = w->reg[CFI_RBP], pc, caller_bp;

    if (w->how & FRAME_EXACT && load(&w->stack, sp, &pc) && plausible_return(w, pc)) {
        move(w, pc, sp + 8, bp, FRAME_BARRIER);
        w->known = 1u << CFI_RSP | 1u << CFI_RBP | 1u << CFI_RIP;
        return STEP_ON;
    }
    if (bp == 0 && !w->stack.foreign && w->stack.own_high - sp < 1 << 16)
        return STEP_END;    /* the ABI marks the outermost frame so */
    if (bp < sp || bp % 8 || !load(&w->stack, bp, &caller_bp) || !load(&w->stack, bp + 8, &pc) || !plausible_return(w, pc))
        return fail(w, HQM_PARTIAL_NO_CFI);
    move(w, pc, bp + 16, caller_bp, FRAME_BARRIER);
    w->known = 1u << CFI_RSP | 1u << CFI_RBP | 1u << CFI_RIP;
    return STEP_ON;
}

static bool find_cfa(struct walk *w, const struct cfi *cfi, const struct cfi_machine *machine, uint64_t *cfa)
{
    const struct cfi_row *row = &cfi->row;

    if (row->cfa_rule == CFI_EXPRESSION)
        return cfi_evaluate(cfi, row->cfa_value, machine, NULL, cfa);
    if (row->cfa_rule != CFI_REGISTER || !(w->known >> row->cfa_register & 1))
        return false;
    *cfa = w->reg[row->cfa_register] + (uint64_t)(int64_t)row->cfa_value;
    return true;
}

/* The caller's value of a register. */
static bool restore(struct walk *w, const struct cfi *cfi, const struct cfi_machine *machine, unsigned number, uint64_t cfa,
                    uint64_t *value)
{
    int32_t operand = cfi->row.value[number];
    uint64_t address;

    switch (cfi->row.rule[number]) {
    case CFI_SAME:
        *value = number == CFI_RSP ? cfa : w->reg[number];
        return number == CFI_RSP || w->known >> number & 1;
    case CFI_OFFSET:
        if (cfa + (uint64_t)(int64_t)operand < w->reg[CFI_RSP] && w->known >> number & 1) {
            *value = w->reg[number];    /* popped already, in an epilogue */
            return true;
        }
        return load(&w->stack, cfa + (uint64_t)(int64_t)operand, value);
    case CFI_VALUE_OFFSET:
        *value = cfa + (uint64_t)(int64_t)operand;
        return true;
    case CFI_REGISTER:
        *value = operand >= 0 && operand < CFI_REGISTERS ? w->reg[operand] : 0;
        return operand >= 0 && operand < CFI_REGISTERS && w->known >> operand & 1;
    case CFI_EXPRESSION:
        return cfi_evaluate(cfi, operand, machine, &cfa, &address) && load(&w->stack, address, value);
    case CFI_VALUE_EXPRESSION:
        return cfi_evaluate(cfi, operand, machine, &cfa, value);
    default:
        return false;
    }
}

/* Registers that a call preserves: only these are still the frame's in its caller. */
static bool preserved(unsigned number)
{
    return number == CFI_RBX || number == CFI_RBP || number == CFI_RSP || number >= 12;
}

/* A step by the full row of call frame information. */
static enum step step_general(struct walk *w, const struct cfi *cfi)
{
    struct cfi_machine machine = { w->reg, w->known, load_for_expression, &w->stack };
    uint64_t cfa, reg[CFI_REGISTERS];
    uint32_t known = 0;

    if (cfi->row.rule[CFI_RIP] == CFI_UNDEFINED)
        return STEP_END;
    if (!find_cfa(w, cfi, &machine, &cfa))
        return w->thorough ? fail(w, HQM_PARTIAL_STACK_BOUNDS) : STEP_MORE_REGISTERS;
    for (unsigned i = 0; i < CFI_REGISTERS; i++) {
        reg[i] = 0;
        if ((preserved(i) || cfi->signal_frame) && restore(w, cfi, &machine, i, cfa, &reg[i]))
            known |= 1u << i;
    }
    if (!(known >> CFI_RIP & 1) || !(known >> CFI_RSP & 1))
        return fail(w, HQM_PARTIAL_STACK_BOUNDS);
    if (!cfi->signal_frame && reg[CFI_RSP] <= w->reg[CFI_RSP])
        return fail(w, HQM_PARTIAL_STACK_BOUNDS);
    memcpy(w->reg, reg, sizeof reg);
    w->known = known | 1u << CFI_RBP;
    w->how = FRAME_BARRIER | (cfi->signal_frame ? FRAME_EXACT : 0);
    if (cfi->signal_frame && (reg[CFI_RSP] < w->stack.low || reg[CFI_RSP] >= w->stack.high))
        enter_stack(&w->stack, reg[CFI_RSP]);
    return STEP_ON;
}

static uint64_t lookup_address(const struct walk *w)
{
    return w->how & FRAME_EXACT ? w->reg[CFI_RIP] : w->reg[CFI_RIP] - 1;
}

static enum step step_by_row(struct walk *w)
{
    uint64_t address = lookup_address(w);
    struct code code;

    if (!modules_find(address, &code))
        return step_without_cfi(w);
    if (!cfi_find(address, &code, w->memo->cfi))
        return step_without_cfi(w);
    return step_general(w, w->memo->cfi);
}

/* Notes the frame and goes to its caller. A return address that is in no code ends the path. */
static enum step step_out(struct walk *w)
{
    struct recipe recipe = recipe_find(lookup_address(w), w->memo->cfi);
    struct frame *frame = &w->memo->fresh[w->frames];

    if (recipe.kind == RECIPE_NONE || recipe.kind == RECIPE_BAD) {
        if (w->frames && !(w->how & FRAME_EXACT))
            return fail(w, HQM_PARTIAL_BAD_ADDRESS);
        recipe.module = 0;
    }
    *frame = (struct frame){ w->reg[CFI_RIP], w->reg[CFI_RSP], w->reg[CFI_RBP], recipe.module, w->how };
    w->frames++;
    if (recipe.kind == RECIPE_RSP || recipe.kind == RECIPE_RBP)
        return w->thorough ? step_by_row(w) : step_recipe(w, &recipe);
    if (recipe.kind == RECIPE_END)
        return STEP_END;
    return recipe.kind == RECIPE_GENERAL ? step_by_row(w) : step_without_cfi(w);
}

/*
 * Are all words that led from frame `index` of the previous sample to its outermost frame what they were? On failure
 * `index` becomes the first frame beyond the difference.
 */
static bool memo_holds(struct walk *w, uint32_t *index)
{
    const struct frame *frames = w->memo->frames;
    uint64_t value;

    for (uint32_t i = *index; i-- > 0;) {
        const struct frame *f = &frames[i];
        bool same = !(f->how & FRAME_BARRIER) && load(&w->stack, f->sp - 8, &value) && value == f->pc;

        if (same && f->how & FRAME_BP)
            same = load(&w->stack, f->sp + (uint64_t)(int64_t)(f->how & ~7), &value) && value == f->bp;
        if (!same) {
            *index = i;
            return false;
        }
    }
    return true;
}

/* Walks outwards; returns how many frames of the previous sample stay. */
static uint32_t walk(struct walk *w)
{
    struct memo *memo = w->memo;
    uint32_t candidate = w->thorough ? 0 : memo->depth;

    for (;;) {
        uint64_t sp = w->reg[CFI_RSP];

        while (candidate && memo->frames[candidate - 1].sp < sp)
            candidate--;
        if (candidate && memo->frames[candidate - 1].sp == sp) {
            const struct frame *f = &memo->frames[candidate - 1];
            uint32_t index = candidate - 1;
            if (f->pc == w->reg[CFI_RIP] && f->bp == w->reg[CFI_RBP] && (f->how & FRAME_EXACT) == (w->how & FRAME_EXACT)) {
                if (memo_holds(w, &index))
                    return candidate;
                candidate = index;
            }
        }
        if (w->frames >= FRAMES_MAX) {
            w->partial = HQM_PARTIAL_TOO_DEEP;
            return 0;
        }
        if (w->reg[CFI_RIP] == 0 && w->frames) {
            memo->fresh[w->frames++] = (struct frame){ 0, sp, w->reg[CFI_RBP], 0, w->how };
            return 0;
        }
        switch (step_out(w)) {
        case STEP_ON: break;
        case STEP_END: return 0;
        case STEP_FAILED: return 0;
        case STEP_MORE_REGISTERS: w->partial = HQM_PARTIAL_MAX; return 0;
        }
    }
}

/* Puts the fresh frames inside the kept ones, with their nodes. */
static uint32_t insert(struct lane *lane, struct walk *w, uint32_t kept)
{
    struct memo *memo = &lane->memo;
    uint32_t node = kept ? memo->frames[kept - 1].node : 0;

    if (w->partial)
        node = lane_child(lane, 0, (uint32_t)HQM_NODE_PARTIAL << HQM_MODULE_BITS, w->partial);
    for (uint32_t i = w->frames; i-- > 0 && node != NO_NODE;) {
        struct frame *f = &memo->fresh[i];
        uint32_t module = f->node;

        if (f->pc && !(module && modules_is_own(module))) {
            uint64_t offset = f->pc - (module ? modules_get(module)->base : 0) - (f->how & FRAME_EXACT ? 0 : 1);
            node = lane_child(lane, node, (uint32_t)HQM_NODE_FRAME << HQM_MODULE_BITS | module, offset);
        }
        f->node = node;
        memo->frames[kept++] = *f;
    }
    memo->depth = w->partial || node == NO_NODE ? 0 : kept;
    return node;
}

static void start(struct walk *w, struct memo *memo, const uint64_t reg[CFI_REGISTERS], uint64_t low, uint64_t high)
{
    w->memo = memo;
    w->known = (1u << CFI_REGISTERS) - 1;
    w->how = FRAME_EXACT;
    w->frames = w->partial = 0;
    memcpy(w->reg, reg, sizeof w->reg);
    w->stack.own_low = low;
    w->stack.own_high = high;
    enter_stack(&w->stack, reg[CFI_RSP]);
}

uint32_t unwind(struct lane *lane, const uint64_t reg[CFI_REGISTERS], uint64_t low, uint64_t high, uint32_t *partial)
{
    struct memo *memo = &lane->memo;
    uint32_t generation = recipe_generation(), kept;
    struct walk w;

    if (memo->generation != generation) {
        memo->generation = generation;
        memo->depth = 0;
    }
    w.thorough = false;
    start(&w, memo, reg, low, high);
    kept = walk(&w);
    if (w.partial == HQM_PARTIAL_MAX || (kept + w.frames > FRAMES_MAX && !w.partial)) {
        w.thorough = true;
        start(&w, memo, reg, low, high);
        kept = walk(&w);
    }
    memo->hits += kept > 0;
    memo->frames_reused += kept;
    memo->frames_walked += w.frames;
    *partial = w.partial;
    return insert(lane, &w, kept);
}

void unwind_forget(struct lane *lane)
{
    lane->memo.depth = 0;
}
