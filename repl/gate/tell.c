/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/tell.h"
#include "common/mem.h"
#include "repl/baseline/row_paths.h"
#include <math.h>
#include <string.h>

enum { ROSE_MAX = 8, FELL_MAX = 8, OPEN_MAX = 3 };

struct telling {
    struct arena *arena;
    struct check_lines *lines;
    struct row_paths *paths;
    double level, missed;
};

static const char *name_of(struct telling *t, const struct gate_row *r)
{
    return *r->path ? arena_printf(t->arena, "%s of %s", r->metric, row_paths_text(t->paths, t->arena, r->path, false))
                    : arena_printf(t->arena, "all %s", r->metric);
}

/* "+10.9 % [8.1, 13.7]": the change in percent of the old value with its 95 % interval. */
static const char *change_of(struct arena *arena, const struct gate_difference *d)
{
    double unit = d->old > 0 ? 100 / d->old : 0, half = gate_interval(d);

    if (unit == 0)
        return "new";
    if (!isfinite(half) || half == 0)
        return arena_printf(arena, "%+.1f%%", d->rise * unit);
    return arena_printf(arena, "%+.1f%% [%+.1f, %+.1f]", d->rise * unit, (d->rise - half) * unit,
                        (d->rise + half) * unit);
}

static const char *amount(struct arena *arena, double value, const struct gate_row *r)
{
    char text[UNITS_TEXT];

    return arena_strdup(arena,
                        r->exact ? units_format_counted(text, value, r->dim) : units_format(text, value, r->dim));
}

/* "cputime of procedure hot: 1.65 s -> 1.83 s, +10.9% [+8.1, +13.7]" */
static const char *change_line(struct telling *t, const struct gate_judged *j)
{
    struct arena *arena = t->arena;

    return arena_printf(arena, "%s: %s -> %s, %s", name_of(t, j->row), amount(arena, j->d.old, j->row),
                        amount(arena, j->d.now, j->row), change_of(arena, &j->d));
}

/* The rise that has to be ruled out for ok. */
static double wanted_rise(const struct gate_difference *d)
{
    return fmax(d->allowed, d->needed);
}

/* By how much of the whole it rose; of an open row, how far what has to be ruled out is from what is. */
static double size_of(const struct gate_judged *j, double missed)
{
    double bound = gate_bound(&j->d, missed);

    if (j->verdict == GATE_UNDECIDED)
        return isfinite(bound) ? bound / fmax(wanted_rise(&j->d), 1e-300) : 1e300;
    return j->d.rise / (j->whole > 0 ? j->whole : 1);
}

static int by_size(const void *a, const void *b, void *missed)
{
    double x = size_of(*(const struct gate_judged *const *)a, *(double *)missed);
    double y = size_of(*(const struct gate_judged *const *)b, *(double *)missed);

    return x < y ? 1 : x > y ? -1 : 0;
}

typedef VEC(const struct gate_judged *) judged_list;

static judged_list rows_with(const struct telling *t, const struct gate_judged *all, size_t n,
                             enum gate_verdict verdict)
{
    judged_list list = {0};
    double missed = t->missed;

    for (size_t i = 0; i < n; i++)
        if (all[i].verdict == verdict)
            vec_push(&list, &all[i]);
    vec_sort_r(&list, by_size, &missed);
    return list;
}

static bool has_fallen(const struct gate_judged *j)
{
    return j->verdict != GATE_FAIL && !j->taken && j->d.df > 0 && -j->d.rise > j->d.allowed / 2 &&
           gate_interval(&j->d) < -j->d.rise;
}

/* Its part of the whole, of any metric. */
static double part_of(const struct gate_judged *j)
{
    return j->whole > 0 ? j->d.old / j->whole : 0;
}

/* Nobody should have to guess what was measured and what became of the whole, whichever parts are told; of a part of
 * the program its largest row stands for that. What has a line of its own gets no second one, but in what failed. */
