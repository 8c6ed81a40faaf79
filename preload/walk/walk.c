/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/walk/walk.h"

#include "preload/hot.h"
#include "preload/patch/original.h"
#include "preload/raw.h"

#include <string.h>

enum { PAGE = 4096, JUMP_MAX = 64 * PAGE, RED_ZONE = ARCH_RED_ZONE };

/* Below the stack pointer a procedure may keep what it likes in the red zone, also what says where its frame is (hand
 * assembly). */
static HOT void enter_stack(struct stack *stack, uint64_t sp)
{
    stack->foreign = sp < stack->own_low || sp >= stack->own_high;
    stack->low = sp - stack->own_low <= RED_ZONE ? stack->own_low : sp - RED_ZONE;
    stack->high = stack->own_high;
    if (stack->foreign) {
        stack->low = sp % PAGE <= RED_ZONE ? sp & ~(PAGE - 1ull) : sp - RED_ZONE;
        stack->high = raw_readable(sp & ~7ull) ? (sp | (PAGE - 1)) + 1 : stack->low;
    }
}

void walk_enter_stack(struct walk *w)
{
    if (w->reg[CFI_SP] < w->stack.low || w->reg[CFI_SP] >= w->stack.high)
        enter_stack(&w->stack, w->reg[CFI_SP]);
}

/* On a foreign stack the known part grows, page by page, to where the walk wants to read. */
static bool reach(struct stack *stack, uint64_t address)
{
    if (!stack->foreign || address < stack->low || address - stack->low > 1ull << 40 ||
        address + 8 - stack->high > JUMP_MAX)
        return false;
    while (address + 8 > stack->high) {
        if (!raw_readable(stack->high))
            return false;
        stack->high += PAGE;
    }
    return true;
}

bool walk_load_far(struct stack *stack, uint64_t address, uint64_t *value)
{
    if (address + 8 < address || !reach(stack, address))
        return false;
    *value = *(const uint64_t *)address;
    return true;
}

static bool load_for_expression(void *stack, uint64_t address, uint64_t *value)
{
    return walk_load(stack, address, value);
}

/* Is the return address in the link register, where information that holds for a while says otherwise? */
static inline bool is_at_return(const struct walk *w)
{
    return CFI_LINKS && w->how & FRAME_EXACT && arch_is_return(w->reg[CFI_PC]);
}

/* To the caller whose address is in the link register. Only what a signal has interrupted can have it there. */
static enum step step_by_link(struct walk *w, uint64_t cfa)
{
    if (!(w->how & FRAME_EXACT) || !(w->known & CFI_BIT(CFI_RETURN)) || !(w->known & CFI_BIT(CFI_SP)))
        return walk_fail(w, HQM_PARTIAL_BAD_ADDRESS);
    w->known &= ~CFI_BIT(CFI_RETURN);
    walk_move(w, arch_code_address(w->reg[CFI_RETURN]), cfa, w->reg[CFI_FP], FRAME_BARRIER);
    return STEP_ON;
}

/*
 * Where the record of a frame is not at its top, the frame pointer alone does not tell the stack pointer: then that of
 * the next frame follows from where the information says its record is, if its frame pointer is there.
 */
static bool find_cfa_by_record(const struct walk *w, const struct recipe *recipe, uint64_t *cfa)
{
    uint64_t pc;

    *cfa = w->reg[CFI_FP] - (uint64_t)(int64_t)recipe->rbp;
    if (!(w->known & CFI_BIT(CFI_FP)) || recipe->kind != RECIPE_SP)
        return false;
    struct stack stack = w->stack;
    return walk_load(&stack, *cfa + (uint64_t)(int64_t)arch_return_of(recipe), &pc) &&
           walk_plausible_return((struct walk *)w, arch_code_address(pc));
}

