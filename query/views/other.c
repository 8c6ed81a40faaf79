/* SPDX-License-Identifier: BSD-3-Clause */
/* A query's question asked of the database that it compares with (views.h): for views that look at both sides as
 * wholes.
 */
#include "query/choose/derive.h"
#include "query/views/views.h"

static struct hq_error *select_other(struct run *other, struct query_env *env)
{
    HQ_TRY(selection_make(env, other->query, &other->selection));
    other->tree = &other->selection.tree;
    vec_foreach(note, &other->selection.notes)
        run_note(other, "%s", *note);
    if (other->query->view.of)
        HQ_TRY(pattern_resolve(env, other->tree, other->query->view.of, other->view->of_kinds, &other->of));
    if (other->of.problem)
        run_note(other, "%s", other->of.problem);
    return db_damage(other->tree->db);
}

struct hq_error *run_other(struct run *run, struct run **out)
{
    struct run *other = *out = xcalloc(1, sizeof *other);
    struct query_env *env = ARENA_NEW(&other->arena, struct query_env);
    struct query *q = ARENA_NEW(&other->arena, struct query);
    struct hq_error *err;

    *env = *run->env;
    *q = *run->query;
    q->samples.compare = NULL;
    other->env = env;
    other->query = q;
    other->view = run->view;
    other->table = run->table;
    HQ_TRY(compare_open(run->env, run->query, &env->db));
    err = select_other(other, env);
    run->env->cache = env->cache; /* what settings derived stays with the session */
    return err;
}

void run_other_end(struct run *other)
{
    if (!other)
        return;
    matches_deinit(&other->of);
    selection_deinit(&other->selection);
    free(other->tints);
    arena_deinit(&other->arena);
    free(other);
}