static void tell_whole(struct telling *t, const struct gate_judged *all, size_t n, bool failed)
{
    const struct gate_judged *largest = NULL;
    bool whole = false;

    for (size_t i = 0; i < n; i++) {
        whole |= !*all[i].row->path;
        largest = !largest || part_of(&all[i]) > part_of(largest) ? &all[i] : largest;
    }
    for (size_t i = 0; i < n; i++) {
        const struct gate_judged *j = &all[i];
        bool told = j->verdict == GATE_FAIL || (!failed && (has_fallen(j) || j->verdict == GATE_UNDECIDED));

        if (!told && (whole ? !*j->row->path : j == largest))
            vec_push(t->lines,
                     arena_printf(t->arena, "%s: %s", whole ? "the whole" : "the largest", change_line(t, j)));
    }
}

static void tell_rises(struct telling *t, const struct gate_judged *all, size_t n)
{
    judged_list rose = rows_with(t, all, n, GATE_FAIL);

    for (size_t i = 0; i < rose.len && i < ROSE_MAX; i++)
        vec_push(t->lines, arena_printf(t->arena, "rose: %s", change_line(t, rose.data[i])));
    if (rose.len > ROSE_MAX)
        vec_push(t->lines, arena_printf(t->arena, "      and %zu more", rose.len - ROSE_MAX));
    vec_deinit(&rose);
}

static int by_fall(const void *a, const void *b)
{
    const struct gate_judged *x = *(const struct gate_judged *const *)a, *y = *(const struct gate_judged *const *)b;
    double one = x->d.rise / fmax(x->whole, 1e-300), other = y->d.rise / fmax(y->whole, 1e-300);

    return one < other ? -1 : one > other;
}

static void tell_falls(struct telling *t, const struct gate_judged *all, size_t n)
{
    judged_list fell = {0};

    for (size_t i = 0; i < n; i++)
        if (has_fallen(&all[i]))
            vec_push(&fell, &all[i]);
    vec_sort(&fell, by_fall);
    for (size_t i = 0; i < fell.len && i < FELL_MAX; i++)
        vec_push(t->lines, arena_printf(t->arena, "fell: %s", change_line(t, fell.data[i])));
    if (fell.len > FELL_MAX)
        vec_push(t->lines, arena_printf(t->arena, "      and %zu more", fell.len - FELL_MAX));
    vec_deinit(&fell);
}

static void tell_renamed(struct telling *t, const struct gate_judged *all, size_t n)
{
    for (size_t i = 0, told = 0; i < n && told < OPEN_MAX; i++)
        if (all[i].former)
            vec_push(t->lines,
                     arena_printf(t->arena, "%s %s (%s) is gone, and %s (%s) is new: taken for one, %s",
                                  told++ ? "        " : "renamed?", name_of(t, all[i].former),
                                  amount(t->arena, all[i].d.old, all[i].row), name_of(t, all[i].row),
                                  amount(t->arena, all[i].d.now, all[i].row), change_of(t->arena, &all[i].d)));
}

/* Tells what is new, or inlined, and fails nothing: others had it before, or may have. */
static void tell_moved(struct telling *t, const struct gate_judged *all, size_t n)
{
    for (size_t i = 0, told = 0; i < n && told < OPEN_MAX; i++) {
        bool known = gate_bound(&all[i].by_whole, t->missed) <= all[i].d.rise;

        if (all[i].moved && all[i].verdict == GATE_OK && ++told)
            vec_push(t->lines, arena_printf(t->arena, "moved%s: %s; %s", known ? "" : "?", change_line(t, &all[i]),
                                            known ? "all of it rose by less, so others had this before"
                                                  : "these runs do not tell whether all of it rose by as much"));
    }
}

/* Whether longer runs or a higher rate would help as more runs do. */
static bool sampling_matters(const struct gate_judged *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].verdict == GATE_UNDECIDED && all[i].d.sampling > 0.7 * all[i].d.error && all[i].d.sampling > 0)
            return true;
    return false;
}

