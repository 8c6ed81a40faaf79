/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loop nesting after P. Havlak, Nesting of reducible and irreducible loops, ACM TOPLAS 19(4), 1997, figure 4: blocks
 * are numbered in depth-first order; from the last to the first, the body of the loop with that header is collected
 * backwards from its back edges, and collapsed into the header. An irreducible loop inside an irreducible one is merged
 * with it: interpreters' computed gotos would otherwise nest a hundred deep.
 */
#include "structure/havlak_impl.h"
#include <stdlib.h>
#include <string.h>

struct nest {
    const struct graph *g;
    uint32_t *set;    /* union-find: node -> header that it was collapsed into */
    uint32_t *header; /* node -> header of the innermost loop around it, CFG_NONE */
    uint8_t *kind;    /* of a node as a header */
    struct extra {
        uint32_t node, next;
    } * extras; /* further entries of irreducible loops, as lists */
    size_t extra_count, extra_cap;
    uint32_t *extra_head; /* node -> list */
    uint32_t *mark;       /* node -> header that last took it into its body */
    uint32_t *extra_mark; /* node -> header that last had it as an entry */
};

enum { NO_LOOP, REDUCIBLE, IRREDUCIBLE };

static void number_blocks(struct graph *g)
{
    struct frame {
        uint32_t node, next;
    };
    VEC(struct frame) stack = {0};

    memset(g->number, 0xff, g->cfg->blocks.len * sizeof *g->number);
    g->number[g->cfg->entry] = 0;
    g->block[g->count++] = g->cfg->entry;
    vec_push(&stack, (struct frame){0, 0});
    while (stack.len) {
        struct frame *top = &vec_last(&stack);
        const struct cfg_block *b = &g->cfg->blocks.data[g->block[top->node]];

        if (top->next == b->successor_count) {
            g->last[top->node] = g->count - 1;
            stack.len--;
            continue;
        }
        uint32_t to = g->cfg->successors.data[b->first_successor + top->next++];
        if (g->number[to] != CFG_NONE)
            continue;
        g->number[to] = g->count;
        g->block[g->count] = to;
        vec_push(&stack, (struct frame){g->count, 0});
        g->count++;
    }
    vec_deinit(&stack);
}

static void find_preds(struct graph *g)
{
    g->pred_start = xcalloc(g->count + 2, sizeof *g->pred_start);
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t n = 0; n < g->count; n++) {
            const struct cfg_block *b = &g->cfg->blocks.data[g->block[n]];

            for (uint32_t i = 0; i < b->successor_count; i++) {
                uint32_t to = g->number[g->cfg->successors.data[b->first_successor + i]];

                if (fill)
                    g->preds[g->pred_start[to + 1]++] = n;
                else
                    g->pred_start[to + 2]++;
            }
        }
        if (fill)
            break;
        for (uint32_t n = 0; n < g->count; n++)
            g->pred_start[n + 2] += g->pred_start[n + 1];
        g->preds = xcalloc(g->pred_start[g->count + 1] + 1, sizeof *g->preds);
    }
}

static void graph_init(struct graph *g, const struct cfg *cfg)
{
    *g = (struct graph){.cfg = cfg};
    g->number = xcalloc(cfg->blocks.len, sizeof *g->number);
    g->block = xcalloc(cfg->blocks.len, sizeof *g->block);
    g->last = xcalloc(cfg->blocks.len, sizeof *g->last);
    number_blocks(g);
    find_preds(g);
}

static void graph_deinit(struct graph *g)
{
    free(g->number);
    free(g->block);
    free(g->last);
    free(g->pred_start);
    free(g->preds);
}

static bool is_ancestor(const struct graph *g, uint32_t a, uint32_t b)
{
    return a <= b && b <= g->last[a];
}

static uint32_t find(struct nest *t, uint32_t n)
{
    uint32_t root = n;

    while (t->set[root] != root)
        root = t->set[root];
    while (t->set[n] != root) {
        uint32_t next = t->set[n];

        t->set[n] = root;
        n = next;
    }
    return root;
}

