/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/perf/walk.h"

#include "format/measurement.h"
#include "unwind/arch/x86_64/returns.h"
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

enum { FRAMES_MAX = 8192, ENTRY_BYTES = 64 };
enum step { STEP_ON, STEP_END, STEP_FAILED };

static enum step fail(struct perf_walk *w, uint32_t reason)
{
    w->partial = reason;
    return STEP_FAILED;
}

/* A word of the stack; why there is none is kept in w->missed. */
static bool load(void *walk, uint64_t address, uint64_t *value)
{
    struct perf_walk *w = walk;
    uint64_t at = address - w->low;

    if (address < w->low || at > w->bytes || w->bytes - at < 8) {
        w->missed = address >= w->low && !w->all ? HQM_PARTIAL_COPY : HQM_PARTIAL_STACK_BOUNDS;
        return false;
    }
    memcpy(value, w->stack + at, 8);
    return true;
}

static bool find(struct perf_walk *w, uint64_t address, struct perf_place *place)
{
    return w->lookup(w->where, address, place);
}

static uint64_t here(const struct perf_place *place, uint64_t address)
{
    return perf_image_here(place->image, address - place->bias);
}

/* ---- return addresses ---- */

/* Is this address in code, behind a call instruction? */
static bool is_return(struct perf_walk *w, uint64_t pc)
{
    struct perf_place place;

    if (!find(w, pc - 1, &place) || !place.image)
        return false;
    uint64_t at = here(&place, pc);
    const struct perf_text *text = perf_image_text(place.image, at - 8);

    return text && at <= text->end && return_is_after_call((const uint8_t *)at);
}

/* The bottom of a goroutine's stack: an address in runtime.goexit (nop; call; nop), which nobody has called. */
static bool is_planted_at(const struct perf_place *place, uint64_t pc)
{
    uint64_t at = here(place, pc);
    const struct perf_text *text = perf_image_text(place->image, at - 1);
    const uint8_t *code = (const uint8_t *)at;

    return text && text->end - at > 6 && code[-1] == 0x90 && code[0] == 0xe8 && code[5] == 0x90;
}

static bool is_planted(struct perf_walk *w, uint64_t pc)
{
    struct perf_place place;

    return find(w, pc - 1, &place) && place.image && is_planted_at(&place, pc);
}

static bool is_sigreturn(struct perf_walk *w, uint64_t pc)
{
    struct perf_place place;

    if (!find(w, pc, &place) || !place.image)
        return false;
    uint64_t at = here(&place, pc);
    const struct perf_text *text = perf_image_text(place.image, at);

    return text && text->end - at >= RETURN_SIGNAL_BYTES && return_is_of_signal((const uint8_t *)at);
}

/* ---- by call frame information ---- */

static bool find_cfa(const struct perf_walk *w, const struct cfi_machine *machine, uint64_t *cfa)
{
    const struct cfi_row *row = &w->cfi.row;

    if (row->cfa_rule == CFI_EXPRESSION)
        return cfi_evaluate(&w->cfi, row->cfa_value, machine, NULL, cfa);
    if (row->cfa_rule != CFI_REGISTER || !(w->known >> row->cfa_register & 1))
        return false;
    *cfa = w->reg[row->cfa_register] + (uint64_t)(int64_t)row->cfa_value;
    return true;
}

/* The caller's value of a register. */
static bool restore(struct perf_walk *w, const struct cfi_machine *machine, unsigned number, uint64_t cfa,
                    uint64_t *value)
{
    int32_t operand = w->cfi.row.value[number];
    uint64_t address;

    switch (w->cfi.row.rule[number]) {
    case CFI_SAME: *value = number == CFI_SP ? cfa : w->reg[number]; return number == CFI_SP || w->known >> number & 1;
    case CFI_OFFSET:
        if (cfa + (uint64_t)(int64_t)operand < w->reg[CFI_SP] && w->known >> number & 1) {
            *value = w->reg[number]; /* popped already, in an epilogue */
            return true;
        }
        return load(w, cfa + (uint64_t)(int64_t)operand, value);
    case CFI_VALUE_OFFSET: *value = cfa + (uint64_t)(int64_t)operand; return true;
    case CFI_REGISTER:
        *value = operand >= 0 && operand < CFI_REGISTERS ? w->reg[operand] : 0;
        return operand >= 0 && operand < CFI_REGISTERS && w->known >> operand & 1;
    case CFI_EXPRESSION: return cfi_evaluate(&w->cfi, operand, machine, &cfa, &address) && load(w, address, value);
    case CFI_VALUE_EXPRESSION: return cfi_evaluate(&w->cfi, operand, machine, &cfa, value);
    default: return false;
    }
}

/* Registers that a call preserves: only these are still the frame's in its caller. */
static bool preserved(unsigned number)
{
    return number == CFI_RBX || number == CFI_FP || number == CFI_SP || number >= 12;
}

static enum step step_by_row(struct perf_walk *w)
{
    struct cfi_machine machine = {w->reg, w->known, load, w};
    uint64_t cfa, reg[CFI_REGISTERS];
    uint32_t known = 0;

