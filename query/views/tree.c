/* SPDX-License-Identifier: BSD-3-Clause */
/* The calling context view: a row is a context; with `of PATTERN`, the exposed instances merged. */
#include "common/hash.h"
#include "common/map.h"
#include "query/shape/rows.h"
#include "query/views/views.h"

static struct node single(struct run *run, uint32_t c)
{
    struct node n = node_of_context(run->tree, c);
    uint32_t *self = ARENA_NEW(&run->arena, uint32_t);

    *self = c;
    n.inc.data = n.exc.data = self;
    return n;
}

static bool shown(const struct run *run, uint32_t c)
{
    return query_setting(run->env, SETTING_LINES) || tree_kind(run->tree, c) != SCOPE_LINE;
}

struct child_key {
    uint32_t scope, call_file, call_line;
};

/* The children of several contexts, merged where scope and call site are the same. */
static void merged_children(struct run *run, const struct node *parent, struct nodes *out)
{
    const struct tree *t = run->tree;
    VEC(uint32_t) all = {0}, group = {0};
    struct keymap keys;
    size_t *start;

    keymap_init(&keys, sizeof(struct child_key));
    for (size_t i = 0; i < parent->inc.len && !run_interrupted(run); i++)
        for (uint32_t c = parent->inc.data[i] + 1, end = tree_end(t, parent->inc.data[i]); c < end;
             c = tree_end(t, c)) {
            const struct hqdb_context *x = tree_context(t, c);

            if (!shown(run, c) || (parent->rounds && tree_scope_of(t, c) == parent->scope))
                continue;
            vec_push(&group,
                     keymap_add(&keys, &(struct child_key){tree_scope_of(t, c), x->call_file, x->call_line}, NULL));
            vec_push(&all, c);
        }
    start = xcalloc(keys.len + 1, sizeof *start);
    for (size_t i = 0; i < group.len; i++)
        start[group.data[i] + 1]++;
    for (uint32_t k = 0; k < keys.len; k++)
        start[k + 1] += start[k];
    uint32_t *sorted = ARENA_ARRAY(&run->arena, all.len, uint32_t);
    size_t *next = xcalloc(keys.len + 1, sizeof *next);

    memcpy(next, start, keys.len * sizeof *next);
    for (size_t i = 0; i < all.len; i++)
        sorted[next[group.data[i]]++] = all.data[i];
    for (uint32_t k = 0; k < keys.len; k++) {
        struct set s = {sorted + start[k], start[k + 1] - start[k]};

        if (parent->rounds) /* a round's own children may stand behind those of inner ones */
            s = set_sorted(sorted + start[k], s.len, &run->arena);
        struct node n = node_of_context(t, s.data[0]);

        n.inc = n.exc = s;
        if (s.len > 1) {
            n.context = HQDB_NONE;
            n.id = hash_combine(parent->id, n.id);
        }
        node_merge_rounds(run, &n);
        vec_push(out, n);
    }
    free(start);
    free(next);
    vec_deinit(&all);
    vec_deinit(&group);
    keymap_deinit(&keys);
}

static void tree_children(struct run *run, const struct node *parent, struct nodes *out)
{
    const struct tree *t = run->tree;

    if (parent->inc.len != 1) {
        merged_children(run, parent, out);
        return;
    }
    for (uint32_t c = parent->inc.data[0] + 1, end = tree_end(t, parent->inc.data[0]); c < end && !run_interrupted(run);
         c = tree_end(t, c))
        if (shown(run, c)) {
            struct node n = single(run, c);

            node_merge_rounds(run, &n);
            vec_push(out, n);
        }
}

static const char *name_of_pattern(const struct run *run, const struct pattern *of)
{
    if (of->text)
        return of->text;
    if (of->kind == PATTERN_ROW && of->row <= run->env->last.len)
        return run->env->last.data[of->row - 1].name;
    return "several contexts";
}

/* One root for everything that matched: named by the scope if it is one, else by the pattern. */
static struct node merged_root(struct run *run, const uint32_t *contexts, size_t count)
{
    const struct tree *t = run->tree;
    struct set all = {contexts, count}, exposed = set_exposed(t, all, &run->arena);
    uint32_t scope = tree_scope_of(t, contexts[0]);
    struct node n;

    for (size_t i = 1; i < count && scope != HQDB_NONE; i++)
        if (run_entities(run)->of[scope] == HQDB_NONE
                ? tree_scope_of(t, contexts[i]) != scope
                : run_entities(run)->of[tree_scope_of(t, contexts[i])] != run_entities(run)->of[scope])
            scope = HQDB_NONE;
    if (exposed.len == 1 && scope != HQDB_NONE)
        return single(run, exposed.data[0]);
    n = node_of_set(t, scope == HQDB_NONE ? 0 : scope, exposed);
    if (scope == HQDB_NONE) {
        n.scope = HQDB_NONE;
        n.kind = SCOPE_ROOT;
        n.name = arena_strdup(&run->arena, name_of_pattern(run, run->query->view.of));
    }
    n.id = hash_combine(7, tree_context(t, contexts[0])->id);
    return n;
}

static struct hq_error *tree_roots(struct run *run, struct nodes *out)
{
    if (!run->query->view.of) {
        struct node root = single(run, 0);

        tree_children(run, &root, out);
        return NULL;
    }
    size_t count;
    AUTO_FREE uint32_t *contexts = matches_contexts(&run->of, run->tree, &count);

    if (count)
        vec_push(out, merged_root(run, contexts, count));
    return NULL;
}

const struct view_row view_tree = {.shape = SHAPE_TREE,
                                   .of_kinds = KINDS_PATH,
                                   .row_kinds = KINDS_TREE,
                                   .roots = tree_roots,
                                   .children = tree_children};
const struct view_row view_hot_path = {.shape = SHAPE_PATH,
                                       .of_kinds = KINDS_PATH,
                                       .row_kinds = KINDS_TREE,
                                       .roots = tree_roots,
                                       .children = tree_children};
