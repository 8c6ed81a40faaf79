/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flat view: costs by static structure, whatever the calling context. Load modules, files and procedures come from
 * the scopes; below a procedure the rows are what its instances hold, so that the view is right for every tree, also
 * one from which scopes were hidden.
 */
#include "common/hash.h"
#include "query/measure/grouping.h"
#include "query/tree/keyed.h"
#include "query/views/views.h"

/* The scope just below `top` on the way up from a scope; HQDB_NONE if it is not inside. */
static uint32_t below(const struct tree *t, uint32_t scope, uint32_t top)
{
    for (uint32_t parent; scope != HQDB_NONE; scope = parent) {
        parent = tree_scope_parent(t, scope);
        if (parent == top || (parent == HQDB_NONE && top == 0))
            return scope == 0 ? HQDB_NONE : scope;
    }
    return HQDB_NONE;
}

static struct node static_node(const struct tree *t, uint32_t scope, struct set contexts)
{
    struct node n = node_of_set(t, scope, contexts);
    const struct hqdb_scope *s = tree_scope(t, scope);

    if (n.kind == SCOPE_MODULE || n.kind == SCOPE_FILE)
        n.rule = EXCLUSIVE_FRAME;
    n.leaf = n.kind == SCOPE_LINE;
    n.id = hash_combine(hash_combine(n.kind, hash_str(tree_text(t, s->name))),
                        hash_combine(hash_str(tree_text(t, s->file)), s->line));
    return n;
}

/* The procedure contexts in `all` (NULL: every one) grouped by the scopes just below `top`. */
static void group_by_scope(struct run *run, const struct set *all, uint32_t top, struct nodes *out)
{
    const struct tree *t = run->tree;
    size_t n = all ? all->len : t->context_count;
    struct keyed g;
    struct set *inc, *exc;

    keyed_init(&g, sizeof(uint32_t));
    for (size_t i = 0; i < n && !run_interrupted(run); i++) {
        uint32_t c = all ? all->data[i] : (uint32_t)i, scope = tree_scope_of(t, c);
        uint32_t k = scope_is_called(t->scopes[scope].kind) ? below(t, scope, top) : HQDB_NONE;

        if (k != HQDB_NONE)
            keyed_add(&g, &k, c, MEMBER_BOTH);
    }
    keyed_sets(&g, &run->arena, &inc, &exc);
    for (uint32_t k = 0; k < g.keys.len; k++)
        vec_push(out, static_node(t, *(const uint32_t *)keymap_key(&g.keys, k), exc[k]));
    keyed_deinit(&g);
}

/* ---- with a pattern: what matches and lies in nothing that matches ---- */

static void pattern_roots(struct run *run, struct nodes *out)
{
    const struct tree *t = run->tree;
    uint8_t *within = xcalloc(t->scope_count, 1);
    struct nodes modules = {0}, files = {0};

    for (uint32_t i = 0; i < t->scope_count; i++) {
        uint32_t parent = tree_scope_parent(t, i);
        bool inside = parent != HQDB_NONE && within[parent];

        within[i] = inside || run->of.scopes[i];
        if (inside || !run->of.scopes[i] || !tree_instances(t, i).len)
            continue;
        struct db_list l = tree_instances(t, i);

        vec_push(out, static_node(t, i, (struct set){l.data, l.len}));
    }
    group_by_scope(run, NULL, 0, &modules);
    vec_foreach(m, &modules) {
        if (m->kind == SCOPE_MODULE && !run->of.scopes[m->scope])
            group_by_scope(run, &m->inc, m->scope, &files);
        else if (run->of.scopes[m->scope] && m->kind != SCOPE_PROCEDURE)
            vec_push(out, *m);
    }
    vec_foreach(f, &files)
        if (f->kind == SCOPE_FILE && run->of.scopes[f->scope])
            vec_push(out, *f);
    vec_deinit(&modules);
    vec_deinit(&files);
    free(within);
}

/* ---- by group: what is named, with what is exclusive to the group ---- */

static struct hq_error *grouped_roots(struct run *run, struct nodes *out)
{
    struct grouping_row rest = {.name = "[no group]"};
    const struct grouping *g;

    HQ_TRY(grouping_make_shown(run, &g));
    for (size_t i = 0; i < g->count; i++)
        vec_push(out, node_of_group(run, &g->rows[i]));
    rest.inc = rest.exc = g->rest;
    if (rest.exc.len)
        vec_push(out, node_of_group(run, &rest));
    return NULL;
}

/* Collects the instances of each procedure of the group, and of each loop and line that is in it without its
 * procedure. */
