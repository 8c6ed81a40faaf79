/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/values.h"
#include "common/str.h"
#include "repl/gate/tell.h"
#include <math.h>
#include <string.h>

#define LEAST 0.005 /* the smallest share that is judged, as in a baseline */

struct gate_tolerance gate_tolerance_of(double relative)
{
    double of_total = fmin(0.02, relative);

    return (struct gate_tolerance){
        .relative = relative, .of_total = of_total, .seen = fmax(of_total, 0.4 * relative), .exact = 0.005};
}

void gate_values_deinit(struct gate_values *v)
{
    vec_deinit(&v->rows);
    row_names_deinit(&v->names);
    loop_rows_deinit(&v->loops);
    arena_deinit(&v->arena);
}

static bool is_of_compiler(const char *path)
{
    const char *own = baseline_own_scope(path);

    return str_begins(own, "inline ") || str_begins(own, "loop ");
}

static struct gate_row *row_of(struct gate_values *v, const struct baseline_value *like, const char *path)
{
    bool is_new;
    uint32_t at = row_names_add(&v->names, like->metric, path, &is_new);

    if (!is_new)
        return &v->rows.data[at];
    vec_push(&v->rows, (struct gate_row){.metric = arena_strdup(&v->arena, like->metric),
                                         .path = arena_strdup(&v->arena, path),
                                         .dim = like->dim,
                                         .of_compiler = is_of_compiler(path),
                                         .exact = like->absolute});
    struct gate_row *r = &vec_last(&v->rows);

    for (int side = 0; side < RUN_SIDES; side++) {
        r->value[side] = ARENA_ARRAY(&v->arena, v->room, double);
        memset(r->value[side], 0, v->room * sizeof(double));
    }
    return r;
}

/* A clock fires as often as the whole lasts: of its samples, so many as the whole has, k are this row's by chance, and
 * a row that is nearly all of it hardly scatters. */
static double sampling_variance(const struct baseline_value *v)
{
    double k = v->share * v->samples;

    return isfinite(k) && k > 0 ? v->value * v->value * fmax(0, 1 - v->share) / k : 0;
}

/* Rows that were told apart by what only one of the programs has become one. */
static void join_rows(struct gate_values *v)
{
    struct gate_values before = *v;

    memset(&v->rows, 0, sizeof v->rows);
    v->names = (struct row_names){0};
    vec_foreach(old, &before.rows) {
        struct baseline_value like = {.metric = old->metric, .dim = old->dim, .absolute = old->exact};
        const char *path = loop_rows_path(&v->loops, &v->arena, old->metric, old->path);

        if (!path)
            continue;
        struct gate_row *r = row_of(v, &like, path);

        r->judged |= old->judged;
        for (int side = 0; side < RUN_SIDES; side++) {
            r->sampling[side] += old->sampling[side];
            for (size_t i = 0; i < v->room; i++)
                r->value[side][i] += old->value[side][i];
        }
    }
    vec_deinit(&before.rows);
    row_names_deinit(&before.names);
}

void gate_values_add(struct gate_values *v, enum run_side side, size_t run, const struct baseline_query *q)
{
    bool joins = false;

    vec_foreach(value, &q->values)
        joins |= loop_rows_note(&v->loops, side, value->path);
    if (joins)
        join_rows(v);
    vec_foreach(value, &q->values) {
        AUTO_FREE char *base = xstrndup(value->metric, baseline_metric_length(value->metric));
        const char *path = loop_rows_path(&v->loops, &v->arena, value->metric, value->path);
        struct baseline_value whole = *value;
        struct gate_row *r = path ? row_of(v, value, path) : NULL;

        if (r) {
            r->value[side][run] += value->value;
            r->sampling[side] += sampling_variance(value);
            r->judged |= !value->outside;
        }
        if (value->share <= 0)
            continue;
        whole.metric = base;
        r = row_of(v, &whole, "");
        r->value[side][run] = value->value / value->share;
        r->sampling[side] = 0;
        r->judged = !v->part;
    }
}

static double mean(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : 0;
}

static const struct gate_row *total_row(const struct gate_values *v, const struct gate_row *like)
{
    AUTO_FREE char *base = xstrndup(like->metric, baseline_metric_length(like->metric));
    uint32_t at = row_names_find(&v->names, base, "");

    return at == ROW_NAMES_NONE ? NULL : &v->rows.data[at];
}

static double total_of(const struct gate_values *v, const struct gate_row *like, enum run_side side)
{
    const struct gate_row *total = total_row(v, like);

    return total ? mean(total->value[side], v->runs[side]) : 0;
}