static void add_extra(struct nest *t, uint32_t header, uint32_t node)
{
    if (t->extra_mark[node] == header)
        return;
    t->extra_mark[node] = header;
    if (t->extra_count == t->extra_cap) {
        t->extra_cap = t->extra_cap ? t->extra_cap * 2 : 64;
        t->extras = xreallocarray(t->extras, t->extra_cap, sizeof *t->extras);
    }
    t->extras[t->extra_count] = (struct extra){node, t->extra_head[header]};
    t->extra_head[header] = (uint32_t)t->extra_count++;
}

struct body {
    uint32_t *data;
    size_t len, cap;
};

static void take(struct nest *t, uint32_t header, uint32_t node, struct body *body)
{
    if (node == header || t->mark[node] == header)
        return;
    t->mark[node] = header;
    vec_push(body, node);
}

/* A way into the body that does not pass the header makes the loop irreducible; its source belongs to the loops around.
 */
static void climb(struct nest *t, uint32_t header, uint32_t from, struct body *body)
{
    uint32_t source = find(t, from);

    if (is_ancestor(t->g, header, source)) {
        take(t, header, source, body);
    } else {
        t->kind[header] = IRREDUCIBLE;
        add_extra(t, header, source);
    }
}

static bool jumps_indirectly(const struct graph *g, uint32_t node)
{
    const struct cfg_block *b = &g->cfg->blocks.data[g->block[node]];

    return g->cfg->insns.data[b->first + b->count - 1].kind == INSN_JUMP_INDIRECT;
}

/* A loop that is closed only by indirect jumps counts as irreducible: any handler of an interpreter may follow any
 * other. */
static void collect(struct nest *t, uint32_t header, struct body *body)
{
    const struct graph *g = t->g;

    body->len = 0;
    for (uint32_t i = g->pred_start[header]; i < g->pred_start[header + 1]; i++) {
        if (!is_ancestor(g, header, g->preds[i]))
            continue;
        if (!jumps_indirectly(g, g->preds[i]))
            t->kind[header] = REDUCIBLE;
        else if (t->kind[header] == NO_LOOP)
            t->kind[header] = IRREDUCIBLE;
        take(t, header, find(t, g->preds[i]), body);
    }
    for (size_t k = 0; k < body->len; k++) {
        uint32_t node = body->data[k];

        for (uint32_t i = g->pred_start[node]; i < g->pred_start[node + 1]; i++)
            if (!is_ancestor(g, node, g->preds[i]))
                climb(t, header, g->preds[i], body);
        for (uint32_t e = t->extra_head[node]; e != CFG_NONE; e = t->extras[e].next)
            climb(t, header, t->extras[e].node, body);
    }
    for (size_t k = 0; k < body->len; k++) {
        t->header[body->data[k]] = header;
        t->set[body->data[k]] = header;
    }
}

static void merge_irreducible(struct nest *t)
{
    /* Headers precede their bodies in preorder, so a header's own header is final when it is met. */
    for (uint32_t n = 0; n < t->g->count; n++) {
        uint32_t h = t->header[n];

        if (h != CFG_NONE && t->kind[h] == NO_LOOP)
            t->header[n] = h = t->header[h];
        if (h != CFG_NONE && t->kind[n] == IRREDUCIBLE && t->kind[h] == IRREDUCIBLE)
            t->kind[n] = NO_LOOP;
    }
}

static void find_nest(struct nest *t, const struct graph *g)
{
    struct body body = {0};

    *t = (struct nest){.g = g};
    t->set = xcalloc(g->count, sizeof *t->set);
    t->header = xcalloc(g->count, sizeof *t->header);
    t->mark = xcalloc(g->count, sizeof *t->mark);
    t->extra_mark = xcalloc(g->count, sizeof *t->extra_mark);
    t->extra_head = xcalloc(g->count, sizeof *t->extra_head);
    t->kind = xcalloc(g->count, 1);
    for (uint32_t n = 0; n < g->count; n++) {
        t->set[n] = n;
        t->header[n] = t->mark[n] = t->extra_mark[n] = t->extra_head[n] = CFG_NONE;
    }
    for (uint32_t n = g->count; n-- > 0;)
        collect(t, n, &body);
    vec_deinit(&body);
    merge_irreducible(t);
}