/* A step by a recipe: two words of the stack at most. */
static HOT enum step step_recipe(struct walk *w, const struct recipe *recipe)
{
    uint64_t sp = w->reg[CFI_SP], bp = w->reg[CFI_FP], pc;
    uint64_t cfa = (recipe->kind == RECIPE_FP ? bp : sp) + (uint64_t)(int64_t)recipe->cfa;
    uint64_t known = CFI_BIT(CFI_SP) | CFI_BIT(CFI_PC) | (w->known & CFI_BIT(CFI_FP));
    int32_t how = 0;

    if (recipe->kind == RECIPE_FP && !(w->known >> CFI_FP & 1))
        return STEP_MORE_REGISTERS;
    if (CFI_LINKS && (recipe->kind == RECIPE_LEAF || is_at_return(w)))
        return step_by_link(w, recipe->kind == RECIPE_LEAF ? cfa : sp);
    if (CFI_LINKS && recipe->kind != RECIPE_FP && !(w->known >> CFI_SP & 1) && !find_cfa_by_record(w, recipe, &cfa))
        return STEP_MORE_REGISTERS;
    if (cfa < sp + 8 || !walk_load(&w->stack, cfa + (uint64_t)(int64_t)arch_return_of(recipe), &pc))
        return walk_fail(w, HQM_PARTIAL_STACK_BOUNDS);
    if (CFI_LINKS && recipe->kind == RECIPE_LINK) {
        w->known = known;
        walk_move(w, arch_code_address(pc), cfa, bp, recipe->rbp);
        return STEP_ON;
    }
    /* In an epilogue the word may have been popped already, while its rule still stands: then rbp is the caller's. */
    if (recipe->rbp && cfa + (uint64_t)(int64_t)recipe->rbp >= sp) {
        if (!walk_load(&w->stack, cfa + (uint64_t)(int64_t)recipe->rbp, &bp))
            return walk_fail(w, HQM_PARTIAL_STACK_BOUNDS);
        how = FRAME_BP | recipe->rbp;
        known |= CFI_BIT(CFI_FP);
    } else if (CFI_LINKS) {
        how = FRAME_BARRIER;
    }
    w->known = known;
    walk_move(w, arch_code_address(pc), cfa, bp, how);
    return STEP_ON;
}

bool walk_plausible_return(struct walk *w, uint64_t pc)
{
    struct recipe recipe = recipe_find(pc - 1, w->memo->cfi);

    if (recipe.kind == RECIPE_LOOSE)
        return raw_readable(pc - 8) && arch_is_call_before(pc);
    return recipe.kind != RECIPE_NONE && recipe.kind != RECIPE_BAD && modules_is_text(recipe.module, pc - 8) &&
           arch_is_call_before(pc);
}

static bool find_cfa(struct walk *w, const struct cfi *cfi, const struct cfi_machine *machine, uint64_t *cfa)
{
    const struct cfi_row *row = &cfi->row;

    if (row->cfa_rule == CFI_EXPRESSION)
        return cfi_evaluate(cfi, row->cfa_value, machine, NULL, cfa);
    if (row->cfa_rule != CFI_REGISTER)
        return false;
    if (CFI_LINKS && row->cfa_register == CFI_SP && !(w->known >> CFI_SP & 1)) {
        struct recipe recipe = {.kind = RECIPE_SP, .rbp = row->value[CFI_FP]};

        return row->rule[CFI_FP] == CFI_OFFSET && row->value[CFI_RETURN] == row->value[CFI_FP] + 8 &&
               find_cfa_by_record(w, &recipe, cfa);
    }
    if (!(w->known >> row->cfa_register & 1))
        return false;
    *cfa = w->reg[row->cfa_register] + (uint64_t)(int64_t)row->cfa_value;
    return true;
}

