/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/derive.h"
#include "db/fuse.h"
#include "query/pattern/pattern.h"
#include "query/query.h"

/* ---- settings ---- */

struct derived {
    const struct db *base;
    struct fuse_settings settings;
    struct db *db;
};

struct query_cache {
    VEC(struct derived) derived;
};

static bool same_settings(struct fuse_settings a, struct fuse_settings b)
{
    return a.raw == b.raw && a.no_inline == b.no_inline && a.no_loops == b.no_loops && a.internals == b.internals;
}

struct hq_error *derive_settings(struct query_env *env, struct db *db, const struct db **out)
{
    struct derived d = {.base = db,
                        .settings = {.raw = !query_setting(env, SETTING_NORMALISE),
                                     .no_inline = !query_setting(env, SETTING_INLINE),
                                     .no_loops = !query_setting(env, SETTING_LOOPS),
                                     .internals = query_setting(env, SETTING_INTERNALS)}};

    *out = db;
    if (same_settings(d.settings, (struct fuse_settings){0}))
        return NULL;
    if (!env->cache)
        env->cache = xcalloc(1, sizeof *env->cache);
    vec_foreach(known, &env->cache->derived)
        if (known->base == db && same_settings(known->settings, d.settings)) {
            *out = known->db;
            return NULL;
        }
    HQ_TRY(db_derive(db, d.settings, &d.db));
    vec_push(&env->cache->derived, d);
    *out = d.db;
    return NULL;
}

void derive_forget(struct query_env *env)
{
    if (!env->cache)
        return;
    vec_foreach(d, &env->cache->derived)
        db_close(d->db);
    vec_deinit(&env->cache->derived);
    free(env->cache);
    env->cache = NULL;
}

/* ---- building ---- */

struct node_key {
    uint32_t parent, scope, call_file, call_line;
};

void builder_init(struct tree_builder *b, uint32_t root_scope, uint64_t id)
{
    *b = (struct tree_builder){0};
    keymap_init(&b->keys, sizeof(struct node_key));
    keymap_add(&b->keys, &(struct node_key){HQDB_NONE, root_scope, 0, 0}, NULL);
    vec_push(&b->nodes, (struct tree_node){.parent = HQDB_NONE, .scope = root_scope, .id = id});
}

uint32_t builder_child(struct tree_builder *b, uint32_t parent, uint32_t scope, uint32_t call_file, uint32_t call_line,
                       uint64_t id)
{
    bool is_new;
    uint32_t n = keymap_add(&b->keys, &(struct node_key){parent, scope, call_file, call_line}, &is_new);

    if (is_new)
        vec_push(&b->nodes, (struct tree_node){parent, scope, call_file, call_line, id});
    return n;
}

struct order {
    const struct tree_node *nodes;
    const struct hqdb_scope *scopes;
};

static int by_place(const void *x, const void *y, void *arg)
{
    const struct order *o = arg;
    const struct tree_node *a = &o->nodes[*(const uint32_t *)x], *b = &o->nodes[*(const uint32_t *)y];
    bool line_a = o->scopes[a->scope].kind == SCOPE_LINE, line_b = o->scopes[b->scope].kind == SCOPE_LINE;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (line_a != line_b)
        return line_b - line_a;
    if (a->scope != b->scope)
        return a->scope < b->scope ? -1 : 1;
    if (a->call_file != b->call_file)
        return a->call_file < b->call_file ? -1 : 1;
    return a->call_line < b->call_line ? -1 : a->call_line > b->call_line;
}

/* [node] -> its number in preorder. Children of node n are sorted[start[n]] .. */
static uint32_t *number_nodes(const struct tree_builder *b, const struct hqdb_scope *scopes)
{
    uint32_t n = (uint32_t)b->nodes.len, *sorted = xmalloc(n * sizeof *sorted), *start = xcalloc(n + 2, sizeof *start);
    uint32_t *number = xmalloc(n * sizeof *number), next = 0;
    struct order order = {b->nodes.data, scopes};
    VEC(uint32_t) stack = {0};

    for (uint32_t i = 0; i + 1 < n; i++) {
        sorted[i] = i + 1;
        start[b->nodes.data[i + 1].parent + 1]++;
    }
    if (n > 1)
        qsort_r(sorted, n - 1, sizeof *sorted, by_place, &order);
    for (uint32_t i = 0; i < n; i++)
        start[i + 1] += start[i];
    vec_push(&stack, 0);
    while (stack.len) {
        uint32_t at = vec_pop(&stack);

        number[at] = next++;
        for (uint32_t k = start[at + 1]; k-- > start[at];)
            vec_push(&stack, sorted[k]);
    }
    vec_deinit(&stack);
    free(sorted);
    free(start);
    return number;
}

static struct hqdb_context *make_contexts(const struct tree_builder *b, const uint32_t *number)
{
    uint32_t n = (uint32_t)b->nodes.len;
    struct hqdb_context *contexts = xcalloc(n, sizeof *contexts);

    for (uint32_t i = 0; i < n; i++) {
        const struct tree_node *node = &b->nodes.data[i];

        contexts[number[i]] = (struct hqdb_context){
            .id = node->id,
            .scope = node->scope,
            .parent = node->parent == HQDB_NONE ? HQDB_NONE : number[node->parent],
            .end = number[i] + 1,
            .call_file = node->call_file,
            .call_line = node->call_line,
        };
    }
    for (uint32_t i = n; i-- > 1;)
        if (contexts[contexts[i].parent].end < contexts[i].end)
            contexts[contexts[i].parent].end = contexts[i].end;
    return contexts;
}