    w->missed = HQM_PARTIAL_STACK_BOUNDS;
    if (w->cfi.row.rule[CFI_PC] == CFI_UNDEFINED)
        return STEP_END;
    if (!find_cfa(w, &machine, &cfa))
        return fail(w, w->missed);
    for (unsigned i = 0; i < CFI_REGISTERS; i++) {
        reg[i] = 0;
        if ((preserved(i) || w->cfi.signal_frame) && restore(w, &machine, i, cfa, &reg[i]))
            known |= 1u << i;
    }
    if (!(known >> CFI_PC & 1) || !(known >> CFI_SP & 1))
        return fail(w, w->missed);
    bool jumps = w->exact && w->cfi.row.rule[CFI_PC] == CFI_REGISTER && reg[CFI_SP] == w->reg[CFI_SP];
    if (!w->cfi.signal_frame && reg[CFI_SP] <= w->reg[CFI_SP] && !jumps)
        return fail(w, HQM_PARTIAL_STACK_BOUNDS);
    memcpy(w->reg, reg, sizeof reg);
    w->known = known;
    w->exact = w->cfi.signal_frame || jumps;
    return STEP_ON;
}

/* ---- without it ---- */

static struct follow_rule rule(const struct follow *f, uint64_t address)
{
    struct perf_walk *w = f->where;
    struct follow_rule none = {.kind = FOLLOW_RULE_NONE};
    const struct cfi_row *row = &f->scratch->row;
    struct perf_place place;

    /* Where the code goes on is told by addresses in our memory: those of the image that is being followed. */
    if (!find(w, w->reg[CFI_PC] - !w->exact, &place) || !place.image || address < place.image->code.start ||
        address >= place.image->code.end || !cfi_find(address, &place.image->code, f->scratch))
        return none;
    if (row->cfa_rule != CFI_REGISTER || row->rule[CFI_PC] != CFI_OFFSET || row->value[CFI_PC] != -8 ||
        (row->cfa_register != CFI_SP && row->cfa_register != CFI_FP))
        return (struct follow_rule){.kind = FOLLOW_RULE_OTHER};
    return (struct follow_rule){row->cfa_register == CFI_SP ? FOLLOW_RULE_RSP : FOLLOW_RULE_RBP, row->cfa_value,
                                row->rule[CFI_FP] == CFI_OFFSET ? row->value[CFI_FP] : 0};
}

static void move(struct perf_walk *w, uint64_t pc, uint64_t sp, uint64_t bp)
{
    w->reg[CFI_PC] = pc;
    w->reg[CFI_SP] = sp;
    w->reg[CFI_FP] = bp;
    w->exact = false;
}

static bool is_way_back(void *walk, uint64_t pc)
{
    return is_return(walk, pc) || is_planted(walk, pc) || is_sigreturn(walk, pc);
}

/* Steps by following the code: of several ways out just one must have a return address. */
static bool step_by_code(struct perf_walk *w, const struct perf_place *place)
{
    const struct perf_text *text = perf_image_text(place->image, here(place, w->reg[CFI_PC] - !w->exact));
    const struct follow_exit *found;
    struct follow *f = &w->follow;
    uint64_t reg[CFI_REGISTERS], pc;
    uint32_t known = 1u << CFI_SP | 1u << CFI_PC;

    if (!text)
        return false;
    f->load = load;
    f->rule = rule;
    f->where = w;
    f->scratch = &w->cfi;
    f->start = text->start;
    f->end = text->end;
    f->credit = UINT32_MAX;
    memcpy(reg, w->reg, sizeof reg);
    reg[CFI_PC] = here(place, w->reg[CFI_PC]);
    cfi_gap(reg[CFI_PC] - !w->exact, &place->image->code, &w->cfi, &f->start, &f->end);
    if (reg[CFI_PC] >= f->end || !follow_out(f, reg, w->known))
        return false;
    found = follow_exit_of(f, w->reg[CFI_SP], is_way_back, w, &pc);
    if (!found)
        return false;
    for (unsigned i = 0; i < MACHINE_REGISTERS; i++)
        if (follow_evaluate(f, &found->reg[i], &reg[follow_dwarf[i]]))
            known |= 1u << follow_dwarf[i];
    memcpy(w->reg, reg, sizeof reg);
    w->known = known;
    move(w, pc, found->caller_sp, reg[CFI_FP]);
    return true;
}

