/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/tree/node.h"

_Thread_local bool sums_overflow;

static void add_range(struct ranges *out, uint32_t first, uint32_t last)
{
    if (first >= last)
        return;
    if (out->len && vec_last(out).last == first)
        vec_last(out).last = last;
    else
        vec_push(out, (struct db_range){first, last});
}

/* Values that belong to the context itself and not to a child. */
static void add_direct(const struct tree *t, uint32_t c, struct ranges *out)
{
    uint32_t end = tree_end(t, c);

    add_range(out, tree_first(t, c), c + 1 < end ? tree_first(t, c + 1) : tree_range(t, c).last);
}

/*
 * raw over c and what is below it without crossing a call; a loop's direct statements only. In preorder, so no
 * recursion: lines are taken, nested loops entered, everything else stepped over.
 */
static void add_own(const struct tree *t, uint32_t c, enum exclusive_rule rule, struct ranges *out)
{
    uint32_t end = tree_end(t, c), k = c + 1;
    bool loop = tree_kind(t, c) == SCOPE_LOOP && rule == EXCLUSIVE_SCOPE;

    add_direct(t, c, out);
    while (k < end) {
        enum scope_kind kind = tree_kind(t, k);

        if (kind == SCOPE_LINE) {
            struct db_range r = tree_range(t, k);

            add_range(out, r.first, r.last);
            k = tree_end(t, k);
        } else if (loop) {
            return;
        } else if (kind == SCOPE_LOOP || kind == SCOPE_REGION || kind == SCOPE_PHASE ||
                   (kind == SCOPE_INLINE && rule == EXCLUSIVE_FRAME)) {
            add_direct(t, k, out);
            k++;
        } else {
            k = tree_end(t, k);
        }
    }
}

static void add_exposed(const struct tree *t, struct set s, struct ranges *out)
{
    uint32_t covered = 0;

    for (size_t i = 0; i < s.len; i++) {
        uint32_t c = s.data[i];

        if (c < covered || c >= t->context_count)
            continue;
        struct db_range r = tree_range(t, c);

        add_range(out, r.first, r.last);
        covered = tree_end(t, c);
    }
}

static int by_first(const void *a, const void *b)
{
    uint32_t x = ((const struct db_range *)a)->first, y = ((const struct db_range *)b)->first;

    return x < y ? -1 : x > y;
}

/* Own ranges of an outer context may lie on both sides of those of an inner one. */
static void put_in_order(struct ranges *out)
{
    size_t k = 0;

    for (size_t i = 1; i < out->len; i++)
        if (out->data[i].first < out->data[i - 1].first) {
            vec_sort(out, by_first);
            break;
        }
    for (size_t i = 1; i < out->len; i++) {
        if (out->data[i].first <= out->data[k].last)
            out->data[k].last = out->data[i].last > out->data[k].last ? out->data[i].last : out->data[k].last;
        else
            out->data[++k] = out->data[i];
    }
    out->len = out->len ? k + 1 : 0;
}

void node_ranges(const struct tree *t, const struct node *n, bool exclusive, struct ranges *out)
{
    vec_clear(out);
    if (!exclusive) {
        add_exposed(t, n->inc, out);
        return;
    }
    if (n->rule == EXCLUSIVE_NONE)
        return;
    if (n->rule == EXCLUSIVE_ALL) {
        add_exposed(t, n->exc, out);
        return;
    }
    for (size_t i = 0; i < n->exc.len && n->rule == EXCLUSIVE_DIRECT; i++)
        if (n->exc.data[i] < t->context_count)
            add_direct(t, n->exc.data[i], out);
    for (size_t i = 0; i < n->exc.len && n->rule != EXCLUSIVE_DIRECT; i++)
        if (n->exc.data[i] < t->context_count)
            add_own(t, n->exc.data[i], n->rule, out);
    put_in_order(out);
}

struct set set_exposed(const struct tree *t, struct set s, struct arena *arena)
{
    uint32_t *out = ARENA_ARRAY(arena, s.len, uint32_t), covered = 0;
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] < covered)
            continue;
        out[n++] = s.data[i];
        covered = tree_end(t, s.data[i]);
    }
    return (struct set){out, n};
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

struct set set_sorted(uint32_t *contexts, size_t len, struct arena *arena)
{
    uint32_t *out = ARENA_ARRAY(arena, len, uint32_t);
    size_t n = 0;

    if (len)
        memcpy(out, contexts, len * sizeof *out);
    qsort(out, len, sizeof *out, by_number);
    for (size_t i = 0; i < len; i++)
        if (n == 0 || out[n - 1] != out[i])
            out[n++] = out[i];
    return (struct set){out, n};
}

struct node node_of_context(const struct tree *t, uint32_t c)
{
    const struct hqdb_context *x = tree_context(t, c);
    struct set self = {NULL, 1};
    struct node n = {
        .kind = tree_kind(t, c),
        .scope = tree_scope_of(t, c),
        .context = c,
        .profile = HQDB_NONE,
        .inc = self,
        .exc = self,
        .id = x->id,
        .leaf = tree_kind(t, c) == SCOPE_LINE,
    };

    if (scope_is_called(n.kind) || n.kind == SCOPE_INLINE) {
        n.call_file = x->call_file;
        n.call_line = x->call_line;
    }
    return n;
}

struct node node_of_set(const struct tree *t, uint32_t scope, struct set contexts)
{
    return (struct node){
        .kind = tree_scope(t, scope)->kind,
        .scope = scope,
        .context = HQDB_NONE,
        .profile = HQDB_NONE,
        .inc = contexts,
        .exc = contexts,
    };
}