static void group_members(struct run *run, const struct node *group, struct nodes *out)
{
    const struct tree *t = run->tree;
    AUTO_FREE uint8_t *in = xcalloc((size_t)t->context_count + 1, 1);
    struct keyed g;
    struct set *inc, *exc;

    keyed_init(&g, sizeof(uint32_t));
    for (size_t i = 0; i < group->exc.len; i++)
        in[group->exc.data[i]] = 1;
    for (size_t i = 0; i < group->exc.len && !run_interrupted(run); i++) {
        uint32_t c = group->exc.data[i], scope = tree_scope_of(t, c), parent = tree_parent(t, c);

        if (parent == HQDB_NONE || !in[parent] || scope_is_called(t->scopes[scope].kind))
            keyed_add(&g, &scope, c, MEMBER_BOTH);
    }
    keyed_sets(&g, &run->arena, &inc, &exc);
    for (uint32_t k = 0; k < g.keys.len; k++) {
        struct node n = static_node(t, *(const uint32_t *)keymap_key(&g.keys, k), exc[k]);

        n.leaf |= n.kind == SCOPE_GROUP; /* a damaged database says so: it would be below itself */
        vec_push(out, n);
    }
    keyed_deinit(&g);
}

static struct hq_error *flat_roots(struct run *run, struct nodes *out)
{
    if (run->query->view.grouped)
        return grouped_roots(run, out);
    if (!run->query->view.of) {
        group_by_scope(run, NULL, 0, out);
    } else if (run->of.scopes) {
        pattern_roots(run, out);
    } else {
        for (size_t i = 0; i < run->of.context_count; i++) {
            struct node n = node_of_context(run->tree, run->of.contexts[i]);

            n.inc = n.exc = (struct set){run->of.contexts + i, 1};
            vec_push(out, n);
        }
    }
    return NULL;
}

/* ---- below a procedure ---- */

struct below_key {
    uint32_t kind, scope, file, line;
};

static void add_child(struct run *run, struct keyed *g, uint32_t c)
{
    const struct tree *t = run->tree;
    const struct hqdb_context *x = tree_context(t, c);
    uint32_t scope = tree_scope_of(t, c);
    const struct hqdb_scope *s = tree_scope(t, scope);
    struct below_key line = {SCOPE_LINE, 0, x->call_file, x->call_line};

    switch (s->kind) {
    case SCOPE_LINE:
        keyed_add(g, &(struct below_key){SCOPE_LINE, s->line ? 0 : scope, s->file, s->line}, c, MEMBER_BOTH);
        return;
    case SCOPE_PROCEDURE:
    case SCOPE_WAIT:
    case SCOPE_RUNTIME:
    case SCOPE_DEVICE:
        keyed_add(g, &(struct below_key){SCOPE_CALL, scope, x->call_file, x->call_line}, c, MEMBER_BOTH);
        break;
    default: keyed_add(g, &(struct below_key){s->kind, scope, 0, 0}, c, MEMBER_BOTH); break;
    }
    /* Calls, inlined ones too, are part of the line that makes them, if there is such a row. */
    if ((scope_is_called(s->kind) || s->kind == SCOPE_INLINE) && x->call_line &&
        keymap_find(&g->keys, &line) != KEYMAP_NONE)
        keyed_add(g, &line, c, MEMBER_INCLUSIVE);
}

static struct node below_node(struct run *run, const struct node *parent, const struct below_key *key, struct set inc,
                              struct set exc)
{
    const struct tree *t = run->tree;
    uint32_t scope = tree_scope_of(t, exc.data[0]);
    struct node n = static_node(t, scope, exc);

    n.inc = inc;
    n.leaf = key->kind == SCOPE_LINE || key->kind == SCOPE_CALL;
    if (key->kind == SCOPE_CALL) {
        n.kind = SCOPE_CALL;
        n.rule = EXCLUSIVE_NONE;
        n.call_file = key->file;
        n.call_line = key->line;
        n.id = hash_combine(n.id, hash_combine(hash_str(tree_text(t, key->file)), key->line));
    }
    n.id = hash_combine(parent->id, n.id);
    return n;
}

static void instance_children(struct run *run, const struct node *parent, struct nodes *out)
{
    const struct tree *t = run->tree;
    struct keyed g;
    struct set *inc, *exc;

    keyed_init(&g, sizeof(struct below_key));
    for (int pass = 0; pass < 2; pass++) /* lines first, so that calls find theirs */
        for (size_t i = 0; i < parent->exc.len && !run_interrupted(run); i++)
            for (uint32_t c = parent->exc.data[i] + 1, end = tree_end(t, parent->exc.data[i]); c < end;
                 c = tree_end(t, c))
                if ((tree_kind(t, c) != SCOPE_LINE) == pass)
                    add_child(run, &g, c);
    keyed_sets(&g, &run->arena, &inc, &exc);
    for (uint32_t k = 0; k < g.keys.len; k++)
        vec_push(out, below_node(run, parent, keymap_key(&g.keys, k), inc[k], exc[k]));
    keyed_deinit(&g);
}

static void flat_children(struct run *run, const struct node *parent, struct nodes *out)
{
    if (parent->kind == SCOPE_GROUP)
        group_members(run, parent, out);
    else if (parent->kind == SCOPE_MODULE || parent->kind == SCOPE_FILE)
        group_by_scope(run, &parent->inc, parent->scope, out);
    else
        instance_children(run, parent, out);
}

const struct view_row view_flat = {.shape = SHAPE_NESTED,
                                   .of_kinds = KINDS_STATIC,
                                   .row_kinds = KINDS_STATIC | KIND_BIT(SCOPE_CALL) | KIND_BIT(SCOPE_GROUP),
                                   .roots = flat_roots,
                                   .children = flat_children};
