/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `phases`: one row per stretch of time of each profile (query/views/stretches.h): when it starts, how long it takes,
 * and every metric that has traces. These are its metrics, for columns, where, sort by, expect and let.
 */
#include "common/hash.h"
#include "query/grammar/parse.h"
#include "query/views/stretches.h"
#include "query/views/views.h"

static void add_nodes(struct run *run, const struct trace *t, const struct visits *v, const uint32_t *metrics,
                      size_t count, const double *values)
{
    run->prepared.data = ARENA_ARRAY(&run->arena, v->len, struct node);
    run->prepared.len = v->len;
    for (size_t i = 0; i < v->len; i++) {
        const struct visit *x = &v->data[i];

        run->prepared.data[i] = node_of_visit(run, t, x, "stretch",
                                              stretch_slots(run, x, metrics, count, values + i * count));
    }
}

static struct hq_error *phases_prepare(struct run *run)
{
    struct trace t;
    struct visits v = {0};
    char *doubt = NULL;
    size_t count;
    struct hq_error *err = trace_init(&t, run, 1, 0, false);

    if (!err)
        err = stretches_find(run, &t, &v, &doubt);
    const uint32_t *metrics = stretches_metrics(run, &v, &count);
    const char *hint;
    AUTO_FREE double *values = xcalloc(v.len * count + 1, sizeof *values);

    if (!err)
        err = stretches_measure(run, &t, &v, metrics, count, values);
    if (!err) {
        run->doubt = doubt ? arena_strdup(&run->table->arena, doubt) : NULL;
        add_nodes(run, &t, &v, metrics, count, values);
        stretches_set_measures(run, &v, metrics, count, values);
        if (v.len)
            run_note(run, "%zu row%s%s%s", v.len, v.len == 1 ? "" : "s", doubt ? ": " : "", doubt ? doubt : "");
        else if ((hint = trace_device_hint(run)))
            run_unmeasured(run, "%s", hint);
        else if (run->query->view.of)
            run_unmeasured(run, "%s was never on the stack of these profiles, so it has no visits",
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
    .of_traces = true,
    .in_order = true,
    .prepare = phases_prepare,
    .roots = roots_prepared,
};
