/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The callers view ([presenting], section III.B and IV.B): each procedure, and below it the call sites it was called
 * from, the procedures those are in, and so on up. Every row below a procedure carries the cost of those instances of
 * the procedure that were reached that way.
 */
#include "common/hash.h"
#include "common/map.h"
#include "query/shape/rows.h"
#include "query/views/views.h"

static struct hq_error *callers_roots(struct run *run, struct nodes *out)
{
    if (run->query->view.of && !run->of.scopes) {
        struct set all = set_sorted(run->of.contexts, run->of.context_count, &run->arena);

        for (size_t i = 0; i < all.len; i++) {
            struct node n = node_of_context(run->tree, all.data[i]);

            n.inc = n.exc = (struct set){all.data + i, 1};
            n.context = HQDB_NONE;
            n.at = n.exc.data;
            n.leaf = false;
            vec_push(out, n);
        }
        return NULL;
    }
    entity_nodes(run, run->query->view.of ? run->of.scopes : NULL, out);
    for (size_t i = 0; i < out->len; i++)
        out->data[i].at = out->data[i].exc.data;
    return NULL;
}

struct caller_key {
    uint32_t who, call_file, call_line;
};

static uint32_t who(struct run *run, uint32_t context)
{
    uint32_t scope = tree_scope_of(run->tree, context), entity = run_entities(run)->of[scope];

    return entity == HQDB_NONE ? 0x80000000u | scope : entity;
}

/* Finds the caller of a context: its procedure (merged over inlined copies), and the place of the call in it. */
static bool caller_of(struct run *run, uint32_t at, uint32_t *caller, struct caller_key *key)
{
    const struct tree *t = run->tree;
    const struct hqdb_context *x = tree_context(t, at);

    *caller = tree_caller(t, at);
    if (*caller == HQDB_NONE)
        return false;
    *key = (struct caller_key){who(run, *caller), x->call_file, x->call_line};
    return true;
}

/* The outermost of the rounds in which a caller calls itself, and how many there are. */
static uint32_t outermost(struct run *run, uint32_t caller, uint32_t *rounds)
{
    uint32_t self = who(run, caller);

    *rounds = 1;
    for (uint32_t c; (c = tree_caller(run->tree, caller)) != HQDB_NONE && who(run, c) == self; caller = c)
        ++*rounds;
    return caller;
}

/* A caller that calls itself is one row, if there are rounds enough. at: the callers, grouped by row. */
static void merge_rounds(struct run *run, struct node *row, uint32_t *at)
{
    size_t n = row->exc.len;
    uint32_t *outer = xmalloc((n + 1) * sizeof *outer), most = 0, rounds;

    for (size_t i = 0; i < n && !run_interrupted(run); i++) {
        outer[i] = outermost(run, at[i], &rounds);
        most = rounds > most ? rounds : most;
    }
    if (most >= ROUNDS_MIN && !run_interrupted(run)) {
        memcpy(at, outer, n * sizeof *at);
        row->rounds = most;
    }
    free(outer);
}

static void callers_children(struct run *run, const struct node *parent, struct nodes *out)
{
    const struct tree *t = run->tree;
    size_t n = parent->exc.len;
    uint32_t *group = xmalloc(n * sizeof *group + 1), *caller = xmalloc(n * sizeof *caller + 1);
    struct keymap keys;

    keymap_init(&keys, sizeof(struct caller_key));
    for (size_t i = 0; i < n; i++) {
        struct caller_key key;

        group[i] = !run_interrupted(run) && caller_of(run, parent->at[i], &caller[i], &key)
                       ? keymap_add(&keys, &key, NULL)
                       : KEYMAP_NONE;
    }
    size_t *next = xcalloc(keys.len + 1, sizeof *next);

    for (size_t i = 0; i < n; i++)
        if (group[i] != KEYMAP_NONE)
            next[group[i] + 1]++;
    uint32_t *items = ARENA_ARRAY(&run->arena, n, uint32_t), *at = ARENA_ARRAY(&run->arena, n, uint32_t);

    for (uint32_t k = 0; k < keys.len; k++) {
        const struct caller_key *key = keymap_key(&keys, k);
        uint32_t scope = key->who & 0x80000000u ? key->who & 0x7fffffffu : run_entities(run)->scope[key->who];
        struct node row = node_of_set(t, scope, (struct set){items + next[k], next[k + 1]});

        next[k + 1] += next[k];
        row.call_file = key->call_file;
        row.call_line = key->call_line;
        row.at = at + next[k];
        row.id = hash_combine(hash_combine(parent->id, hash_str(tree_text(t, tree_scope(t, scope)->name))),
                              hash_combine(hash_str(tree_text(t, key->call_file)), key->call_line));
        row.leaf = row.kind == SCOPE_THREAD || row.kind == SCOPE_PARTIAL;
        vec_push(out, row);
    }
    for (size_t i = 0; i < n; i++)
        if (group[i] != KEYMAP_NONE) {
            items[next[group[i]]] = parent->exc.data[i];
            at[next[group[i]]++] = caller[i];
        }
    for (uint32_t k = 0; k < keys.len && rows_merge_rounds(run); k++)
        merge_rounds(run, &out->data[out->len - keys.len + k], at + (out->data[out->len - keys.len + k].at - at));
    free(next);
    free(group);
    free(caller);
    keymap_deinit(&keys);
}

const struct view_row view_callers = {.shape = SHAPE_NESTED,
                                      .of_kinds = KINDS_PROCEDURE,
                                      .row_kinds = KINDS_TREE & ~KIND_BIT(SCOPE_LOOP),
                                      .roots = callers_roots,
                                      .children = callers_children};
