/* SPDX-License-Identifier: BSD-3-Clause */
/* Races in `hq check`: a set of runs of two programs, judged by saved queries. */
#include "common/clock.h"
#include "repl/check/run.h"

bool check_is_race(const struct runner *r)
{
    return run_set_count(&r->set, RUN_OLD) > 0;
}

static struct hq_error *ask_runs(const struct runner *r, struct gate *g, const char *file)
{
    size_t seen[RUN_SIDES] = {0};

    vec_foreach(run, &r->set.runs)
        HQ_TRY(gate_ask(g, run->path, run->side, seen[run->side]++, &file, 1));
    return NULL;
}

/* A point for each query of the file: the new runs against the old ones. */
struct hq_error *check_race(struct runner *r, const char *file)
{
    size_t pairs = run_set_count(&r->set, RUN_OLD);
    AUTO(arena_deinit) struct arena arena = {0};
    AUTO(gate_deinit) struct gate g;
    /* Once more at the full level would make the race's last look two. */
    double start = clock_seconds(), family = r->set.family > 0 ? r->set.family : GATE_FAMILY;

    gate_init(&g, r->args, pairs);
    HQ_TRY(ask_runs(r, &g, file));
    vec_foreach(q, &g.queries) {
        struct check_lines lines = {0};
        size_t wanted;
        enum check_outcome outcome = gate_judge_query(*q, pairs, &r->race_tolerance, family / (double)g.queries.len,
                                                      &arena, &lines, &wanted);

        if (outcome == CHECK_PASS)
            outcome = gate_judge_elapsed(&g, *q, pairs, &r->race_tolerance, &arena, &lines);
        if (outcome == CHECK_FAIL)
            gate_explain(r->set.directory, (*q)->values.shown, &arena, &lines);
        struct check *c = check_new(r, outcome, arena_printf(&arena, "race of %s", (*q)->text), (*q)->line);

        vec_foreach(line, &lines)
            check_add_line(r, c, *line);
        vec_deinit(&lines);
        check_finish(r, start);
        start = clock_seconds();
    }
    return NULL;
}
