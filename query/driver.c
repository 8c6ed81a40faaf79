/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/driver.h"
#include "db/facts.h"
#include "query/bind/clauses.h"
#include "query/choose/helpers.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include "query/measure/grouping.h"
#include "query/measure/values.h"
#include "query/output.h"
#include "query/shape/loop_lines.h"
#include "query/shape/rows.h"
#include "query/views/views.h"

static void look_at_format(struct run *run)
{
    const struct output_format *format = run->query->as ? output_find(run->query->as->format) : NULL;

    run->complete = run->query->as ? format && format->complete : run->env->complete;
    run->of_paths = format && format->of_paths;
}

static struct hq_error *resolve_of(struct run *run)
{
    const struct pattern *of = run->query->view.of;

    if (!of)
        return NULL;
    HQ_TRY(pattern_resolve(run->env, run->tree, of, run->view->of_kinds, &run->of));
    if (run->of.problem)
        run_note(run, "%s", run->of.problem);
    return NULL;
}

static void note_selection(struct run *run)
{
    vec_foreach(note, &run->selection.notes) {
        run_note(run, "%s", *note);
        free(*note);
    }
    vec_clear(&run->selection.notes);
}

/* Where callers and callees alone are known, inclusive costs are made of what all calls of a callee cost. */
static void note_paths(struct run *run)
{
    enum view_kind kind = run->query->view.kind;
    bool as_filed;

    if (facts_paths_estimated(run->env->db, &as_filed) &&
        (kind == VIEW_TREE || kind == VIEW_CALLERS || kind == VIEW_HOT_PATH || kind == VIEW_PROCEDURES ||
         kind == VIEW_FLAT || kind == VIEW_LINES || run->query->samples.through.len))
        run_note(run, as_filed
                          ? "call paths are estimates from callers and callees; exclusive costs are exact, inclusive "
                            "ones of a procedure as a whole nearly so"
                          : "call paths are estimates from callers and callees, and so are inclusive costs, above "
                            "recursions most of all; exclusive ones are exact");
}

/* Fails if a result would be wrong: a sum has overflowed, the database is damaged, or a regular expression could not
 * decide. */
static struct hq_error *all_known(const struct run *run)
{
    if (sums_overflow)
        return hq_error_new(HQ_DATA,
                            "the values of %s add up to more than 64 bits hold: it is damaged; `hq verify` "
                            "says more",
                            run->tree->old ? "these databases" : "this database");
    HQ_TRY(db_damage(run->env->db));
    if (run->tree && run->tree->old)
        HQ_TRY(db_damage(run->tree->old));
    vec_foreach(r, &run->matching)
        HQ_TRY(regex_failure(*r));
    vec_foreach(r, &run->binding.regexes)
        HQ_TRY(regex_failure(*r));
    return NULL;
}

static struct hq_error *make_table(struct run *run)
{
    struct query q = *run->query;

    q.samples.compare = run->view->compares ? NULL : q.samples.compare;
    HQ_TRY(selection_make(run->env, &q, &run->selection));
    run->tree = &run->selection.tree;
    if (run->env->only_system)
        ready_made_keep_system(run->tree->db, &run->selection.keep);
    note_selection(run);
    note_trace(run);
    HQ_TRY(resolve_of(run));
    if (run->view->prepare)
        HQ_TRY(run->view->prepare(run));
    binding_init(&run->binding, run->env, &run->selection, &run->arena);
    run->binding.has_rows_of_profiles = run->view->of_profiles;
    run->binding.row_kinds = run->view->row_kinds;
    if (query_setting(run->env, SETTING_LINES) && run->view->row_kinds & KIND_BIT(SCOPE_THREAD) &&
        !run->view->of_profiles)
        run->binding.row_kinds |= KIND_BIT(SCOPE_LINE);
    if (run->view->shape == SHAPE_FACTS)
        return run->view->fill(run, run->table);
    HQ_TRY(clauses_bind(run));
    if (run->query->samples.per && !run->binding.statistics.len && !run->view->of_profiles &&
        view_has_costs(run->query->view.kind))
        run_note(run,
                 "`per` says what statistics are over, and there is none: add columns mean(EXPR), imbalance(EXPR); "
                 "threads has a row for each");
    HQ_TRY(grouping_check(run));
    note_selection(run);
    HQ_TRY(values_load(run));
    helpers_note_elapsed(run);
    note_partly(run);
    if (run->binding.uses_waits)
        HQ_TRY(note_delay(run));
    run->table->chosen_columns = run->query->columns.len;
    run->table->tree = run->view->shape != SHAPE_LIST;
    run->table->doubt = run->doubt;
    HQ_TRY(rows_make(run));
    note_loop_lines(run);
    note_paths(run);
    const char *unknown = run->of.unknown          ? run->of.unknown
                          : run->selection.unknown ? run->selection.unknown
                          : run->binding.unknown   ? run->binding.unknown
                                                   : run->unknown;

    run->table->unknown = unknown ? arena_strdup(&run->table->arena, unknown) : NULL;
    return all_known(run);
}

static void run_deinit(struct run *run)
{
    vec_foreach(r, &run->matching)
        regex_destroy(*r);
    vec_deinit(&run->matching);
    vec_deinit(&run->columns);
    vec_deinit(&run->where);
    vec_deinit(&run->sort);
    vec_deinit(&run->expect);
    vec_deinit(&run->ranges);
    matches_deinit(&run->of);
    binding_deinit(&run->binding);
    selection_deinit(&run->selection);
    free(run->waits);
    free(run->tints);
    arena_deinit(&run->arena);
}

struct hq_error *run_query(struct query_env *env, const struct query *q, struct table **out)
{
    struct run run = {.env = env, .query = q, .view = view_find(q->view.kind), .table = table_create()};
    struct hq_error *err = NULL;

    *out = NULL;
    sums_overflow = false;
    err = db_damage(env->db);
    run.table->query = print_query(&run.table->arena, q);
    run.table->view = view_words[q->view.kind].name;
    if (!err && q->as && !output_find(q->as->format))
        err = output_unknown(q->as);
    look_at_format(&run);
    env->judged = q->expect.len > 0;
    if (!err)
        err = make_table(&run);
    run_deinit(&run);
    if (err) {
        table_destroy(run.table);
        return err;
    }
    *out = run.table;
    return NULL;
}
