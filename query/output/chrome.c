/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `trace as chrome`: what each profile did, at the call-path level of the view, as complete events (X) of Chrome's
 * trace event format. A row of the view is an instant; equal neighbours are one event. `hq export chrome` writes whole
 * traces with all levels.
 */
#include "query/output/formats.h"
#include "query/output/json.h"
#include "query/output/text.h"
#include <math.h>
#include <string.h>

struct columns {
    size_t rank, thread, time;
};

/* One event that is still growing: rows first .. last. */
struct span {
    size_t first, last;
};

static size_t column_named(const struct table *t, const char *name)
{
    for (size_t c = 0; c < t->columns.len; c++)
        if (!strcmp(t->columns.data[c].name, name) && t->columns.data[c].type == COLUMN_NUMBER)
            return c;
    return SIZE_MAX;
}

static double cell(const struct table *t, size_t row, size_t column)
{
    double x = t->rows.data[row].cells[column].number;
    return isfinite(x) ? x : 0;
}

static bool same_profile(const struct table *t, const struct columns *c, size_t a, size_t b)
{
    return cell(t, a, c->rank) == cell(t, b, c->rank) && cell(t, a, c->thread) == cell(t, b, c->thread);
}

/* The distance of two instants: the smallest there is. */
static double step_of(const struct table *t, const struct columns *c)
{
    double step = INFINITY;

    for (size_t i = 1; i < t->rows.len; i++) {
        double d = cell(t, i, c->time) - cell(t, i - 1, c->time);

        if (same_profile(t, c, i - 1, i) && d > 0)
            step = fmin(step, d);
    }
    return isfinite(step) ? step : 1e-6;
}

static void put_span(const struct table *t, const struct columns *c, struct span s, double step, bool first, FILE *out)
{
    const struct row *r = &t->rows.data[s.first];
    double start = cell(t, s.first, c->time), end = cell(t, s.last, c->time) + step;
    char own[ROW_NAME_MAX];

    fputs(first ? "\n{\"ph\":\"X\",\"name\":" : ",\n{\"ph\":\"X\",\"name\":", out);
    json_text(row_name(r, own), out);
    fprintf(out, ",\"pid\":%.0f,\"tid\":%.0f,\"ts\":%.3f,\"dur\":%.3f}", cell(t, s.first, c->rank),
            cell(t, s.first, c->thread), start * 1e6, (end - start) * 1e6);
}

struct hq_error *chrome_write(const struct table *t, const struct output_options *o, FILE *out)
{
    struct columns c = {column_named(t, "rank"), column_named(t, "thread"), column_named(t, "time")};
    bool first = true;

    (void)o;
    if (c.rank == SIZE_MAX || c.thread == SIZE_MAX || c.time == SIZE_MAX)
        return hq_error_new(HQ_USAGE, "as chrome needs a trace: ask for `trace`, or use hq export chrome");
    double step = step_of(t, &c);

    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
    for (size_t i = 0; i < t->rows.len;) {
        struct span s = {i, i};

        for (i++; i < t->rows.len && same_profile(t, &c, s.last, i) && t->rows.data[i].id == t->rows.data[s.first].id &&
                  cell(t, i, c.time) - cell(t, s.last, c.time) < 1.5 * step;
             i++)
            s.last = i;
        put_span(t, &c, s, step, first, out);
        first = false;
    }
    fputs("\n]}\n", out);
    return NULL;
}
