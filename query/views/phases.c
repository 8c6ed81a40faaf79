/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `phases`: one row per stretch of time of each profile (query/stretches.h): when it starts, how long it takes, and
 * every metric that has traces. These are its metrics, for columns, where, sort by, expect and let.
 */
#include "common/hash.h"
#include "query/grammar/parse.h"
#include "query/stretches.h"
#include "query/views/views.h"
#include <math.h>

enum { START, LENGTH, OWN };

static void set_measures(struct run *run, const struct visits *v, const uint32_t *metrics, size_t count,
                         const double *values)
{
    struct selection *s = &run->selection;
    VEC(struct measure) made = {0};

    vec_push(&made, measure_of_view("start", "when it starts", DIM_SECONDS, 1e-6));
    vec_push(&made, measure_of_view("length", "how long it takes", DIM_SECONDS, 1e-6));
    for (size_t i = 0; i < v->len; i++)
        sum_add(&made.data[LENGTH].total, (int64_t)v->data[i].length_us);
    for (size_t k = 0; k < count; k++) {
        const struct hqdb_metric *m = &run->tree->db->metrics[metrics[k]];
        double total = 0;

        for (size_t i = 0; i < v->len; i++)
            total += values[i * count + k];
        vec_push(&made, measure_of_view(db_string(run->tree->db, m->name), db_string(run->tree->db, m->description),
                                        (enum dim)m->dimension, m->scale));
        vec_last(&made).total = llround(total);
    }
    vec_clear(&s->measures);
    for (size_t i = 0; i < made.len; i++)
        vec_push(&s->measures, made.data[i]);
    s->here_count = made.len;
    vec_deinit(&made);
}

static void add_nodes(struct run *run, const struct trace *t, const struct visits *v, const uint32_t *metrics,
                      size_t count, const double *values)
{
    run->prepared.data = ARENA_ARRAY(&run->arena, v->len, struct node);
    run->prepared.len = v->len;
    for (size_t i = 0; i < v->len; i++) {
        const struct visit *x = &v->data[i];
        double *slots = ARENA_ARRAY(&run->arena, 2 * (OWN + count), double);

        slots[2 * START] = (double)x->from_us / 1e6;
        slots[2 * LENGTH] = (double)x->length_us / 1e6;
        for (size_t k = 0; k < count; k++)
            slots[2 * (OWN + k)] = values[i * count + k] * run->tree->db->metrics[metrics[k]].scale;
        for (size_t k = 0; k < OWN + count; k++)
            slots[2 * k + 1] = slots[2 * k];
        run->prepared.data[i] = (struct node){
            .kind = SCOPE_THREAD,
            .scope = HQDB_NONE,
            .context = HQDB_NONE,
            .profile = x->profile,
            .leaf = true,
            .slots = slots,
            .rule = EXCLUSIVE_NONE,
            .id = hash_combine(hash_combine(hash_str("stretch"), x->profile), x->number),
            .name = arena_printf(&run->arena, "%s #%u%s%s", trace_label(t, x->profile, &run->arena), x->number,
                                 x->cut ? " (cut)" : "", run->doubt ? " (uncertain)" : ""),
        };
    }
}

static struct hq_error *find(struct run *run, const struct trace *t, struct visits *out, char **doubt)
{
    const struct view *view = &run->query->view;
    struct matches between = {0};
    struct hq_error *err = NULL;

    if (view->between)
        err = pattern_resolve(run->env, run->tree, view->between, KINDS_PATH, &between);
    if (!err && between.problem)
        run_note(run, "%s", between.problem);
    if (!err) {
        AUTO_FREE uint8_t *mark = view->between ? matches_mark(&between, run->tree)
                                  : view->of    ? matches_mark(&run->of, run->tree)
                                                : NULL;

        err = view->of ? stretches_of(run, t, mark, out, doubt) : bursts_find(run, t, mark, out, doubt);
    }
    matches_deinit(&between);
    return err;
}

static struct hq_error *phases_prepare(struct run *run)
{
    struct trace t;
    struct visits v = {0};
    char *doubt = NULL;
    size_t count;
    const uint32_t *metrics = stretches_metrics(run, &count);
    struct hq_error *err = trace_init(&t, run, 1, 0);

    if (!err)
        err = find(run, &t, &v, &doubt);
    AUTO_FREE double *values = xcalloc(v.len * count + 1, sizeof *values);

    if (!err)
        err = stretches_measure(run, &t, &v, metrics, count, values);
    if (!err) {
        run->doubt = doubt ? arena_strdup(&run->table->arena, doubt) : NULL;
        add_nodes(run, &t, &v, metrics, count, values);
        set_measures(run, &v, metrics, count, values);
        if (v.len)
            run_note(run, "%zu row%s%s%s", v.len, v.len == 1 ? "" : "s", doubt ? ": " : "", doubt ? doubt : "");
        else if (run->query->view.of)
            run_note(run, "%s was never on the stack of these profiles, so it has no visits",
                     print_pattern(&run->arena, run->query->view.of));
    }
    free(doubt);
    vec_deinit(&v);
    trace_deinit(&t);
    return err;
}

const struct view_row view_phases = {
    .shape = SHAPE_LIST,
    .of_kinds = KINDS_PATH,
    .row_kinds = KIND_BIT(SCOPE_THREAD),
    .of_profiles = true,
    .in_order = true,
    .prepare = phases_prepare,
    .roots = roots_prepared,
};
