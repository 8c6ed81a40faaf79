/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/cfg.h"
#include "structure/range.h"
#include <stdlib.h>
#include <string.h>

struct builder {
    const struct image *image;
    const struct procedure *p;
    struct noreturn *noreturn;
    struct cfg *g;
    struct landing_pads pads; /* ascending low */
    uint8_t *flags;           /* of each instruction */
    VEC(struct table) jumps;
    uint32_t *block_of; /* instruction -> block */
};

struct table { /* an indirect jump */
    uint32_t jump;
    struct cfg_targets targets; /* none: unknown */
};

#define MAX_GUESSES 100000u
#define MAX_TARGETS ((size_t)4 << 20) /* of all tables of a procedure, beside 64 for each of its instructions */

enum { LEADER = 1, NO_RETURN = 2, PART_END = 4 };

uint32_t cfg_insn_at(const struct cfg *g, uint64_t address)
{
    size_t n = vec_upto(&g->insns, address, address);

    return n && g->insns.data[n - 1].address == address ? (uint32_t)n - 1 : CFG_NONE;
}

static void decode(struct builder *b)
{
    const struct insns *done = &b->p->decoded;

    for (size_t i = 0; i < b->p->range_count; i++) {
        const struct dwarf_range *r = &b->p->ranges[i];

        if (done->len && done->data[0].address == r->low &&
            done->data[done->len - 1].address + done->data[done->len - 1].length == r->high)
            vec_append(&b->g->insns, done->data, done->len);
        else
            procedure_decode(b->image, r->low, r->high, &b->g->insns);
    }
}

static bool falls_through(const struct builder *b, uint32_t i)
{
    enum insn_kind kind = b->g->insns.data[i].kind;

    return kind != INSN_JUMP && kind != INSN_JUMP_INDIRECT && kind != INSN_RETURN && kind != INSN_STOP &&
           !(b->flags[i] & (NO_RETURN | PART_END)) && i + 1 < b->g->insns.len;
}

static void lead(struct builder *b, uint32_t insn)
{
    if (insn != CFG_NONE && insn < b->g->insns.len)
        b->flags[insn] |= LEADER;
}

static void mark_leaders(struct builder *b)
{
    struct cfg *g = b->g;

    lead(b, cfg_insn_at(g, b->p->entry));
    for (uint32_t i = 0; i < g->insns.len; i++) {
        const struct insn *in = &g->insns.data[i];

        if (i + 1 < g->insns.len && in[1].address != in->address + in->length) {
            b->flags[i] |= PART_END;
            lead(b, i + 1);
        }
        switch (in->kind) {
        case INSN_BRANCH:
        case INSN_JUMP:
            lead(b, cfg_insn_at(g, in->target));
            lead(b, i + 1);
            break;
        case INSN_JUMP_INDIRECT:
            vec_push(&b->jumps, (struct table){.jump = i});
            lead(b, i + 1);
            break;
        case INSN_RETURN:
        case INSN_STOP: lead(b, i + 1); break;
        case INSN_CALL:
            /* A call of the next instruction only asks for its own address. */
            if (in->target != in->address + in->length && noreturn_call(b->noreturn, b->p->unit, in->target)) {
                b->flags[i] |= NO_RETURN;
                lead(b, i + 1);
            }
            break;
        default: break;
        }
    }
    for (size_t i = 0; i < b->pads.len; i++)
        lead(b, cfg_insn_at(g, b->pads.data[i].pad));
}

static void resolve_tables(struct builder *b)
{
    size_t targets = 0, most = MAX_TARGETS + 64 * b->g->insns.len;

    vec_foreach(t, &b->jumps) {
        if (targets < most)
            cfg_jump_table(b->image, b->g, t->jump, &t->targets);
        targets += t->targets.len;
        for (size_t i = 0; i < t->targets.len; i++)
            lead(b, t->targets.data[i]);
        b->g->unresolved += !t->targets.len;
    }
}

static void make_blocks(struct builder *b)
{
    struct cfg *g = b->g;

    b->block_of = xcalloc(g->insns.len + 1, sizeof *b->block_of);
    for (uint32_t i = 0; i < g->insns.len; i++) {
        if (!i || (b->flags[i] & LEADER))
            vec_push(&g->blocks, (struct cfg_block){.first = i});
        vec_last(&g->blocks).count++;
        b->block_of[i] = (uint32_t)g->blocks.len - 1;
    }
    uint32_t entry = cfg_insn_at(g, b->p->entry);
    g->entry = entry == CFG_NONE ? CFG_NONE : b->block_of[entry];
}

static void add_edge(struct builder *b, uint32_t insn)
{
    if (insn != CFG_NONE)
        vec_push(&b->g->successors, b->block_of[insn]);
}

static const struct table *table_of(const struct builder *b, uint32_t jump)
{
    size_t n = vec_upto(&b->jumps, jump, jump);

    return n && b->jumps.data[n - 1].jump == jump ? &b->jumps.data[n - 1] : NULL;
}