static void tell_open(struct telling *t, const struct gate_judged *all, size_t n, size_t wanted, bool with_rows)
{
    judged_list open = rows_with(t, all, n, GATE_UNDECIDED);

    if (open.len) {
        const char *rows = arena_printf(t->arena, "cannot tell: %zu row%s", open.len, open.len == 1 ? "" : "s");

        vec_push(t->lines,
                 wanted >= GATE_RUNS_MOST
                     ? arena_printf(t->arena, "%s: they differ too much from run to run for %d runs of each%s", rows,
                                    GATE_RUNS_MOST,
                                    sampling_matters(all, n) ? "; if they are longer or sampled faster they differ less"
                                                             : "")
                     : arena_printf(t->arena, "%s: about %zu runs of each would decide%s", rows, wanted,
                                    sampling_matters(all, n) ? ", or fewer if they are longer or sampled faster" : ""));
        for (size_t i = 0; with_rows && i < open.len && i < OPEN_MAX; i++) {
            const struct gate_judged *j = open.data[i];
            double bound = gate_bound(&j->d, t->missed);

            vec_push(t->lines,
                     !isfinite(bound) ? arena_printf(t->arena, "  %s: one pair of runs says nothing of how runs differ",
                                                     name_of(t, j->row))
                     : j->moved
                         ? arena_printf(t->arena,
                                        "  %s: extra, if all of it rose by as much, which is not ruled out, or moved "
                                        "from others",
                                        change_line(t, j))
                         : arena_printf(t->arena, "  %s; a rise of up to %s is not ruled out, and one of %s has to be",
                                        change_line(t, j), amount(t->arena, bound, j->row),
                                        amount(t->arena, wanted_rise(&j->d), j->row)));
        }
    }
    vec_deinit(&open);
}

/* "4.9% of all, and of 60 ms in any row (the least certain: cputime of f)"; either may be 0. */
static const char *rise_of(struct telling *t, double total, double worst, const struct gate_judged *j, bool named)
{
    const char *row = j ? arena_printf(t->arena, "%s in any row%s", amount(t->arena, worst, j->row),
                                       named ? arena_printf(t->arena, " (the least certain: %s)", name_of(t, j->row))
                                             : "")
                        : "";

    if (!(total > 0))
        return row;
    return arena_printf(t->arena, "%.1f%% of all%s%s", 100 * total, j ? ", and of " : "", row);
}

/* Tells which rises a race that found nothing rules out, and would have seen: of the totals by name, of all others the
 * largest. */
static void tell_power(struct telling *t, const struct gate_judged *all, size_t n)
{
    double worst = 0, total = 0, exact = 0, seen = 0, total_seen = 0;
    const struct gate_judged *least_sure = NULL;

    for (size_t i = 0; i < n; i++) {
        const struct gate_judged *j = &all[i];
        if (j->verdict != GATE_OK || j->moved || !(j->d.old > 0) || gate_fell(&j->d))
            continue;
        double bound = gate_bound(&j->d, t->missed), fails = gate_seen(&j->d, t->level);

        if (j->d.df == INFINITY && j->d.error == 0) {
            exact = fmax(exact, j->d.allowed / j->d.old);
        } else if (!*j->row->path) {
            total = fmax(total, bound / j->d.old);
            total_seen = fmax(total_seen, fails / j->d.old);
        } else {
            seen = fmax(seen, fails);
            if (bound > worst) {
                worst = bound;
                least_sure = j;
            }
        }
    }
    if (total > 0 || least_sure) {
        vec_push(t->lines, arena_printf(t->arena, "ruled out in 19 of 20 cases: a rise of %s",
                                        rise_of(t, total, worst, least_sure, true)));
        vec_push(t->lines, arena_printf(t->arena, "would fail in 9 of 10 cases: a rise of %s",
                                        rise_of(t, total_seen, seen, least_sure, false)));
    }
    if (exact > 0)
        vec_push(t->lines, arena_printf(t->arena, "seen always: a rise of more than %.3g%% of what is counted exactly",
                                        100 * exact));
}

void gate_tell(const struct gate_judged *all, size_t n, double level, double missed, size_t wanted,
               enum check_outcome outcome, enum output_names names, struct arena *arena, struct check_lines *lines)
{
    AUTO(row_paths_deinit) struct row_paths paths = {.setting = names};
    struct telling t = {.arena = arena, .lines = lines, .paths = &paths, .level = level, .missed = missed};

    for (size_t i = 0; i < n; i++)
        row_paths_add(&paths, all[i].row->path);
    tell_rises(&t, all, n);
    tell_whole(&t, all, n, outcome == CHECK_FAIL);
    tell_falls(&t, all, n);
    tell_renamed(&t, all, n);
    tell_moved(&t, all, n);
    tell_open(&t, all, n, wanted, outcome != CHECK_FAIL);
    if (outcome == CHECK_PASS)
        tell_power(&t, all, n);
}