/* Gives every frame a position in the order of the new contexts. */
static uint32_t place_frames(const struct frame_source *sources, size_t source_count, const uint32_t *number,
                             struct hqdb_context *contexts, uint32_t context_count, uint32_t **position)
{
    uint32_t *next = xcalloc(context_count + 1, sizeof *next), total = 0;

    for (size_t s = 0; s < source_count; s++) {
        const struct tree *t = sources[s].tree;
        uint32_t c = 0;

        position[s] = xmalloc(((size_t)t->position_count + 1) * sizeof **position);
        for (uint32_t p = 0; p < t->position_count; p++) {
            while (c + 1 < t->context_count && tree_first(t, c + 1) <= p)
                c++;
            position[s][p] = number[sources[s].node[c]]; /* the context for now */
            next[position[s][p]]++;
        }
    }
    for (uint32_t c = 0; c < context_count; c++) {
        uint32_t n = next[c];

        contexts[c].first_frame = next[c] = total;
        total += n;
    }
    for (size_t s = 0; s < source_count; s++)
        for (uint32_t p = 0; p < sources[s].tree->position_count; p++)
            position[s][p] = next[position[s][p]]++;
    free(next);
    return total;
}

static void index_scopes(struct tree *t)
{
    uint64_t *index = xcalloc((size_t)t->scope_count + 2, sizeof *index);
    uint32_t *list = xcalloc((size_t)t->context_count + 1, sizeof *list);

    for (uint32_t c = 0; c < t->context_count; c++)
        index[t->contexts[c].scope + 2]++;
    for (uint32_t s = 0; s < t->scope_count; s++)
        index[s + 1] += index[s];
    for (uint32_t c = 0; c < t->context_count; c++)
        list[index[t->contexts[c].scope + 1]++] = c;
    t->scope_index = t->owned[1] = index;
    t->scope_contexts = t->owned[2] = list;
    t->scope_context_count = t->context_count;
}

void builder_finish(struct tree_builder *b, const struct frame_source *sources, size_t source_count,
                    struct hqdb_scope *scopes, uint32_t scope_count, bool own_scopes, uint32_t **position,
                    struct tree *out)
{
    uint32_t *number = number_nodes(b, scopes);
    struct hqdb_context *contexts = make_contexts(b, number);

    out->context_count = (uint32_t)b->nodes.len;
    out->position_count = place_frames(sources, source_count, number, contexts, out->context_count, position);
    out->contexts = out->owned[0] = contexts;
    out->scopes = scopes;
    out->owned[3] = own_scopes ? scopes : NULL;
    out->scope_count = scope_count;
    index_scopes(out);
    free(number);
    keymap_deinit(&b->keys);
    vec_deinit(&b->nodes);
}

/* ---- prune and hide ---- */

/* [context] 1 where one of the patterns matches. */
static struct hq_error *mark_all(struct query_env *env, const struct tree *t, const struct pattern *patterns, size_t n,
                                 struct selection *notes, uint8_t **out)
{
    uint8_t *all = xcalloc((size_t)t->context_count + 1, 1);

    *out = all;
    for (size_t i = 0; i < n; i++) {
        struct matches m;

        HQ_TRY(pattern_resolve(env, t, &patterns[i], KINDS_PATH, &m));
        AUTO_FREE uint8_t *mark = matches_mark(&m, t);

        for (uint32_t c = 0; c < t->context_count; c++)
            all[c] |= mark[c];
        if (m.problem && notes)
            vec_push(&notes->notes, MEM_STEAL(m.problem));
        matches_deinit(&m);
    }
    return NULL;
}

/* The new node of each context. What is below a pruned scope falls on it, a hidden one is its parent. */
static uint32_t *map_contexts(const struct tree *t, const uint8_t *prune, const uint8_t *hide, struct tree_builder *b)
{
    uint32_t *node = xmalloc((size_t)t->context_count * sizeof *node);
    uint8_t *pruned = xcalloc((size_t)t->context_count, 1);

    node[0] = 0;
    for (uint32_t c = 1; c < t->context_count; c++) {
        const struct hqdb_context *x = tree_context(t, c);
        uint32_t parent = tree_parent(t, c);

        if (parent == HQDB_NONE)
            parent = 0;
        pruned[c] = pruned[parent] || prune[c];
        node[c] = pruned[parent] || hide[c]
                      ? node[parent]
                      : builder_child(b, node[parent], tree_scope_of(t, c), x->call_file, x->call_line, x->id);
    }
    free(pruned);
    return node;
}

struct hq_error *prune_tree(struct query_env *env, struct tree *t, const struct query *q, struct selection *notes)
{
    AUTO_FREE uint8_t *prune = NULL;
    AUTO_FREE uint8_t *hide = NULL;
    struct tree_builder b;
    struct tree old = *t;

    if (!q->samples.prune.len && !q->samples.hide.len)
        return NULL;
    HQ_TRY(mark_all(env, t, q->samples.prune.data, q->samples.prune.len, notes, &prune));
    HQ_TRY(mark_all(env, t, q->samples.hide.data, q->samples.hide.len, notes, &hide));
    builder_init(&b, tree_scope_of(&old, 0), tree_context(&old, 0)->id);

    AUTO_FREE uint32_t *node = map_contexts(&old, prune, hide, &b);
    struct frame_source source = {&old, node};

    builder_finish(&b, &source, 1, (struct hqdb_scope *)old.scopes, old.scope_count, false, &t->position, t);
    return NULL;
}

struct hq_error *derive_tree(struct query_env *env, struct selection *s, const struct query *q)
{
    HQ_TRY(prune_tree(env, &s->tree, q, s));
    if (q->samples.compare)
        HQ_TRY(compare_trees(env, s, q));
    return NULL;
}
