/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two steps. Sure starts of procedures cut a gap into regions: behind padding of trap instructions, which lld and Go
 * leave between procedures and nowhere else, or with a prologue where control does not come from above. Only one for
 * each chunk of code is looked for, so that a region is found by decoding little. Then code is followed from the start
 * of the region: a procedure ends where control cannot go on, no branch so far leads further, and what follows is
 * aligned as procedures are.
 */
#include "structure/gap.h"
#include "common/vec.h"
#include "structure/arch/arch.h"
#include <string.h>

#define CHUNK     0x400u
#define SPAN      0x40000u /* its multiples are starts in any case: nothing is looked for further away */
#define ALIGNMENT 16u

struct walk {
    const struct arch *arch;
    const uint8_t *code; /* of low */
    uint64_t low, high;
    uint64_t reach; /* the furthest that a branch of this procedure leads */
    bool table;     /* it has an indirect jump: who knows where that leads */
};

/* The bytes of [low, high), of which the file may have fewer. */
static struct walk walk_over(const struct elf *text, uint64_t low, uint64_t high)
{
    size_t available;
    struct walk w = {.arch = arch_of(text->machine), .code = elf_at(text, low, &available), .low = low, .high = high};

    if (high - low > available)
        w.high = low + available;
    return w;
}

static void decode(const struct walk *w, uint64_t at, struct insn *out)
{
    insn_decode(w->arch->machine, w->code + (at - w->low), w->high - at, at, out);
}

static bool is_trap(const struct walk *w, uint64_t at)
{
    return at < w->high && w->high - at >= w->arch->unit && w->arch->is_trap(w->code + (at - w->low));
}

/* Traps, nops and zeros. */
static uint64_t skip_padding(const struct walk *w, uint64_t at)
{
    struct insn in;

    while (at < w->high) {
        const uint8_t *p = w->code + (at - w->low);
        bool zeros = w->high - at >= 2 && !p[0] && !p[1];

        decode(w, at, &in);
        if (in.kind != INSN_NOP && !is_trap(w, at) && !zeros)
            break;
        at += zeros && w->arch->unit == 1 ? 2 : in.length;
    }
    return at;
}

/* Whether the code at an address begins with instructions that hardly occur but at the start of a procedure. */
static bool has_prologue(const struct walk *w, uint64_t at)
{
    return w->high - at >= 4 && w->arch->has_prologue(w->code + (at - w->low));
}

/* A call may not return; then what follows shows that it is another procedure. */
static bool ends_path(const struct insn *in)
{
    return in->kind == INSN_CALL || in->kind == INSN_RETURN || in->kind == INSN_JUMP ||
           in->kind == INSN_JUMP_INDIRECT || in->kind == INSN_STOP;
}

static bool has_traps(const struct walk *w, uint64_t at)
{
    return is_trap(w, at) && is_trap(w, at + w->arch->unit);
}

/* Whether something surely begins behind the end of a path, and where; 0 if not. */
static uint64_t sure_start(const struct walk *w, uint64_t end)
{
    uint64_t next = skip_padding(w, end);

    if (next >= w->high || next % ALIGNMENT)
        return 0;
    return has_traps(w, end) || has_prologue(w, next) ? next : 0;
}

/* The first sure start in a chunk of a gap: an end of a path lies in it. */
static uint64_t boundary_in(struct gaps *g, uint64_t chunk, uint64_t high)
{
    const uint64_t *known = map_find(&g->boundaries, chunk);
    uint64_t end = high - chunk < CHUNK ? high : chunk - chunk % CHUNK + CHUNK, found = 0;
    struct walk w = walk_over(g->text, chunk, high - end < CHUNK ? high : end + CHUNK);
    struct insn in;

    if (known)
        return *known;
    for (uint64_t at = chunk; at < end && at < w.high && !found; at += in.length) {
        decode(&w, at, &in);
        if (ends_path(&in))
            found = sure_start(&w, at + in.length);
    }
    map_put(&g->boundaries, chunk, found);
    return found;
}

