/* SPDX-License-Identifier: BSD-3-Clause */
/* `trace`: the process/time view ([tracing], section 5.1): what each profile did at each instant, at one call path
 * level. */
#include "query/views/trace.h"
#include "query/views/views.h"

static const char *title_of(const struct trace *t, uint32_t level, struct arena *arena)
{
    char column[UNITS_TEXT];

    units_format(column, (double)(t->to_us - t->from_us) / t->width / 1e6, DIM_SECONDS);
    if (t->shown_count < t->profile_count)
        return arena_printf(arena, "trace: call path level %u, %u of %u profiles, a column is %s", level,
                            t->shown_count, t->profile_count, column);
    return arena_printf(arena, "trace: call path level %u, %u profile%s, a column is %s", level, t->profile_count,
                        t->profile_count == 1 ? "" : "s", column);
}

static void add_rows(const struct trace *t, uint32_t level, struct table *table)
{
    const struct db *db = t->time.db;

    for (uint32_t y = 0; y < t->shown_count; y++)
        for (uint32_t x = 0; x < t->width; x++) {
            uint32_t cell = t->contexts[(size_t)y * t->width + x];
            if (!cell)
                continue;
            struct row *r = trace_row(table, t->run->tree, trace_ancestor(t->run->tree, cell - 1, level));
            const struct hqdb_profile *p = &db->profiles[t->shown[y]];
            if (p->rank >= 0)
                r->cells[0].number = p->rank;
            r->cells[1].number = p->thread;
            r->cells[2].number = (double)trace_instant(t, x) / 1e6;
        }
}

static void draw(struct trace *t, uint32_t level, struct table *table)
{
    struct picture *p = picture_create(&table->arena, t->width, t->shown_count);
    uint32_t last = 0, value = 0;

    table->picture = p;
    p->title = title_of(t, level, p->arena);
    p->from = (double)t->from_us / 1e6;
    p->to = (double)t->to_us / 1e6;
    p->blank = trace_blank(t);
    for (uint32_t y = 0; y < t->shown_count; y++) {
        p->labels[y] = trace_label(t, t->shown[y], p->arena);
        for (uint32_t x = 0; x < t->width; x++) {
            uint32_t cell = t->contexts[(size_t)y * t->width + x];
            if (cell && cell != last)
                value = trace_item(t, p, trace_ancestor(t->run->tree, cell - 1, level));
            last = cell ? cell : last;
            *picture_cell(p, x, y) = cell ? value : 0;
        }
    }
    picture_finish(p);
}

static struct hq_error *trace_fill(struct run *run, struct table *table)
{
    struct trace t;
    struct hq_error *err = trace_init(&t, run, trace_width(run, 16), trace_height(run, 48), true);

    if (!err)
        err = trace_look(&t);
    if (!err) {
        uint32_t level = trace_level(&t);
        trace_column(table, "rank", DIM_NONE);
        trace_column(table, "thread", DIM_NONE);
        trace_column(table, "time", DIM_SECONDS);
        if (trace_wants_rows(run))
            add_rows(&t, level, table);
        else
            draw(&t, level, table);
        trace_note_filled(&t);
        trace_note_clock(&t);
    }
    trace_deinit(&t);
    return err;
}

const struct view_row view_trace = {.shape = SHAPE_FACTS, .of_traces = true, .fill = trace_fill};
