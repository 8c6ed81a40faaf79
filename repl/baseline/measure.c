/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a baseline: looked up, read from a table, averaged over runs, renewed by an update (baseline.h). */
#include "repl/baseline/baseline.h"
#include "common/str.h"
#include <math.h>
#include <string.h>

void baseline_value_names(const struct baseline_query *q, struct row_names *names)
{
    vec_foreach(v, &q->values)
        row_names_add(names, v->metric, v->path, NULL);
}

const struct baseline_value *baseline_value_find(const struct baseline_query *q, const struct row_names *names,
                                                 const char *metric, const char *path)
{
    uint32_t at = q ? row_names_find(names, metric, path) : ROW_NAMES_NONE;

    return at < (q ? q->values.len : 0) ? &q->values.data[at] : NULL;
}

struct baseline_value *baseline_value_add(struct baseline_query *q, struct row_names *names,
                                          const struct baseline_value *fresh, bool *is_new)
{
    bool first;
    uint32_t at = row_names_add(names, fresh->metric, fresh->path, &first);

    if (first)
        vec_push(&q->values, *fresh);
    if (is_new)
        *is_new = first;
    return &q->values.data[at];
}

/* ---- from a table ---- */

static bool is_measured(const struct column *c)
{
    return c->type == COLUMN_NUMBER && c->metric && c->scope != SCOPED_NONE && c->total > 0 && isfinite(c->total) &&
           !c->marks_sign && !str_begins(c->name, "old.");
}

/* How many samples the whole has: a value of k samples has a 95 % interval of 1.96 value / sqrt(k). Read from the
 * largest row. */
static double samples_of(const struct table *t, size_t column)
{
    const struct cell *best = NULL;

    vec_foreach(r, &t->rows) {
        const struct cell *cell = &r->cells[column];

        if (cell->number > 0 && (!best || cell->number > best->number))
            best = cell;
    }
    if (!best || isnan(best->ci))
        return NAN;
    if (best->ci == 0)
        return INFINITY;
    double k = 1.959963984540054 * best->number / best->ci;

    return round(k * k * t->columns.data[column].total / best->number);
}

/* Paths of names, as deep as the row: path[depth] is that of the last row at the depth. A part without a name ends it.
 */
static const char *row_path(struct arena *arena, const struct row *r, const char **paths, int max)
{
    const char *path = r->key && r->depth < max ? baseline_shorten(arena, r->key) : NULL;

    if (r->depth >= max)
        return NULL;
    if (path && r->depth > 0)
        path = paths[r->depth - 1] ? arena_printf(arena, "%s > %s", paths[r->depth - 1], path) : NULL;
    if (path) {
        char *line = arena_strdup(arena, path);

        for (char *c = line; *c; c++)
            *c = *c == '\n' ? ' ' : *c;
        path = line;
    }
    paths[r->depth] = path;
    return path;
}

static void add_cell(struct baseline_query *q, struct row_names *names, const struct column *c, const struct cell *cell,
                     const char *path, double samples, bool outside)
{
    struct baseline_value fresh = {.metric = c->name,
                                   .path = path,
                                   .samples = samples,
                                   .dim = c->dim,
                                   .absolute = isinf(samples) && c->dim != DIM_SECONDS,
                                   .outside = true};
    struct baseline_value *v = baseline_value_add(q, names, &fresh, NULL);

    v->outside &= outside;
    v->share += cell->number / c->total;
    v->value += cell->number;
}

enum { DEPTH_MAX = 256 };

void baseline_measure(struct baseline *b, struct baseline_query *q, const struct table *t, double least)
{
    const char *paths[DEPTH_MAX] = {NULL};
    AUTO(row_names_deinit) struct row_names names = {0};
    size_t kept = 0;

    for (size_t c = 0; c < t->columns.len; c++) {
        struct column column = t->columns.data[c];
        double samples = is_measured(&column) ? samples_of(t, c) : 0;

        if (!is_measured(&column))
            continue;
        column.name = arena_strdup(&b->arena, column.name);
        vec_foreach(r, &t->rows) {
            const char *path = r->flags & ROW_FOLDED ? NULL : row_path(&b->arena, r, paths, DEPTH_MAX);

            if (path && r->cells[c].number > 0)
                add_cell(q, &names, &column, &r->cells[c], path, samples, r->flags & ROW_ANCESTOR);
        }
    }
    vec_foreach(v, &q->values)
        if (v->share >= least)
            q->values.data[kept++] = *v;
    q->values.len = kept;
}

/* ---- over several runs ---- */

unsigned baseline_runs(const struct baseline_value *v)
{
    return v->runs > 1 ? v->runs : 1;
}

/* Sums of squares of the differences from the mean, of one row, over the runs that have it. */
struct spread {
    double share, value;
    size_t runs; /* that have it */
};

/* Returns the number of samples of a metric's values, in all runs together. */
static double samples_in(const struct baseline_query *const *runs, size_t n, const char *metric)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        vec_foreach(v, &runs[i]->values)
            if (!strcmp(v->metric, metric)) {
                sum += v->samples;
                break;
            }
    return sum;
}

static double squared(double x)
{
    return x * x;
}

/* The deviation of n values of which some are missing, and therefore nothing. */
static double deviation(double squares, size_t missing, double mean, size_t n)
{
    return sqrt((squares + (double)missing * squared(mean)) / (double)(n - 1));
}

