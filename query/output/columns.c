/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/columns.h"
#include "common/str.h"

#include <math.h>
#include <string.h>

static bool is_nothing(double x)
{
    return !isfinite(x) || x == 0;
}

bool column_has_value(const struct table *t, size_t c)
{
    for (size_t i = 0; i < t->rows.len; i++) {
        const struct cell *cell = &t->rows.data[i].cells[c];

        if (t->columns.data[c].type == COLUMN_TEXT ? cell->text && *cell->text : !is_nothing(cell->number))
            return true;
    }
    return false;
}

/* A change of a metric that has values says that nothing has changed. */
bool column_is_silent(const struct table *t, size_t c)
{
    const struct column *column = &t->columns.data[c];

    return c && !t->chosen_columns && t->rows.len && column->type == COLUMN_NUMBER && column->metric &&
           is_nothing(column->total) && !(column->marks_sign && !is_nothing(column->base)) && !column_has_value(t, c);
}

void columns_tell_silent(const struct table *t, struct str *out)
{
    AUTO_STR struct str names = {0};

    for (size_t c = 0; c < t->columns.len; c++) {
        const struct column *column = &t->columns.data[c];

        if (column_is_silent(t, c) && column->scope != SCOPED_EXCLUSIVE && !column->marks_sign &&
            !str_begins(column->name, "old."))
            str_addf(&names, "%s%s", names.len ? ", " : "", column->name);
    }
    if (names.len)
        str_addf(out, "(without a value: %s; `columns` shows them)", str_cstr(&names));
}
