/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq check --history DIR`: keeps the values of this commit, and tells where the course of a row has a step. */
#include "common/clock.h"
#include "common/log.h"
#include "repl/check/run.h"
#include "repl/gate/history.h"
#include <string.h>

#define LEAST 0.0025 /* the smallest share that is kept: half of what is told */

struct hq_error *check_history_take(struct runner *r, const struct statement *st)
{
    AUTO(arena_deinit) struct arena arena = {0};
    const char *text = gate_query_text(&arena, st);

    if (!r->history || !gate_compares(st) || baseline_find(&r->kept, text))
        return NULL;
    r->kept.machine = baseline_machine(r->session.env.db, &r->kept.arena);
    return check_measure(r, st, &r->kept, text);
}

struct told {
    const struct course *course;
    const struct gate_step *step;
};

static int by_time(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    size_t i = x->course->commit.data[x->step->last], k = y->course->commit.data[y->step->last];
    double p = course_step_size(x->step), q = course_step_size(y->step);

    return i != k ? (i < k ? 1 : -1) : p < q ? 1 : p > q ? -1 : strcmp(x->course->path, y->course->path);
}

/* A point that always passes: what is to be done about a step is for people to say. */
static void tell(struct runner *r, const struct history *h, double start)
{
    enum { MOST = 5 };
    AUTO(arena_deinit) struct arena arena = {0};
    VEC(struct told) list = {0};
    courses all = {0};
    size_t n = h->commits.len;
    struct check *c = check_new(r, CHECK_PASS, arena_printf(&arena, "course over %zu commit%s", n, n == 1 ? "" : "s"),
                                0);

    history_courses(h, &all);
    vec_foreach(row, &all)
        vec_foreach(s, &row->steps)
            vec_push(&list, (struct told){row, s});
    vec_sort(&list, by_time);
    for (size_t i = 0; i < list.len && i < MOST; i++)
        check_add_line(r, c, course_step_text(h, list.data[i].course, list.data[i].step, &arena));
    if (list.len > MOST)
        check_add_line(r, c, arena_printf(&arena, "and %zu more: hq history %s", list.len - MOST, r->history));
    if (n < STEPS_LEAST)
        check_add_line(r, c, arena_printf(&arena, "a step can be seen from %d commits on", STEPS_LEAST));
    check_finish(r, start);
    vec_deinit(&list);
    courses_deinit(&all);
}

struct hq_error *check_history_end(struct runner *r)
{
    AUTO(history_deinit) struct history h = {0};
    AUTO(arena_deinit) struct arena arena = {0};
    VEC(const struct baseline_query *) queries = {0};
    const char *commit;
    struct history_place place;
    double start = clock_seconds();
    struct hq_error *error;

    if (!r->history)
        return NULL;
    r->file = r->history;
    vec_foreach(q, &r->kept.queries)
        vec_push(&queries, (const struct baseline_query *)q);
    error = history_commit_name(r->history, opt_value(r->args, "commit"), &arena, &commit, &place);
    if (!error)
        error = history_write(r->history, commit, r->kept.machine, place, queries.data, queries.len, LEAST);
    if (!error)
        error = history_read(r->history, NULL, &h);
    if (!error)
        tell(r, &h, start);
    vec_deinit(&queries);
    return error;
}