static void nest_deinit(struct nest *t)
{
    free(t->set);
    free(t->header);
    free(t->mark);
    free(t->extra_mark);
    free(t->extra_head);
    free(t->extras);
    free(t->kind);
}

static int by_header(const void *a, const void *b)
{
    const struct loop *x = a, *y = b;

    return x->header < y->header ? -1 : x->header > y->header;
}

/* Numbers loops by header address, an outer loop before those inside it. */
static void number_loops(struct loop_maker *m)
{
    const struct graph *g = m->g;
    uint32_t *of_node = xcalloc(g->count, sizeof *of_node);
    VEC(struct loop) sorted = {0};
    VEC(uint32_t) path = {0};

    memset(of_node, 0xff, g->count * sizeof *of_node);
    for (uint32_t n = 0; n < g->count; n++)
        if (m->t->kind[n] != NO_LOOP)
            vec_push(&sorted, (struct loop){.parent = n, .header = loop_block_address(m->cfg, g->block[n])});
    vec_sort(&sorted, by_header);
    vec_foreach(l, &sorted) {
        for (uint32_t n = l->parent; n != CFG_NONE && of_node[n] == LOOP_NONE; n = m->t->header[n])
            vec_push(&path, n);
        while (path.len) {
            uint32_t n = vec_pop(&path), outer = m->t->header[n];

            of_node[n] = (uint32_t)m->loops.len;
            vec_push(&m->headers, g->block[n]);
            vec_push(&m->loops, (struct loop){.parent = outer == CFG_NONE ? LOOP_NONE : of_node[outer],
                                              .header = loop_block_address(m->cfg, g->block[n])});
        }
    }
    for (uint32_t n = 0; n < g->count; n++) {
        uint32_t h = m->t->kind[n] != NO_LOOP ? n : m->t->header[n];

        m->loop_of[g->block[n]] = h == CFG_NONE ? LOOP_NONE : of_node[h];
    }
    free(of_node);
    vec_deinit(&sorted);
    vec_deinit(&path);
}

static void make_spans(struct loop_maker *m)
{
    for (uint32_t i = 0; i < m->cfg->blocks.len; i++) {
        const struct cfg_block *b = &m->cfg->blocks.data[i];
        const struct insn *last = &m->cfg->insns.data[b->first + b->count - 1];
        struct loop_span s = {loop_block_address(m->cfg, i), last->address + last->length, m->loop_of[i]};

        if (s.loop == LOOP_NONE)
            continue;
        if (m->spans.len && vec_last(&m->spans).loop == s.loop && vec_last(&m->spans).high == s.low)
            vec_last(&m->spans).high = s.high;
        else
            vec_push(&m->spans, s);
    }
}

/* Whether control leaves the procedure behind a block: by a return, or by a jump to another one, also a conditional
 * one. */
static bool leaves(const struct cfg *cfg, const struct cfg_block *b)
{
    const struct insn *last = &cfg->insns.data[b->first + b->count - 1];

    if (last->kind == INSN_BRANCH)
        return b->successor_count == 1;
    return !b->successor_count &&
           (last->kind == INSN_RETURN || last->kind == INSN_JUMP || last->kind == INSN_JUMP_INDIRECT);
}

