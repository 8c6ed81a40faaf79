/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/weights.h"
#include "common/err.h"
#include "common/mem.h"
#include <math.h>

/* SIZE_MAX if the table has no number. */
static size_t pick_column(const struct table *t)
{
    size_t first = SIZE_MAX;

    for (size_t c = 0; c < t->columns.len; c++) {
        if (t->columns.data[c].type != COLUMN_NUMBER)
            continue;
        if (t->columns.data[c].scope == SCOPED_INCLUSIVE)
            return c;
        if (first == SIZE_MAX)
            first = c;
    }
    return first;
}

static double value_at(const struct table *t, size_t row, size_t column)
{
    double v = t->rows.data[row].cells[column].number;
    return isfinite(v) ? v : 0;
}

/* Whether `rest` is only the rounding error of a difference of equal sums. */
static bool is_rounding(double rest, double whole)
{
    return fabs(rest) < 1e-9 * fabs(whole);
}

double *weights_column(const struct table *t, size_t column)
{
    double *own = xcalloc(t->rows.len + 1, sizeof *own);
    bool inclusive = t->columns.data[column].scope != SCOPED_EXCLUSIVE;
    VEC(size_t) path = {0};

    for (size_t i = 0; i < t->rows.len; i++) {
        const struct row *r = &t->rows.data[i];
        own[i] += value_at(t, i, column);
        while (path.len && t->rows.data[vec_last(&path)].depth >= r->depth)
            path.len--;
        if (path.len && inclusive)
            own[vec_last(&path)] -= value_at(t, i, column);
        vec_push(&path, i);
    }
    for (size_t i = 0; i < t->rows.len; i++)
        if (t->rows.data[i].flags & (ROW_ANCESTOR | ROW_FOLDED) || is_rounding(own[i], value_at(t, i, column)))
            own[i] = 0;
    vec_deinit(&path);
    return own;
}

bool weights_negative(const struct table *t, const double *own)
{
    for (size_t i = 0; i < t->rows.len; i++)
        if (own[i] < 0)
            return true;
    return false;
}

struct hq_error *weights_of(const struct table *t, const char *format, double **own, size_t *column)
{
    *column = pick_column(t);
    if (*column == SIZE_MAX)
        return hq_error_new(HQ_USAGE, "as %s needs a column of numbers: ask for a view with a metric", format);
    *own = weights_column(t, *column);
    return NULL;
}