/* The caller's value of a register. */
static bool restore(struct walk *w, const struct cfi *cfi, const struct cfi_machine *machine, unsigned number,
                    uint64_t cfa, uint64_t *value)
{
    int32_t operand = cfi->row.value[number];
    uint64_t address;

    switch (cfi->row.rule[number]) {
    case CFI_SAME: *value = number == CFI_SP ? cfa : w->reg[number]; return number == CFI_SP || w->known >> number & 1;
    case CFI_OFFSET:
        if (cfa + (uint64_t)(int64_t)operand < w->reg[CFI_SP] && w->known >> number & 1) {
            *value = w->reg[number]; /* popped already, in an epilogue */
            return true;
        }
        return walk_load(&w->stack, cfa + (uint64_t)(int64_t)operand, value);
    case CFI_VALUE_OFFSET: *value = cfa + (uint64_t)(int64_t)operand; return true;
    case CFI_REGISTER:
        *value = operand >= 0 && operand < CFI_REGISTERS ? w->reg[operand] : 0;
        return operand >= 0 && operand < CFI_REGISTERS && w->known >> operand & 1;
    case CFI_EXPRESSION:
        return cfi_evaluate(cfi, operand, machine, &cfa, &address) && walk_load(&w->stack, address, value);
    case CFI_VALUE_EXPRESSION: return cfi_evaluate(cfi, operand, machine, &cfa, value);
    default: return false;
    }
}

/* The return address, out of the column of the link register, whose own value calls destroy. True if the frame has not
 * saved it: then its caller may have the same stack pointer. */
static bool take_link(const struct walk *w, const struct cfi *cfi, uint64_t reg[CFI_REGISTERS], uint64_t *known)
{
    uint8_t rule = cfi->row.rule[CFI_RETURN];

    if (!CFI_LINKS)
        return false;
    if (*known & CFI_BIT(CFI_RETURN))
        *known |= CFI_BIT(CFI_PC);
    reg[CFI_PC] = arch_code_address(reg[CFI_RETURN]);
    *known &= ~CFI_BIT(CFI_RETURN);
    if (rule == CFI_SAME && !(w->how & FRAME_EXACT))
        *known &= ~CFI_BIT(CFI_PC);
    return rule == CFI_SAME || rule == CFI_REGISTER;
}

/* A step by the full row of call frame information. */
static enum step step_general(struct walk *w, const struct cfi *cfi)
{
    struct cfi_machine machine = {w->reg, w->known, load_for_expression, &w->stack};
    uint64_t cfa, reg[CFI_REGISTERS];
    uint64_t known = 0;

    if (cfi->row.rule[CFI_RETURN] == CFI_UNDEFINED)
        return STEP_END;
    if (is_at_return(w))
        return step_by_link(w, w->reg[CFI_SP]);
    if (!find_cfa(w, cfi, &machine, &cfa))
        return w->thorough ? walk_fail(w, HQM_PARTIAL_STACK_BOUNDS) : STEP_MORE_REGISTERS;
    for (unsigned i = 0; i < CFI_REGISTERS; i++) {
        reg[i] = 0;
        if ((cfi_preserved(i) || cfi->signal_frame) && restore(w, cfi, &machine, i, cfa, &reg[i]))
            known |= CFI_BIT(i);
    }
    bool links = take_link(w, cfi, reg, &known);
    if (!(known >> CFI_PC & 1) || !(known >> CFI_SP & 1))
        return walk_fail(w, HQM_PARTIAL_STACK_BOUNDS);
    /* Just before the jump to an exception's handler the caller has the same stack pointer; otherwise stacks grow. */
    bool jumps = !CFI_LINKS && w->how & FRAME_EXACT && cfi->row.rule[CFI_RETURN] == CFI_REGISTER &&
                 reg[CFI_SP] == w->reg[CFI_SP];
    if (!cfi->signal_frame && reg[CFI_SP] <= w->reg[CFI_SP] && !jumps && !(links && reg[CFI_SP] == w->reg[CFI_SP]))
        return walk_fail(w, HQM_PARTIAL_STACK_BOUNDS);
    memcpy(w->reg, reg, sizeof reg);
    w->known = known;
    w->how = FRAME_BARRIER | (cfi->signal_frame || jumps ? FRAME_EXACT : 0);
    if (cfi->signal_frame) {
        patch_original(w->reg);
        walk_enter_stack(w);
    }
    return STEP_ON;
}

static COLD enum step step_by_row(struct walk *w, struct recipe recipe)
{
    uint64_t address = walk_lookup_address(w);
    struct code code;

    if (!modules_find(address, &code) || !cfi_find(address, &code, w->memo->cfi))
        return walk_without_cfi(w, recipe);
    return step_general(w, w->memo->cfi);
}

