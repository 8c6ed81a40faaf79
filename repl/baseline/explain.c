/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the contexts that a rise above a baseline comes from (baseline.h). */
#include "repl/baseline/baseline.h"
#include "common/str.h"
#include "repl/baseline/row_paths.h"
#include <stdlib.h>
#include <string.h>

enum { LINES = 3 };
#define LEAST_PART 0.1 /* of the largest: what is less explains nothing */

/* The value of a scope by itself: without those of the known scopes below it. */
struct own {
    const char *path;
    double old, now; /* shares; of values without sampling error the values */
    bool absolute;
    enum dim dim;
};

typedef VEC(struct own) owns;

/* The inclusive one of a metric, which may be given as cputime.x. */
static bool is_metric(const struct baseline_value *v, const char *metric)
{
    size_t n = baseline_metric_length(metric);

    return !strncmp(v->metric, metric, n) && !v->metric[n];
}

bool baseline_has_paths(const struct baseline_query *q)
{
    vec_foreach(v, &q->values)
        if (baseline_next_scope(v->path))
            return true;
    return false;
}

static void take(owns *all, struct row_names *names, struct row_paths *paths, const struct baseline_query *q,
                 const char *metric, bool is_now)
{
    vec_foreach(v, &q->values) {
        bool is_new;

        if (!is_metric(v, metric))
            continue;
        uint32_t at = row_names_add(names, "", v->path, &is_new);

        row_paths_add(paths, v->path);
        if (is_new)
            vec_push(all, (struct own){.path = v->path, .absolute = v->absolute, .dim = v->dim});
        *(is_now ? &all->data[at].now : &all->data[at].old) = v->absolute ? v->value : v->share;
    }
}

/* The nearest scope above that is known. Names may hold " > " themselves, so every one of them is tried. */
static uint32_t above(const struct row_names *names, const char *path)
{
    AUTO_FREE char *up = xstrdup(path);

    for (size_t n = strlen(up); n > 3; n--)
        if (str_begins(up + n - 3, " > ")) {
            up[n - 3] = '\0';
            uint32_t at = row_names_find(names, "", up);

            if (at != ROW_NAMES_NONE)
                return at;
        }
    return ROW_NAMES_NONE;
}

static int by_rise(const void *a, const void *b)
{
    const struct own *x = a, *y = b;
    double p = x->now - x->old, q = y->now - y->old;

    return p < q ? 1 : p > q ? -1 : strcmp(x->path, y->path);
}

/* Without what stands below, and the largest rise first. */
static void make_own(owns *all, const struct row_names *names)
{
    AUTO_FREE struct own *whole = xcalloc(all->len + 1, sizeof *whole);

    if (all->len)
        memcpy(whole, all->data, all->len * sizeof *whole);
    for (size_t i = 0; i < all->len; i++) {
        uint32_t up = above(names, whole[i].path);

        if (up == ROW_NAMES_NONE)
            continue;
        all->data[up].old -= whole[i].old;
        all->data[up].now -= whole[i].now;
    }
}

static const char *amount(struct arena *arena, const struct own *o, double value)
{
    char text[UNITS_TEXT];

    return o->absolute ? arena_strdup(arena, units_format_counted(text, value, o->dim))
                       : arena_printf(arena, "%.1f%%", 100 * value);
}

static const char *rise(struct arena *arena, const struct own *o)
{
    return o->absolute ? arena_printf(arena, "+%s", amount(arena, o, o->now - o->old))
                       : arena_printf(arena, "+%.1f points", 100 * (o->now - o->old));
}

static void explain_by_paths(const struct baseline_query *before, const struct baseline_query *now, const char *metric,
                             enum output_names setting, struct arena *arena, struct check_lines *lines)
{
    AUTO(row_names_deinit) struct row_names names = {0};
    AUTO(row_paths_deinit) struct row_paths paths = {.setting = setting};
    owns all = {0};
    double largest = 0;

    take(&all, &names, &paths, before, metric, false);
    take(&all, &names, &paths, now, metric, true);
    make_own(&all, &names);
    vec_sort(&all, by_rise);
    for (size_t i = 0; i < all.len && i < LINES; i++) {
        const struct own *o = &all.data[i];

        largest = i ? largest : o->now - o->old;
        if (!(o->now - o->old > LEAST_PART * largest))
            break;
        vec_push(lines, arena_printf(arena, "%s %s in %s: %s -> %s", i ? "        " : "because:", rise(arena, o),
                                     row_paths_text(&paths, arena, o->path, true), amount(arena, o, o->old),
                                     amount(arena, o, o->now)));
    }
    vec_deinit(&all);
}

/* Is the last scope of the path the row? */
static bool ends_in(const char *path, const char *row)
{
    size_t n = strlen(row), length = strlen(path);

    return length >= n && !strcmp(path + length - n, row) &&
           (length == n || (length > n + 3 && str_begins(path + length - n - 3, " > ")));
}

/* The call paths in which the row is now: which of them rose nobody knows. */
static void tell_places(const struct baseline_query *now, const struct baseline_value *failed,
                        enum output_names setting, struct arena *arena, struct check_lines *lines)
{
    AUTO(row_paths_deinit) struct row_paths paths = {.setting = setting};
    owns all = {0};

    vec_foreach(v, &now->values) {
        row_paths_add(&paths, v->path);
        if (is_metric(v, failed->metric) && ends_in(v->path, failed->path))
            vec_push(&all, (struct own){.path = v->path,
                                        .now = v->absolute ? v->value : v->share,
                                        .absolute = v->absolute,
                                        .dim = v->dim});
    }
    vec_sort(&all, by_rise);
    for (size_t i = 0; i < all.len && i < LINES; i++)
        vec_push(lines, arena_printf(arena, "%s %s in %s", i ? "                 " : "where it is now:",
                                     amount(arena, &all.data[i], all.data[i].now),
                                     row_paths_text(&paths, arena, all.data[i].path, true)));
    if (all.len)
        vec_push(lines,
                 "(the baseline has no call paths: `tree` in the file of queries lets it tell which of them rose)");
    vec_deinit(&all);
}

void baseline_explain(const struct baseline_query *before, const struct baseline_query *now,
                      const struct baseline_value *failed, enum output_names setting, struct arena *arena,
                      struct check_lines *lines)
{
    if (before)
        explain_by_paths(before, now, failed->metric, setting, arena, lines);
    else
        tell_places(now, failed, setting, arena, lines);
}