/* From the last sure start at or before an address to the first one after it. */
static struct dwarf_range find_region(struct gaps *g, uint64_t low, uint64_t high, uint64_t address)
{
    uint64_t span = address - address % SPAN, found;
    struct dwarf_range r = {span > low ? span : low, high - span > SPAN ? span + SPAN : high};

    for (uint64_t at = address - address % CHUNK;; at -= CHUNK) {
        found = boundary_in(g, at > r.low ? at : r.low, high);
        if (found && found <= address)
            r.low = found;
        if (at <= r.low)
            break;
    }
    for (uint64_t at = address - address % CHUNK; at < r.high; at += CHUNK) {
        found = boundary_in(g, at > low ? at : low, high);
        if (found > address && found < r.high)
            r.high = found;
    }
    return r;
}

/* A jump far ahead to an aligned address is more likely the call of another procedure than a way through this one. */
static void widen(struct walk *w, const struct insn *in)
{
    bool inner = in->kind == INSN_BRANCH ||
                 (in->kind == INSN_JUMP && ((w->arch->unit == 1 && in->length == 2) || in->target % ALIGNMENT));

    if (inner && in->target < w->high && in->target > w->reach)
        w->reach = in->target;
    w->table |= in->kind == INSN_JUMP_INDIRECT;
}

/* Where another procedure begins if this one is over behind an instruction; 0 if it is not. */
static uint64_t next_start(const struct walk *w, const struct insn *in)
{
    uint64_t end = in->address + in->length;

    if (!ends_path(in) || end >= w->high)
        return 0;
    uint64_t next = skip_padding(w, end);
    if (next >= w->high || next % ALIGNMENT)
        return 0;
    if (has_traps(w, end))
        return next;
    bool doubtful = w->table || in->kind == INSN_CALL;
    return w->reach < end && (!doubtful || is_trap(w, end) || has_prologue(w, next)) ? next : 0;
}

static void split(struct gaps *g, struct dwarf_range region)
{
    struct walk w = walk_over(g->text, region.low, region.high);
    uint64_t start = region.low;
    struct insn in;

    for (uint64_t at = region.low; at < w.high;) {
        decode(&w, at, &in);
        widen(&w, &in);
        at += in.length;
        uint64_t next = next_start(&w, &in);
        if (next) {
            vec_push(&g->procedures, (struct dwarf_range){start, next});
            start = at = next;
            w.reach = 0;
            w.table = false;
        }
    }
    vec_push(&g->procedures, (struct dwarf_range){start, region.high});
}

struct dwarf_range gap_procedure(struct gaps *g, uint64_t low, uint64_t high, uint64_t address)
{
    struct dwarf_range region = find_region(g, low, high, address);
    bool is_new;
    uint64_t *first = map_insert(&g->regions, region.low, g->procedures.len, &is_new);
    size_t i = *first;

    if (is_new)
        split(g, region);
    while (i < g->procedures.len && g->procedures.data[i].high <= address)
        i++;
    return i < g->procedures.len && g->procedures.data[i].low <= address ? g->procedures.data[i] : region;
}

bool gap_is_code(const struct gaps *g, struct dwarf_range range)
{
    struct walk w = walk_over(g->text, range.low, range.high);
    struct insn in;

    if (w.high != range.high || skip_padding(&w, w.low) == w.high)
        return false;
    for (uint64_t at = w.low; at < w.high; at += in.length) {
        decode(&w, at, &in);
        if (in.kind == INSN_STOP && w.arch->is_no_code(w.code + (at - w.low), &in))
            return false;
    }
    return true;
}

void gaps_init(struct gaps *g, const struct elf *text)
{
    *g = (struct gaps){.text = text};
}

void gaps_deinit(struct gaps *g)
{
    map_deinit(&g->boundaries);
    map_deinit(&g->regions);
    vec_deinit(&g->procedures);
}