/* Steps from the frame of a signal handler to the code that the signal interrupted. False if it is no such frame. */
static bool step_interrupted(struct perf_walk *w)
{
    static const uint8_t order[CFI_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                                 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    uint64_t context = w->reg[CFI_SP] + offsetof(ucontext_t, uc_mcontext.gregs), reg[CFI_REGISTERS];

    if (w->exact || !is_sigreturn(w, w->reg[CFI_PC]))
        return false;
    for (unsigned i = 0; i < CFI_REGISTERS; i++)
        if (!load(w, context + 8u * order[i], &reg[i]))
            return false;
    memcpy(w->reg, reg, sizeof reg);
    w->known = (1u << CFI_REGISTERS) - 1;
    w->exact = true;
    return true;
}

/* The program's entry calls what calls main, and a thread's first procedure ends it: nobody called them. */
static bool is_outermost(const struct perf_walk *w, const struct perf_place *place)
{
    static const uint8_t clone_end[] = {0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05}; /* exit(what it returned) */
    uint64_t address = w->reg[CFI_PC] - place->bias, at = here(place, w->reg[CFI_PC]);
    const struct perf_text *text = perf_image_text(place->image, at);

    if (address >= place->image->entry && address - place->image->entry < ENTRY_BYTES)
        return true;
    return !w->exact && text && text->end - at > sizeof clone_end &&
           memcmp((const void *)at, clone_end, sizeof clone_end) == 0;
}

static enum step step_by_frame_pointer(struct perf_walk *w)
{
    uint64_t bp = w->reg[CFI_FP], pc, caller;

    if (!(w->known >> CFI_FP & 1) || bp % 8)
        return fail(w, HQM_PARTIAL_NO_CFI);
    if (bp == 0 && !w->exact)
        return STEP_END; /* as the ABI has it */
    if (bp < w->reg[CFI_SP] || !load(w, bp, &caller) || !load(w, bp + 8, &pc) ||
        !(is_return(w, pc) || is_planted(w, pc)))
        return fail(w, bp >= w->low && bp - w->low < 1 << 24 && w->missed == HQM_PARTIAL_COPY ? HQM_PARTIAL_COPY
                                                                                              : HQM_PARTIAL_NO_CFI);
    w->known = 1u << CFI_SP | 1u << CFI_PC | 1u << CFI_FP;
    move(w, pc, bp + 16, caller);
    return STEP_ON;
}

static enum step step_without_row(struct perf_walk *w, const struct perf_place *place)
{
    uint64_t pc;

    w->missed = 0;
    if (is_outermost(w, place) || (!w->exact && is_planted(w, w->reg[CFI_PC])))
        return STEP_END;
    if (step_interrupted(w) || step_by_code(w, place))
        return STEP_ON;
    if (w->missed == HQM_PARTIAL_COPY)
        return fail(w, HQM_PARTIAL_COPY);
    /* A leaf of code that cannot be followed. */
    if (w->exact && load(w, w->reg[CFI_SP], &pc) && is_return(w, pc)) {
        w->known = 1u << CFI_SP | 1u << CFI_PC | (w->known & 1u << CFI_FP);
        move(w, pc, w->reg[CFI_SP] + 8, w->reg[CFI_FP]);
        return STEP_ON;
    }
    return step_by_frame_pointer(w);
}

/* The frame is the outermost of its stack, above which stands what that memory held before. */
static bool has_changed_stack(const struct perf_walk *w, const struct perf_place *place)
{
    uint64_t address = w->reg[CFI_PC] - place->bias;

    vec_foreach(s, &place->image->switches)
        if (!w->exact && address > s->start && address <= s->end)
            return true;
    return false;
}

static enum step step(struct perf_walk *w)
{
    uint64_t address = w->reg[CFI_PC] - !w->exact;
    struct perf_place place = {0};

    if (!w->reg[CFI_PC] && w->frames.len)
        return STEP_END;
    if (!find(w, address, &place)) {
        if (w->frames.len)
            return fail(w, HQM_PARTIAL_BAD_ADDRESS);
        vec_push(&w->frames, (struct perf_frame){address, UINT32_MAX, address});
        return fail(w, HQM_PARTIAL_BAD_ADDRESS);
    }
    vec_push(&w->frames, (struct perf_frame){address - place.bias, place.module, address});
    if (!place.image)
        return step_by_frame_pointer(w);
    if (has_changed_stack(w, &place))
        return STEP_END;
    if (cfi_find(here(&place, address), &place.image->code, &w->cfi)) {
        /* Its unwind information leads on, to what that memory was used for before. */
        if (!w->exact && is_planted_at(&place, w->reg[CFI_PC]) && !is_return(w, w->reg[CFI_PC]))
            return STEP_END;
        w->called_main = place.image->main && w->cfi.start == perf_image_here(place.image, place.image->main);
        return step_by_row(w);
    }
    enum step next = step_without_row(w, &place);

    /* Frames above main are not shown, and the one in musl never returns, so that its code does not tell its caller:
     * the path ends here. */
    if (next == STEP_FAILED && w->called_main) {
        w->partial = 0;
        return STEP_END;
    }
    w->called_main = false;
    return next;
}

void perf_walk(struct perf_walk *w)
{
    vec_clear(&w->frames);
    w->partial = w->missed = 0;
    w->exact = true;
    w->called_main = false;
    w->low = w->reg[CFI_SP];
    while (step(w) == STEP_ON)
        if (w->frames.len >= FRAMES_MAX) {
            w->partial = HQM_PARTIAL_TOO_DEEP;
            break;
        }
}

void perf_walk_deinit(struct perf_walk *w)
{
    vec_deinit(&w->frames);
}
