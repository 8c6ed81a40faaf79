/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/normal.h"
#include "common/vec.h"
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* A scope of the normal structure, made from one or several raw ones. Node 0 is the procedure; parents come first. */
struct node {
    uint32_t parent, loop; /* loop: innermost one around or at this node, NONE */
    uint32_t loop_depth;
    uint32_t raw; /* the first scope it was made from */
    uint32_t ordinal;
    uint32_t scope; /* of the book, NONE until it is needed */
};

/* Places where one statement was found: nodes of its parents. */
struct instance {
    uint32_t node, next;
};

struct key {
    uint32_t kind, parent, name, linkage, file, line, call_file, call_line, ordinal;
};

struct normal {
    struct book *b;
    VEC(struct node) nodes;
    struct keymap node_keys, flat_keys;
    struct map node_of, flat_of; /* raw scope -> node; -> identity without loops */
    VEC(uint32_t) instances_of;  /* identity -> first instance, NONE */
    VEC(struct instance) instances;
    VEC(uint32_t) leaves; /* raw LINE scopes, each once */
    struct map normal_of; /* raw LINE -> normal LINE */
    struct map calls_of;  /* raw LINE -> that of the calls in it */
};

static struct key key_of(const struct structure_scope *s, uint32_t parent)
{
    struct key k = {s->kind, parent, s->name, s->linkage, s->file, s->line, s->call_file, s->call_line, 0};

    /* Loops without a line have no name but their number. */
    if (s->kind == SCOPE_LOOP && !s->line)
        k.ordinal = s->ordinal;
    return k;
}

static uint32_t add_node(struct normal *n, uint32_t raw, uint32_t parent)
{
    const struct structure_scope *s = &n->b->scopes.data[raw];
    struct key k = key_of(s, parent);
    bool is_new;
    uint32_t index = keymap_add(&n->node_keys, &k, &is_new);

    if (!is_new)
        return index;
    struct node node = {.parent = parent, .raw = raw, .scope = NONE, .loop = NONE};
    if (parent != NONE) {
        node.loop = n->nodes.data[parent].loop;
        node.loop_depth = n->nodes.data[parent].loop_depth;
    }
    if (s->kind == SCOPE_LOOP) {
        node.loop = index;
        node.loop_depth++;
    }
    vec_push(&n->nodes, node);
    return index;
}

static bool same_name(const struct normal *n, uint32_t raw, uint32_t node)
{
    const struct structure_scope *a = &n->b->scopes.data[raw], *b = &n->b->scopes.data[n->nodes.data[node].raw];

    return a->kind == SCOPE_LOOP && b->kind == SCOPE_LOOP && a->line && a->line == b->line && a->file == b->file;
}

static uint32_t node_of(struct normal *n, uint32_t raw)
{
    const uint64_t *known = map_find(&n->node_of, raw);
    uint32_t node;

    if (known)
        return (uint32_t)*known;
    if (n->b->scopes.data[raw].kind == SCOPE_PROCEDURE) {
        node = add_node(n, raw, NONE);
    } else {
        uint32_t parent = node_of(n, n->b->scopes.data[raw].parent);

        node = same_name(n, raw, parent) ? parent : add_node(n, raw, parent);
    }
    map_put(&n->node_of, raw, node);
    return node;
}

/* Returns the number of a scope with loops left out of its path: two instances of one statement have the same
 * number. */
static uint32_t identity(struct normal *n, uint32_t raw)
{
    const uint64_t *known = map_find(&n->flat_of, raw);
    const struct structure_scope *s = &n->b->scopes.data[raw];
    uint32_t id;

    if (known)
        return (uint32_t)*known;
    if (s->kind == SCOPE_LOOP) {
        id = identity(n, s->parent);
    } else {
        struct key k = key_of(s, s->kind == SCOPE_PROCEDURE ? NONE : identity(n, s->parent));
        bool is_new;

        id = keymap_add(&n->flat_keys, &k, &is_new);
        if (is_new)
            vec_push(&n->instances_of, NONE);
    }
    map_put(&n->flat_of, raw, id);
    return id;
}

static bool is_below(const struct normal *n, uint32_t node, uint32_t loop)
{
    uint32_t at = n->nodes.data[node].loop;

    if (loop == NONE)
        return true;
    while (at != NONE && at != loop) {
        uint32_t up = n->nodes.data[at].parent;

        at = up == NONE ? NONE : n->nodes.data[up].loop;
    }
    return at == loop;
}

/* The deepest instance of the statement in the nest that this one is in; of several the first. */
static uint32_t innermost(const struct normal *n, uint32_t node, uint32_t id)
{
    uint32_t best = node, loop = n->nodes.data[node].loop;

    for (uint32_t i = n->instances_of.data[id]; i != NONE; i = n->instances.data[i].next) {
        uint32_t other = n->instances.data[i].node;
        uint32_t depth = n->nodes.data[other].loop_depth, best_depth = n->nodes.data[best].loop_depth;

        if ((depth > best_depth || (depth == best_depth && best != node && other < best)) && is_below(n, other, loop))
            best = other;
    }
    return best;
}

