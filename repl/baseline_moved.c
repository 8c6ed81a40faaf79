/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a row that the baseline has not new work, or what others did before, and is it the same program (baseline.h)? */
#include "repl/baseline.h"
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
    }
    vec_foreach(v, &now->values)
        if (!strcmp(v->metric, metric) && !baseline_value_find(before, &old_names, metric, v->path))
            c.added += amount_of(v);
    return c;
}

/* The row's own part; NULL: none is known, for the query does not ask for it. *asked: it does. */
static const struct baseline_value *own_part(const struct baseline_query *now, const struct baseline_value *v,
                                             bool *asked)
{
    size_t n = strlen(v->metric);

    *asked = false;
    vec_foreach(own, &now->values) {
        if (!is_own(own) || baseline_metric_length(own->metric) != n || strncmp(own->metric, v->metric, n))
            continue;
        *asked = true;
        if (!strcmp(own->path, v->path))
            return own;
    }
    return NULL;
}

bool baseline_moved(const struct baseline_query *before, const struct baseline_query *now,
                    const struct baseline_value *v)
{
    static const double nearly = 0.8;
    const struct baseline_value *own = v;
    bool asked = true;

    if (!is_own(v))
        own = own_part(now, v, &asked);
    if (!asked)
        return false;
    /* A wrapper: what it calls has rows of its own, which tell. */
    if (!own || amount_of(own) < amount_of(v) / 2)
        return true;
    struct change c = change_of(before, now, own->metric);

    if (own->absolute)
        return c.sum + c.added < amount_of(own) / 2;
    /* Extra work takes its share of all, a line that is not in the file of none, and what became a procedure of its own
     * of one. */
    return c.before > 0 && (-c.sum < own->share * c.before / 2 || c.most > nearly * own->share);
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
