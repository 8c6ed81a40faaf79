/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a row that the baseline has not new work, or what others did before, and is it the same program (baseline.h)? */
#include "repl/baseline/baseline.h"
#include "common/str.h"
#include <math.h>
#include <string.h>

static double amount_of(const struct baseline_value *v)
{
    return v->absolute ? v->value : v->share;
}

static bool is_own(const struct baseline_value *v)
{
    return baseline_metric_length(v->metric) < strlen(v->metric);
}

/* How the rows of the baseline changed, by what is their own, which no two share. */
struct change {
    double before, sum; /* all that the baseline has of the metric; what its rows have more */
    double most;        /* the most that one of them has less */
    double added;       /* what rows have that it has not */
    double rose;        /* that, and what its rows have more, where they have */
};

static struct change change_of(const struct baseline_query *before, const struct baseline_query *now,
                               const char *metric)
{
    AUTO(row_names_deinit) struct row_names old_names = {0}, new_names = {0};
    struct change c = {0};

    baseline_value_names(before, &old_names);
    baseline_value_names(now, &new_names);
    vec_foreach(v, &before->values) {
        if (strcmp(v->metric, metric))
            continue;
        const struct baseline_value *here = baseline_value_find(now, &new_names, metric, v->path);
        double more = (here ? amount_of(here) : 0) - amount_of(v);

        c.before += amount_of(v);
        c.sum += more;
        c.most = fmax(c.most, -more);
        c.rose += fmax(0, more);
    }
    vec_foreach(v, &now->values)
        if (!strcmp(v->metric, metric) && !baseline_value_find(before, &old_names, metric, v->path))
            c.added += amount_of(v);
    c.rose += c.added;
    return c;
}

/* The name of the metric of the rows' own parts; NULL: the query does not ask for it. *own: that of this row; NULL. */
static const char *own_part(const struct baseline_query *now, const struct baseline_value *v,
                            const struct baseline_value **own)
{
    size_t n = baseline_metric_length(v->metric);
    const char *metric = NULL;

    *own = NULL;
    vec_foreach(part, &now->values) {
        if (!is_own(part) || baseline_metric_length(part->metric) != n || strncmp(part->metric, v->metric, n))
            continue;
        metric = part->metric;
        if (!strcmp(part->path, v->path))
            *own = part;
    }
    return metric;
}

/*
 * By how much the whole of an exact metric rose at most: a row of the baseline is part of what was the whole then.
 * INFINITY if nothing is known of it.
 */
static double whole_rose(const struct baseline_query *before, const struct baseline_query *now,
                         const struct baseline_value *v)
{
    size_t n = baseline_metric_length(v->metric);
    double whole = 0, largest = 0;

    vec_foreach(here, &now->values)
        if (baseline_metric_length(here->metric) == n && !strncmp(here->metric, v->metric, n) && here->share > 0)
            whole = fmax(whole, here->value / here->share);
    vec_foreach(old, &before->values)
        if (baseline_metric_length(old->metric) == n && !strncmp(old->metric, v->metric, n))
            largest = fmax(largest, old->value);
    return whole > 0 ? whole - largest : INFINITY;
}

bool baseline_least(const struct baseline_query *before, const struct baseline_value *now, struct baseline_value *least)
{
    double largest = 0, smallest = INFINITY, tolerance = INFINITY;
    const struct baseline_value *some = NULL;

    vec_foreach(v, &before->values) {
        if (strcmp(v->metric, now->metric) || v->absolute != now->absolute)
            continue;
        double size = v->absolute ? v->value : v->share;

        some = v;
        tolerance = fmin(tolerance, v->tolerance);
        largest = fmax(largest, size);
        smallest = fmin(smallest, size);
    }
    if (!some)
        return false;
    *least = *some;
    least->path = now->path;
    least->tolerance = tolerance;
    least->share = fmin(smallest, BASELINE_LEAST);
    if (some->absolute)
        least->value = fmin(smallest, BASELINE_LEAST * largest);
    else
        least->value = least->value_sd = 0;
    /* So small a row differs from run to run by no more than this one does. */
    least->share_sd = now->share_sd;
    if (some->absolute)
        least->value_sd = now->value_sd;
    return true;
}

bool baseline_moved(const struct baseline_query *before, const struct baseline_query *now,
                    const struct baseline_value *v)
{
    static const double nearly = 0.8;
    const struct baseline_value *own;
    const char *metric = own_part(now, v, &own);

    /* Extra work is in the whole; of a line that is not in the file the whole knows nothing. */
    if (v->absolute && whole_rose(before, now, v) < v->value / 2)
        return true;
    if (!metric)
        return false;
    struct change c = change_of(before, now, metric);

    if (v->absolute)
        return c.sum + c.added < v->value / 2;
    /* A wrapper lifts none of the rows that it calls. Extra work does, less than by what it costs, for
     * it takes from them as from all. */
    if (!own || own->share < v->share / 2)
        return c.rose < v->share / 3;
    /* Extra work takes its share of all, a line that is not in the file of none, and what became a procedure of its own
     * of one. */
    return c.before > 0 && (-c.sum < own->share * c.before / 2 || c.most > nearly * own->share);
}

/* ---- loops that changed places ---- */

/* The last scope of a path, if it is a loop; NULL. */
static const char *own_loop(const char *path)
{
    const char *own = baseline_own_scope(path);

    return !str_begins(own, "loop ") ? NULL : own;
}

/* Two loops of one procedure, below the same path. */
static bool are_siblings(const char *a, const char *b)
{
    const char *one = own_loop(a), *other = own_loop(b), *of = one ? strstr(one, " of ") : NULL,
               *of_other = other ? strstr(other, " of ") : NULL;

    return of && of_other && one - a == other - b && !strncmp(a, b, (size_t)(one - a)) && !strcmp(of, of_other) &&
           strcmp(a, b);
}

/* How far apart two values are, as a ratio's logarithm. */
static double apart(double a, double b)
{
    return a > 0 && b > 0 ? fabs(log(a / b)) : INFINITY;
}

bool baseline_changed_places(const struct baseline_query *before, const struct baseline_query *now,
                             const struct baseline_value *old, const struct baseline_value *v)
{
    if (!own_loop(v->path))
        return false;
    vec_foreach(other, &before->values) {
        const struct baseline_value *here = NULL;

        if (strcmp(other->metric, v->metric) || !are_siblings(other->path, v->path))
            continue;
        vec_foreach(w, &now->values)
            if (!strcmp(w->metric, v->metric) && !strcmp(w->path, other->path))
                here = w;
        if (!here)
            continue;
        /* Of a share the others tell nothing: what rises makes them fall. */
        bool amounts = old->value > 0 && v->value > 0 && other->value > 0 && here->value > 0;
        double was = amounts ? old->value : old->share, is = amounts ? v->value : v->share,
               other_was = amounts ? other->value : other->share, other_is = amounts ? here->value : here->share;

        if (apart(is, other_was) + apart(other_is, was) < fmin(apart(is, was), apart(other_is, other_was)))
            return true;
    }
    return false;
}

bool baseline_is_another(const struct baseline_query *before, const struct baseline_query *now)
{
    static const double least = 0.1, most = 0.5;
    AUTO(row_names_deinit) struct row_names names = {0};
    double all = 0, left = 0;

    baseline_value_names(now, &names);
    vec_foreach(v, &before->values)
        if (!v->absolute && is_own(v)) {
            all += v->share;
            left += baseline_value_find(now, &names, v->metric, v->path) ? v->share : 0;
        }
    /* A baseline of a few rows may well lose them. */
    return all > most && now->values.len && left < least * all;
}