/* From calls that an exception may leave to where it is caught; each pad once in a row. */
static void add_pad_edges(struct builder *b, const struct cfg_block *block)
{
    uint32_t last = CFG_NONE;

    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct insn *in = &b->g->insns.data[i];

        if (in->kind != INSN_CALL_INDIRECT && (in->kind != INSN_CALL || nothrow_call(b->image, in->target)))
            continue;
        for (size_t at = vec_upto(&b->pads, high, in->address); at < b->pads.len && b->pads.data[at].low <= in->address;
             at++) {
            uint32_t pad = cfg_insn_at(b->g, b->pads.data[at].pad);

            if (pad != last)
                add_edge(b, pad);
            last = pad;
        }
    }
}

static void make_edges(struct builder *b)
{
    struct cfg *g = b->g;

    vec_foreach(block, &g->blocks) {
        uint32_t last = block->first + block->count - 1;
        const struct insn *in = &g->insns.data[last];
        const struct table *table = in->kind == INSN_JUMP_INDIRECT ? table_of(b, last) : NULL;

        block->first_successor = (uint32_t)g->successors.len;
        if (in->kind == INSN_BRANCH || in->kind == INSN_JUMP)
            add_edge(b, cfg_insn_at(g, in->target));
        for (size_t i = 0; table && i < table->targets.len; i++)
            add_edge(b, table->targets.data[i]);
        if (falls_through(b, last))
            add_edge(b, last + 1);
        if (b->pads.len)
            add_pad_edges(b, block);
        block->successor_count = (uint32_t)g->successors.len - block->first_successor;
    }
}

static void reach(const struct cfg *g, uint32_t from, uint8_t *reached)
{
    VEC(uint32_t) todo = {0};

    if (!reached[from])
        vec_push(&todo, from);
    reached[from] = 1;
    while (todo.len) {
        const struct cfg_block *block = &g->blocks.data[vec_pop(&todo)];

        for (uint32_t i = 0; i < block->successor_count; i++) {
            uint32_t next = g->successors.data[block->first_successor + i];

            if (!reached[next])
                vec_push(&todo, next);
            reached[next] = 1;
        }
    }
    vec_deinit(&todo);
}

static bool only_padding(const struct cfg *g, const struct cfg_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (g->insns.data[block->first + i].kind != INSN_NOP && g->insns.data[block->first + i].kind != INSN_STOP)
            return false;
    return true;
}

/*
 * Switches of unoptimised code and computed gotos: their targets are among the blocks that nothing else reaches. Where
 * that would be too many edges, one of the jumps leads to all of them and the others to it.
 */
static void guess_targets(struct builder *b)
{
    struct cfg *g = b->g;
    uint8_t *reached = xcalloc(g->blocks.len + 1, 1);
    VEC(uint32_t) heads = {0};

    reach(g, g->entry, reached);
    for (uint32_t i = 0; i < g->blocks.len; i++) {
        if (reached[i] || only_padding(g, &g->blocks.data[i]))
            continue;
        vec_push(&heads, i);
        reach(g, i, reached);
    }
    uint32_t hub = CFG_NONE;
    vec_foreach(t, &b->jumps) {
        uint32_t from = b->block_of[t->jump];
        struct cfg_block *block = &g->blocks.data[from];

        if (t->targets.len || !heads.len)
            continue;
        block->first_successor = (uint32_t)g->successors.len;
        if (hub == CFG_NONE || (uint64_t)heads.len * g->unresolved <= MAX_GUESSES)
            vec_append(&g->successors, heads.data, heads.len);
        else
            vec_push(&g->successors, hub);
        block->successor_count = (uint32_t)g->successors.len - block->first_successor;
        hub = hub == CFG_NONE ? from : hub;
    }
    free(reached);
    vec_deinit(&heads);
}

static void read_pads(struct builder *b)
{
    for (size_t i = 0; i < b->p->range_count; i++)
        for (uint64_t at = b->p->ranges[i].low; at < b->p->ranges[i].high;) {
            const struct frame *f = frames_find(&b->image->frames, at);

            if (!f)
                break;
            if (f->lsda)
                frames_landing_pads(b->image->text, f, &b->pads);
            at = f->high;
        }
    range_sort(&b->pads);
}

static void connect(struct builder *b)
{
    mark_leaders(b);
    resolve_tables(b);
    make_blocks(b);
    make_edges(b);
    if (b->g->unresolved && b->g->entry != CFG_NONE)
        guess_targets(b);
}

static void disconnect(struct builder *b)
{
    vec_foreach(t, &b->jumps)
        vec_deinit(&t->targets);
    vec_deinit(&b->jumps);
    free(b->block_of);
    b->block_of = NULL;
}

void cfg_build(const struct image *image, const struct procedure *p, struct noreturn *noreturn, struct cfg *out)
{
    struct builder b = {.image = image, .p = p, .noreturn = noreturn, .g = out};

    memset(out, 0, sizeof *out);
    out->entry = CFG_NONE;
    decode(&b);
    b.flags = xcalloc(out->insns.len + 1, 1);
    read_pads(&b);
    connect(&b);
    if (cfg_resolve_registers(image, out, &b.pads)) {
        disconnect(&b);
        memset(b.flags, 0, out->insns.len);
        vec_clear(&out->blocks);
        vec_clear(&out->successors);
        out->unresolved = 0;
        connect(&b);
    }
    disconnect(&b);
    vec_deinit(&b.pads);
    free(b.flags);
}

void cfg_deinit(struct cfg *g)
{
    vec_deinit(&g->insns);
    vec_deinit(&g->blocks);
    vec_deinit(&g->successors);
}