/* Finds the blocks from which a way leads out of the procedure, against the edges. */
static void find_returns(struct loop_maker *m)
{
    const struct graph *g = m->g;
    VEC(uint32_t) work = {0};

    for (uint32_t n = 0; n < g->count; n++)
        if (leaves(m->cfg, &m->cfg->blocks.data[g->block[n]])) {
            m->returns[g->block[n]] = true;
            vec_push(&work, n);
        }
    while (work.len) {
        uint32_t n = vec_pop(&work);

        for (uint32_t k = g->pred_start[n]; k < g->pred_start[n + 1]; k++) {
            uint32_t from = g->preds[k];

            if (m->returns[g->block[from]])
                continue;
            m->returns[g->block[from]] = true;
            vec_push(&work, from);
        }
    }
    vec_deinit(&work);
}

static void judge_branch(struct loop_maker *m, uint32_t block)
{
    const struct cfg_block *b = &m->cfg->blocks.data[block];
    const struct insn *last = &m->cfg->insns.data[b->first + b->count - 1];

    for (uint32_t l = m->loop_of[block]; l != LOOP_NONE; l = m->loops.data[l].parent) {
        bool exits = false, back = false, returns = false;
        uint64_t out = 0;

        for (uint32_t i = 0; i < b->successor_count; i++) {
            uint32_t to = m->cfg->successors.data[b->first_successor + i];

            if (!loop_contains(m, l, m->loop_of[to])) {
                exits = true;
                returns |= m->returns[to];
                out = loop_block_address(m->cfg, to);
            }
            back |= loop_block_address(m->cfg, to) == m->loops.data[l].header;
        }
        returns |= b->successor_count == 1;
        exits = last->kind == INSN_BRANCH && (exits || b->successor_count == 1);
        bool at_header = loop_block_address(m->cfg, block) == m->loops.data[l].header;
        if (!exits && !back)
            continue;
        enum loop_evidence e = exits && back        ? LOOP_EXIT_AND_BACK
                               : exits && at_header ? LOOP_HEADER_EXIT
                               : exits              ? LOOP_EXIT
                                                    : LOOP_BACK;
        vec_push(&m->branches, (struct loop_branch){l, e, last->address, out, last->tests,
                                                    exits && !returns && m->returns[m->headers.data[l]]});
    }
}

static void find_calls(struct loop_maker *m)
{
    vec_foreach(in, &m->cfg->insns)
        if (in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT)
            vec_push(&m->calls, (struct loop_call){in->address, in->address + in->length, in->target});
        else if (in->kind == INSN_BRANCH)
            vec_push(&m->decisions, in->address);
}

void loops_find(const struct cfg *cfg, struct loops *out)
{
    struct graph g;
    struct nest t;
    struct loop_maker m = {.cfg = cfg, .g = &g, .t = &t};

    memset(out, 0, sizeof *out);
    if (cfg->entry == CFG_NONE)
        return;
    graph_init(&g, cfg);
    find_nest(&t, &g);
    m.loop_of = xcalloc(cfg->blocks.len, sizeof *m.loop_of);
    memset(m.loop_of, 0xff, cfg->blocks.len * sizeof *m.loop_of);
    number_loops(&m);
    if (m.loops.len) {
        make_spans(&m);
        find_calls(&m);
        loop_near_find(&m);
        m.returns = xcalloc(cfg->blocks.len, sizeof *m.returns);
        find_returns(&m);
        for (uint32_t i = 0; i < cfg->blocks.len; i++)
            judge_branch(&m, i);
    }
    *out = (struct loops){
        .list = m.loops.data,
        .count = m.loops.len,
        .spans = m.spans.data,
        .span_count = m.spans.len,
        .branches = m.branches.data,
        .branch_count = m.branches.len,
        .calls = m.calls.data,
        .call_count = m.calls.len,
        .decisions = m.decisions.data,
        .decision_count = m.decisions.len,
        .near = m.near.data,
        .near_count = m.near.len,
    };
    free(m.loop_of);
    free(m.returns);
    vec_deinit(&m.headers);
    nest_deinit(&t);
    graph_deinit(&g);
}

void loops_deinit(struct loops *l)
{
    free(l->list);
    free(l->spans);
    free(l->branches);
    free(l->calls);
    free(l->decisions);
    free(l->near);
    memset(l, 0, sizeof *l);
}