/* The means, row by row; `names` gets the rows of q. */
static void add_means(struct baseline_query *q, struct row_names *names, const struct baseline_query *const *runs,
                      size_t n)
{
    for (size_t run = 0; run < n; run++)
        vec_foreach(one, &runs[run]->values) {
            bool is_new;
            struct baseline_value *v = baseline_value_add(q, names, one, &is_new);

            if (is_new)
                v->share = v->value = 0;
            v->share += one->share / (double)n;
            v->value += one->value / (double)n;
            v->outside = v->outside && one->outside;
        }
}

void baseline_average(struct baseline_query *q, const struct baseline_query *const *runs, size_t n, double least)
{
    AUTO(row_names_deinit) struct row_names names = {0};
    size_t kept = 0;

    add_means(q, &names, runs, n);
    AUTO_FREE struct spread *spreads = xcalloc(q->values.len + 1, sizeof *spreads);

    for (size_t run = 0; run < n; run++)
        vec_foreach(one, &runs[run]->values) {
            uint32_t at = row_names_find(&names, one->metric, one->path);

            spreads[at].share += squared(one->share - q->values.data[at].share);
            spreads[at].value += squared(one->value - q->values.data[at].value);
            spreads[at].runs++;
        }
    for (size_t i = 0; i < q->values.len; i++) {
        struct baseline_value v = q->values.data[i];
        const struct spread *s = &spreads[i];

        v.share_sd = deviation(s->share, n - s->runs, v.share, n);
        v.value_sd = deviation(s->value, n - s->runs, v.value, n);
        v.runs = (unsigned)n;
        v.samples = samples_in(runs, n, v.metric);
        if (v.share >= least)
            q->values.data[kept++] = v;
    }
    q->values.len = kept;
}

/* ---- a run that is far from the others ---- */

static double share_in(const struct baseline_query *run, const struct baseline_value *row)
{
    vec_foreach(v, &run->values)
        if (!strcmp(v->metric, row->metric) && !strcmp(v->path, row->path))
            return v->share;
    return 0;
}

/* How far x[i] lies from the others, in deviations of these. */
static double apart(const double *x, size_t n, size_t i, struct baseline_odd *o)
{
    static const double least = 0.005; /* of a deviation: few runs may agree by chance */
    double mean = 0, squares = 0;

    o->least = INFINITY;
    o->most = 0;
    for (size_t k = 0; k < n; k++) {
        mean += k == i ? 0 : x[k] / (double)(n - 1);
        o->least = k == i ? o->least : fmin(o->least, x[k]);
        o->most = k == i ? o->most : fmax(o->most, x[k]);
    }
    for (size_t k = 0; k < n; k++)
        squares += k == i ? 0 : squared(x[k] - mean);
    o->run = i;
    o->share = x[i];
    return fabs(x[i] - mean) / fmax(least, sqrt(squares / (double)(n - 2)));
}

bool baseline_odd_run(const struct baseline_query *means, const struct baseline_query *const *runs, size_t n,
                      struct baseline_odd *out)
{
    static const double far = 8, points = 0.05;
    const struct baseline_value *row = NULL;
    AUTO_FREE double *x = xcalloc(n + 1, sizeof *x);

    vec_foreach(v, &means->values)
        if (!v->absolute && (!row || v->share_sd > row->share_sd))
            row = v;
    if (n < 4 || !row)
        return false;
    for (size_t i = 0; i < n; i++)
        x[i] = share_in(runs[i], row);
    for (size_t i = 0; i < n; i++) {
        *out = (struct baseline_odd){.row = row};
        if (apart(x, n, i, out) > far && (x[i] > out->most + points || x[i] < out->least - points))
            return true;
    }
    return false;
}

/* ---- an update ---- */

/* Far from what a check calls a rise, so that what it called one is written anew. */
static bool is_as_before(const struct baseline_value *old, const struct baseline_value *now)
{
    struct gate_difference d = baseline_difference(old, now, 1);

    double error = fmax(d.error, d.sampling);

    return !old->absolute && error > 0 && now->samples < 1.2 * old->samples && now->runs <= old->runs &&
           fabs(d.rise) < 1.64 * error;
}

void baseline_renew(struct baseline_query *q, const struct baseline_query *before, bool by_source, double tolerance,
                    double least)
{
    AUTO(arena_deinit) struct arena arena = {0};
    AUTO(row_names_deinit) struct row_names names = {0};
    size_t kept = 0;
    /* Shares of all, and shares of what computes, say nothing of one another. */
    bool alike = before && before->computes == q->computes;

    if (before)
        baseline_value_names(before, &names);
    for (size_t i = 0; i < q->values.len; i++) {
        struct baseline_value v = q->values.data[i];
        const struct baseline_value *old = baseline_value_find(before, &names, v.metric,
                                                               by_source ? baseline_fold_path(&arena, v.path) : v.path);

        old = old && old->absolute == v.absolute ? old : NULL;
        if (!old && v.share < least)
            continue;
        v.tolerance = old ? old->tolerance : tolerance > 0 ? tolerance : baseline_tolerance(q, &v);
        if (old && alike && q->elsewhere == MACHINE_SAME && is_as_before(old, &v)) {
            v.share = old->share;
            v.samples = old->samples;
            v.runs = old->runs;
            v.share_sd = old->share_sd;
            v.value = old->value;
            v.value_sd = old->value_sd;
        }
        q->values.data[kept++] = v;
    }
    q->values.len = kept;
}