/*
 * makecontext lets a coroutine "return" to the function that ends it. No call is before that address, so it is the
 * first of its function: the bottom of the coroutine's stack.
 */
COLD bool walk_is_first_instruction(struct walk *w)
{
    struct code code;

    return modules_find(w->reg[CFI_PC], &code) && cfi_find(w->reg[CFI_PC], &code, w->memo->cfi) &&
           w->memo->cfi->start == w->reg[CFI_PC];
}

/*
 * Libraries of coroutines (Boost.Context's make_fcontext) put the address of a piece of their assembly below the first
 * frame. Nobody has called from there, which is how it is known from a procedure without unwind information.
 */
static bool is_planted(const struct walk *w, uint32_t module)
{
    uint64_t pc = w->reg[CFI_PC];

    return w->stack.foreign && modules_is_text(module, pc - 8) && !arch_is_call_before(pc);
}

static inline void note_frame(struct walk *w, uint32_t module)
{
    w->memo->fresh[w->frames++] = (struct frame){w->reg[CFI_PC], w->reg[CFI_SP], w->reg[CFI_FP], {module}, w->how};
}

static COLD enum step step_otherwise(struct walk *w, struct recipe recipe)
{
    struct frame here = {w->reg[CFI_PC], w->reg[CFI_SP], w->reg[CFI_FP], {recipe.module}, w->how};

    /* Where it is in no module, or its information tells less than the registers that the kernel has saved. */
    if (CFI_LINKS && walk_signal(w)) {
        w->memo->fresh[w->frames++] = here;
        return STEP_ON;
    }
    if (recipe_has_no_cfi(recipe.kind) && !(w->how & FRAME_EXACT) && walk_is_first_instruction(w)) {
        w->how |= FRAME_EXACT;
        recipe.kind = RECIPE_END;
    }
    if (recipe_has_no_cfi(recipe.kind) && !(w->how & FRAME_EXACT) && is_planted(w, recipe.module))
        recipe.kind = RECIPE_END;
    if (recipe.kind == RECIPE_NONE || recipe.kind == RECIPE_BAD) {
        if (w->frames && !(w->how & FRAME_EXACT))
            return walk_fail(w, HQM_PARTIAL_BAD_ADDRESS);
        recipe.module = 0;
    }
    note_frame(w, recipe.module);
    if (recipe.kind == RECIPE_END)
        return STEP_END;
    if (recipe.kind == RECIPE_GENERAL || recipe.kind == RECIPE_SP || recipe.kind == RECIPE_FP ||
        recipe.kind == RECIPE_LEAF || recipe.kind == RECIPE_LINK)
        return step_by_row(w, recipe);
    return walk_without_cfi(w, recipe);
}

HOT enum step walk_step(struct walk *w)
{
    struct recipe recipe = recipe_find(walk_lookup_address(w), w->memo->cfi);

    bool common = recipe.kind == RECIPE_SP || recipe.kind == RECIPE_FP ||
                  (CFI_LINKS && (recipe.kind == RECIPE_LEAF || recipe.kind == RECIPE_LINK));

    if (w->thorough || !common)
        return step_otherwise(w, recipe);
    note_frame(w, recipe.module);
    return step_recipe(w, &recipe);
}

HOT void walk_start(struct walk *w, struct memo *memo, const uint64_t reg[CFI_REGISTERS], uint64_t low, uint64_t high)
{
    w->memo = memo;
    w->known = CFI_BIT(CFI_REGISTERS) - 1;
    w->how = FRAME_EXACT;
    w->frames = w->partial = 0;
    w->unknown = false;
    w->leaf = reg;
    memcpy(w->reg, reg, sizeof w->reg);
    w->stack.own_low = low;
    w->stack.own_high = high;
    enter_stack(&w->stack, reg[CFI_SP]);
}

bool walk_to_end(struct walk *w)
{
    while (w->frames < FRAMES_MAX)
        switch (walk_step(w)) {
        case STEP_ON: break;
        case STEP_END: return true;
        default: return false;
        }
    return false;
}