static struct gate_difference difference_of(const struct gate_values *v, const struct gate_row *r,
                                            const struct gate_tolerance *t, struct arena *arena)
{
    size_t n = v->runs[RUN_OLD];
    double *room = ARENA_ARRAY(arena, n, double);
    const struct gate_row *total = total_row(v, r);
    double whole = total ? gate_typical(total->value[RUN_OLD], n, room) : 0;
    struct gate_difference d = gate_paired(r->value[RUN_OLD], r->value[RUN_NEW], n, room);
    double sampling = sqrt(r->sampling[RUN_OLD] + r->sampling[RUN_NEW]) / (double)n;

    if (r->exact && d.error == 0 && !d.sorted) {
        d = gate_exact(d.old, d.now);
        d.allowed = t->exact * d.old;
        return d;
    }
    d.sampling = sampling;
    d.allowed = fmax(t->relative * d.old, t->of_total * whole);
    d.needed = t->seen * whole;
    return d;
}

/* Beside what is counted, time in calls that wait for others is told: two runs that decide the one hardly tell of the
 * other. A query for it alone has it judged. */
static bool is_told(const struct gate_values *v, const struct gate_row *r)
{
    if (!baseline_waits(r->metric))
        return false;
    vec_foreach(other, &v->rows)
        if (other->judged && !baseline_waits(other->metric))
            return true;
    return false;
}

static bool counts(const struct gate_values *v, const struct gate_row *r)
{
    if (is_told(v, r))
        return false;
    for (int side = 0; side < RUN_SIDES && r->judged; side++)
        if (mean(r->value[side], v->runs[side]) >= LEAST * total_of(v, r, side))
            return true;
    return false;
}

/* Are two rows of one metric, inclusive or exclusive? */
static bool of_one_metric(const struct gate_row *a, const struct gate_row *b)
{
    size_t n = baseline_metric_length(a->metric);

    return baseline_metric_length(b->metric) == n && !strncmp(a->metric, b->metric, n);
}

/* A caller that does nothing itself has the values of what it calls, in every run: the two are one row. */
static bool is_echo(const struct gate_values *v, const struct gate_row *r, const struct gate_judged *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool same = of_one_metric(all[i].row, r);

        for (int side = 0; side < RUN_SIDES && same; side++)
            same = !memcmp(all[i].row->value[side], r->value[side], v->runs[side] * sizeof(double));
        if (same && *all[i].row->path)
            return true;
    }
    return false;
}

static void tell_waiting(const struct gate_values *v, struct arena *arena, struct check_lines *lines)
{
    char from[UNITS_TEXT], to[UNITS_TEXT];

    vec_foreach(r, &v->rows) {
        if (*r->path || !is_told(v, r))
            continue;
        units_format(from, mean(r->value[RUN_OLD], v->runs[RUN_OLD]), r->dim);
        units_format(to, mean(r->value[RUN_NEW], v->runs[RUN_NEW]), r->dim);
        vec_push(lines, arena_printf(arena,
                                     "not judged is %s, in calls that wait for others: %s -> %s (a query for it alone: "
                                     "procedures columns %s)",
                                     r->metric, from, to, r->metric));
    }
}

/* A program that did not run is not faster. */
static bool has_stopped(const struct gate_values *v)
{
    bool stopped = false;

    vec_foreach(r, &v->rows) {
        if (*r->path || !r->judged || r->dim != DIM_SECONDS)
            continue;
        stopped = mean(r->value[RUN_NEW], v->runs[RUN_NEW]) < 0.01 * mean(r->value[RUN_OLD], v->runs[RUN_OLD]);
        if (!stopped)
            break;
    }
    return stopped;
}

static bool is_nothing(const struct gate_values *v, const struct gate_row *r, enum run_side side)
{
    for (size_t i = 0; i < v->runs[side]; i++)
        if (r->value[side][i] > 0)
            return false;
    return true;
}

/*
 * Finds the row that a new one was under another name: then the two are one row. The nearest that is gone is taken,
 * and whose cost the new one does not exceed.
 */
static void find_former_name(const struct gate_values *v, const struct gate_tolerance *t, double level, double missed,
                             struct gate_judged *j, struct gate_judged *all, size_t n, struct arena *arena)
{
    struct gate_judged *best = NULL;
    struct gate_difference d = {0};

    for (size_t i = 0; i < n; i++) {
        struct gate_judged *old = &all[i];
        struct gate_row both = *old->row;

        if (old->former || old->taken || !*both.path || strcmp(both.metric, j->row->metric) ||
            !is_nothing(v, old->row, RUN_NEW))
            continue;
        both.value[RUN_NEW] = j->row->value[RUN_NEW];
        both.sampling[RUN_NEW] = j->row->sampling[RUN_NEW];
        struct gate_difference one = difference_of(v, &both, t, arena);

        if (gate_judge(&one, level, missed) != GATE_FAIL && (!best || fabs(one.rise) < fabs(d.rise))) {
            best = old;
            d = one;
        }
    }
    if (!best)
        return;
    best->taken = true;
    j->former = best->row;
    j->d = d;
    j->verdict = gate_judge(&d, level, missed);
}

/*
 * A row that is new may be extra work, or what others did before: a part of a procedure that became one of its own, a
 * wrapper around others. An inlined one has the instructions that the compiler says are its own, and another compiler,
 * or another level of optimization, says that of others. Two loops that changed places have each other's numbers. The
 * whole tells: extra work is in it. So these rows are judged by the rise of the whole, whose tolerance is then that of
 * the row.
 */