static void collect(struct normal *n, const struct book_procedure *p)
{
    for (uint32_t i = 0; i < p->segment_count; i++) {
        uint32_t raw = n->b->segments.data[p->first_segment + i].normal;
        bool is_new;

        map_insert(&n->normal_of, raw, NONE, &is_new);
        if (!is_new)
            continue;
        vec_push(&n->leaves, raw);
        uint32_t node = node_of(n, n->b->scopes.data[raw].parent), id = identity(n, raw);
        if (!n->b->scopes.data[raw].line)
            continue;
        vec_push(&n->instances, (struct instance){node, n->instances_of.data[id]});
        n->instances_of.data[id] = (uint32_t)n->instances.len - 1;
    }
}

static int by_source(const void *x, const void *y, void *arg)
{
    const struct normal *n = arg;
    const struct node *a = &n->nodes.data[*(const uint32_t *)x], *b = &n->nodes.data[*(const uint32_t *)y];
    const struct structure_scope *s = &n->b->scopes.data[a->raw], *t = &n->b->scopes.data[b->raw];

    if (s->file != t->file) {
        int order = strcmp(intern_str(&n->b->strings, s->file), intern_str(&n->b->strings, t->file));

        if (order)
            return order;
    }
    if (s->line != t->line)
        return s->line < t->line ? -1 : 1;
    if (a->loop_depth != b->loop_depth)
        return a->loop_depth < b->loop_depth ? -1 : 1;
    return s->ordinal < t->ordinal ? -1 : s->ordinal > t->ordinal;
}

static void number_loops(struct normal *n)
{
    VEC(uint32_t) loops = {0};

    for (uint32_t i = 0; i < n->nodes.len; i++)
        if (n->b->scopes.data[n->nodes.data[i].raw].kind == SCOPE_LOOP)
            vec_push(&loops, i);
    vec_sort_r(&loops, by_source, n);
    for (uint32_t i = 0; i < loops.len; i++)
        n->nodes.data[loops.data[i]].ordinal = i + 1;
    vec_foreach(node, &n->nodes)
        if (node->parent == NONE)
            n->b->scopes.data[node->raw].ordinal = (uint32_t)loops.len;
    vec_deinit(&loops);
}

static uint32_t scope_of(struct normal *n, uint32_t node)
{
    struct node *at = &n->nodes.data[node];

    if (at->scope != NONE)
        return at->scope;
    struct structure_scope s = n->b->scopes.data[at->raw];
    if (at->parent == NONE)
        return at->scope = at->raw;
    s.parent = scope_of(n, at->parent);
    s.ordinal = at->ordinal;
    return at->scope = book_scope(n->b, &s, NULL);
}

static void place_leaf(struct normal *n, uint32_t raw)
{
    struct structure_scope s = n->b->scopes.data[raw];
    uint32_t own = node_of(n, s.parent), node = s.line ? innermost(n, own, identity(n, raw)) : own;

    s.parent = scope_of(n, node);
    map_put(&n->normal_of, raw, book_scope(n->b, &s, NULL));
    s.parent = scope_of(n, own);
    map_put(&n->calls_of, raw, book_scope(n->b, &s, NULL));
}

static void add_segment(struct book *b, struct book_segment s)
{
    struct book_segment *last = b->segments.len ? &vec_last(&b->segments) : NULL;

    if (s.low >= s.high)
        return;
    if (last && last->high == s.low && last->raw == s.raw && last->normal == s.normal)
        last->high = s.high;
    else
        vec_push(&b->segments, s);
}

/* Writes a segment anew, with the calls in it at their own places. */
static void add_around_calls(struct normal *n, struct book_segment s, const struct loops *loops)
{
    uint32_t moved = (uint32_t)map_get(&n->normal_of, s.normal, s.normal),
             own = (uint32_t)map_get(&n->calls_of, s.normal, s.normal);
    uint64_t at = s.low;
    size_t call = loops && moved != own ? array_upto(loops->calls, loops->call_count, high, s.low) : SIZE_MAX;

    for (; loops && call < loops->call_count && loops->calls[call].low < s.high; call++) {
        uint64_t low = loops->calls[call].low,
                 high = loops->calls[call].high < s.high ? loops->calls[call].high : s.high;

        add_segment(n->b, (struct book_segment){at, low, s.raw, moved});
        add_segment(n->b, (struct book_segment){low > at ? low : at, high, s.raw, own});
        at = high;
    }
    add_segment(n->b, (struct book_segment){at, s.high, s.raw, moved});
}

static void write_segments(struct normal *n, const struct loops *loops, struct book_procedure *p)
{
    VEC(struct book_segment) raw = {0};

    vec_append(&raw, n->b->segments.data + p->first_segment, p->segment_count);
    n->b->segments.len = p->first_segment;
    vec_foreach(s, &raw)
        add_around_calls(n, *s, loops);
    p->segment_count = (uint32_t)n->b->segments.len - p->first_segment;
    vec_deinit(&raw);
}

void normal_apply(struct book *b, const struct loops *loops, struct book_procedure *p)
{
    struct normal n = {.b = b};

    keymap_init(&n.node_keys, sizeof(struct key));
    keymap_init(&n.flat_keys, sizeof(struct key));
    collect(&n, p);
    number_loops(&n);
    vec_foreach(raw, &n.leaves)
        place_leaf(&n, *raw);
    write_segments(&n, loops, p);
    keymap_deinit(&n.node_keys);
    keymap_deinit(&n.flat_keys);
    map_deinit(&n.node_of);
    map_deinit(&n.flat_of);
    map_deinit(&n.normal_of);
    map_deinit(&n.calls_of);
    vec_deinit(&n.nodes);
    vec_deinit(&n.instances_of);
    vec_deinit(&n.instances);
    vec_deinit(&n.leaves);
}
