/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `compare with`: one tree for two databases. Scopes are the same if kind and qualified name are, loops by their ordinal within
 * their procedure; never by line or address. The call sites of one caller merge, and statements fall on the scope that holds them.
 * Every frame of both databases has its place in the new tree, so each side's values add up in it as they do in its own.
 */
#include "common/hash.h"
#include "query/derive.h"
#include "query/grammar/parse.h"
#include "query/paths.h"
#include "query/query.h"

struct scope_key { uint32_t kind, within, name, ordinal; };

struct aligner {
    struct keymap keys;
    struct intern names;
    VEC(struct hqdb_scope) scopes;
    struct intern *extra;       /* texts of the old side */
};

/* What a scope is known by on both sides. */
static struct scope_key key_of(struct aligner *a, const struct tree *t, const struct hqdb_scope *s, uint32_t parent)
{
    const char *name = tree_text(t, s->name);

    switch (s->kind) {
    case SCOPE_MODULE: case SCOPE_FILE:
        return (struct scope_key){s->kind, s->kind == SCOPE_FILE ? parent : 0, intern_add(&a->names, path_base(name)), 0};
    case SCOPE_LOOP:
        return (struct scope_key){s->kind, parent, 0, s->ordinal};
    case SCOPE_INLINE:
        return (struct scope_key){s->kind, parent, intern_add(&a->names, name), 0};
    default:
        return (struct scope_key){s->kind, 0, intern_add(&a->names, name), 0};
    }
}

static uint32_t carry_text(struct aligner *a, const struct tree *t, uint32_t text, bool old)
{
    return old ? TREE_EXTRA + intern_add(a->extra, tree_text(t, text)) : text;
}

/* [scope of t] -> scope of the new tree; lines -> the scope around them. */
static uint32_t *align_scopes(struct aligner *a, const struct tree *t, bool old)
{
    uint32_t *to = xcalloc((size_t)t->scope_count + 1, sizeof *to);

    for (uint32_t i = 0; i < t->scope_count; i++) {
        struct hqdb_scope s = *tree_scope(t, i);
        uint32_t up = tree_scope_parent(t, i), parent = up == HQDB_NONE ? 0 : to[up];
        bool is_new;

        if (s.kind == SCOPE_LINE || (i == 0 && old)) {
            to[i] = parent;
            continue;
        }
        struct scope_key key = key_of(a, t, &s, parent);

        to[i] = keymap_add(&a->keys, &key, &is_new);
        if (!is_new)
            continue;
        s.parent = i == 0 ? HQDB_NONE : parent;
        s.name = carry_text(a, t, s.name, old);
        s.file = carry_text(a, t, s.file, old);
        s.call_file = carry_text(a, t, s.call_file, old);
        if (old) {
            s.module = HQDB_NONE;
            s.alias_count = 0;
        }
        vec_push(&a->scopes, s);
    }
    return to;
}

/* The new node of each context; ids are those of the path in the new tree, so that the two sides agree. */
static uint32_t *align_contexts(struct tree_builder *b, const struct tree *t, const uint32_t *to, const struct aligner *a)
{
    uint32_t *node = xmalloc((size_t)t->context_count * sizeof *node);

    node[0] = 0;
    for (uint32_t c = 1; c < t->context_count; c++) {
        uint32_t up = tree_parent(t, c), parent = up == HQDB_NONE ? 0 : node[up], scope = to[tree_scope_of(t, c)];

        node[c] = tree_kind(t, c) == SCOPE_LINE
                      ? parent
                      : builder_child(b, parent, scope, 0, 0,
                                      hash_combine(b->nodes.data[parent].id,
                                                   hash_bytes(keymap_key(&a->keys, scope), sizeof(struct scope_key), 0)));
    }
    return node;
}

static struct hq_error *open_old(struct query_env *env, const struct query *q, struct db **out)
{
    struct hq_error *err;

    if (env->find_db)
        err = env->find_db(env->find_db_arg, q->compare, out);
    else if (!(err = db_open(q->compare, out)))
        vec_push(&env->opened, *out);
    return err;
}

static struct hq_error *refuse(const struct query *q)
{
    if (q->view.kind == VIEW_LINES || q->view.kind == VIEW_SOURCE)
        return place_error(&q->given[CLAUSE_COMPARE], NULL, "lines cannot be compared: they move between two builds, and procedures and loops do not");
    if (q->view.kind == VIEW_THREADS || q->view.kind == VIEW_PROFILES)
        return place_error(&q->given[CLAUSE_COMPARE], NULL, "the profiles of two runs cannot be compared one by one");
    return NULL;
}

/* Where the frames of one side are in the new tree; takes over `position`. */
static uint32_t *compose(struct tree *side, uint32_t *position)
{
    if (!side->position)
        return position;
    for (size_t f = 0; f < side->db->frame_count; f++)
        side->position[f] = position[side->position[f]];
    free(position);
    return MEM_STEAL(side->position);
}

static void align(struct tree *here, struct tree *old, struct tree *both)
{
    struct aligner a = {.extra = &both->extra};
    struct tree *sides[2] = {here, old};
    uint32_t *position[2], *to[2], *node[2];
    struct tree_builder b;

    keymap_init(&a.keys, sizeof(struct scope_key));
    for (int i = 0; i < 2; i++)
        to[i] = align_scopes(&a, sides[i], i);
    builder_init(&b, 0, tree_context(here, 0)->id);
    for (int i = 0; i < 2; i++)
        node[i] = align_contexts(&b, sides[i], to[i], &a);
    struct frame_source sources[2] = {{here, node[0]}, {old, node[1]}};

    builder_finish(&b, sources, 2, a.scopes.data, (uint32_t)a.scopes.len, true, position, both);
    both->position = compose(here, position[0]);
    both->old_position = compose(old, position[1]);
    for (int i = 0; i < 2; i++) {
        free(to[i]);
        free(node[i]);
    }
    keymap_deinit(&a.keys);
    intern_deinit(&a.names);
}

struct hq_error *compare_trees(struct query_env *env, struct selection *s, const struct query *q)
{
    AUTO(tree_deinit) struct tree old = {0};
    struct tree here = s->tree, both = {.db = s->tree.db};
    struct db *old_db;

    HQ_TRY(refuse(q));
    HQ_TRY(open_old(env, q, &old_db));
    HQ_TRY(derive_settings(env, old_db, &both.old));
    tree_init(&old, both.old);
    HQ_TRY(paths_mark(env, &old, q, &s->old_keep, NULL));
    HQ_TRY(prune_tree(env, &old, q, NULL));
    align(&here, &old, &both);
    s->tree = both;
    tree_deinit(&here);
    return NULL;
}