static struct gate_difference extra_work(const struct gate_values *v, const struct gate_row *r,
                                         const struct gate_difference *row, const struct gate_tolerance *t,
                                         struct arena *arena)
{
    const struct gate_row *total = total_row(v, r);
    struct gate_difference d = total ? difference_of(v, total, t, arena) : *row;

    /* Of what has no error all that is above the tolerance fails, else what is above half of it. */
    d.allowed = d.error > 0 || d.sorted ? row->rise : row->rise / 2;
    d.needed = 0;
    return d;
}

/* Did the whole rise, or a procedure that was there before? Then what is new, inlined or a loop may be what did. */
static bool others_rose(const struct gate_judged *all, size_t n, const struct gate_row *like, bool procedures,
                        double level, double missed)
{
    for (size_t i = 0; i < n; i++) {
        const struct gate_judged *j = &all[i];
        bool asked = !*j->row->path || (procedures && !j->is_new && !j->row->of_compiler);

        if (asked && of_one_metric(j->row, like) && gate_judge(&j->d, level, missed) == GATE_FAIL)
            return true;
    }
    return false;
}

static void judge_row(const struct gate_values *v, const struct gate_tolerance *t, double level, double missed,
                      struct gate_judged *j, struct gate_judged *all, size_t n, struct arena *arena)
{
    j->verdict = gate_judge(&j->d, level, missed);
    if (j->verdict != GATE_FAIL || (!j->is_new && !j->row->of_compiler))
        return;
    if (j->is_new)
        find_former_name(v, t, level, missed, j, all, n, arena);
    if (j->former || others_rose(all, n, j->row, !j->is_new, level, missed))
        return;
    j->verdict = gate_judge(&j->by_whole, level, missed);
    j->moved = j->verdict != GATE_FAIL;
    /* Small rows keep nothing open. */
    if (j->verdict == GATE_UNDECIDED && j->d.rise <= j->d.needed)
        j->verdict = GATE_OK;
}

enum check_outcome gate_values_judge(struct gate_values *v, const struct gate_tolerance *t, double family,
                                     struct arena *arena, struct check_lines *lines, size_t *wanted)
{
    VEC(struct gate_judged) all = {0};
    VEC(struct gate_difference) differences = {0};
    AUTO(arena_deinit) struct arena scratch = {0};
    enum check_outcome outcome = CHECK_PASS;

    if (loop_rows_cross(&v->loops))
        join_rows(v);
    vec_foreach(r, &v->rows)
        if (counts(v, r) && !is_echo(v, r, all.data, all.len)) {
            struct gate_judged j = {.row = r, .d = difference_of(v, r, t, &scratch), .whole = total_of(v, r, RUN_OLD)};

            j.is_new = *r->path && is_nothing(v, r, RUN_OLD);
            if (j.is_new || r->of_compiler)
                j.by_whole = extra_work(v, r, &j.d, t, &scratch);
            vec_push(&all, j);
            vec_push(&differences, j.is_new ? j.by_whole : j.d);
        }
    double level = gate_level(differences.data, differences.len, family), missed = gate_missed(family);

    *wanted = 0;
    v->judged_time = v->slower = false;
    if (!all.len) {
        outcome = CHECK_INCONCLUSIVE;
        if (lines)
            vec_push(lines, "nothing was measured that could be judged: no row has a value in any run");
    }
    vec_foreach(j, &all) {
        size_t more = 0;

        judge_row(v, t, level, missed, j, all.data, all.len, &scratch);
        v->judged_time |= j->row->dim == DIM_SECONDS;
        v->slower |= j->row->dim == DIM_SECONDS && j->verdict == GATE_FAIL;
        if (j->verdict == GATE_FAIL)
            outcome = CHECK_FAIL;
        else if (j->verdict == GATE_UNDECIDED && outcome == CHECK_PASS)
            outcome = CHECK_INCONCLUSIVE;
        if (j->verdict == GATE_UNDECIDED && lines)
            more = gate_runs_wanted(j->moved ? &j->by_whole : &j->d, level, v->runs[RUN_OLD]);
        *wanted = more > *wanted ? more : *wanted;
    }
    if (outcome == CHECK_PASS && has_stopped(v)) {
        outcome = CHECK_INCONCLUSIVE;
        if (lines)
            vec_push(lines,
                     "of the new program next to nothing was measured, less than a hundredth of what the old one does: "
                     "does it run at all, and with the environment that it is given (hq adds to LD_PRELOAD)?");
    }
    if (lines && all.len)
        gate_tell(all.data, all.len, level, missed, *wanted, outcome, v->shown, arena, lines);
    if (lines) {
        loop_rows_tell(&v->loops, arena, lines);
        tell_waiting(v, arena, lines);
    }
    vec_deinit(&all);
    vec_deinit(&differences);
    return outcome;
}
