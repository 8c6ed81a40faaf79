/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `trace depth of rank R`: the call-path/time view of one profile, levels from the outermost downwards; and `trace at
 * TIME rank R`: its call path at one instant ([tracing], section 5.1).
 */
#include "query/views/trace.h"
#include "query/grammar/parse.h"
#include "query/views/views.h"

/* One profile is looked at: the first one that was chosen. */
static struct hq_error *init_one(struct trace *t, struct run *run, uint32_t width)
{
    HQ_TRY(trace_init(t, run, width, 0, true));
    if (!t->profile_count)
        return place_error(&run->query->view.place, NULL, "%s",
                           run->table->notes.len ? run->table->notes.data[0]
                                                 : "there is no such profile: `profiles` lists them");
    if (t->profile_count > 1)
        run_note(run, "%s is shown, the first of %u profiles: add a thread to choose another",
                 trace_label(t, t->profiles[0], &run->table->arena), t->profile_count);
    t->shown_count = 1;
    t->shown[0] = t->profiles[0];
    return NULL;
}

static uint32_t deepest_of(const struct trace *t)
{
    uint32_t deepest = 1, last = 0;

    for (uint32_t x = 0; x < t->width; x++) {
        uint32_t cell = t->contexts[x], depth = cell && cell != last ? trace_depth(t->run->tree, cell - 1) : 0;
        deepest = depth > deepest ? depth : deepest;
        last = cell;
    }
    return deepest;
}

static void draw(struct trace *t, uint32_t levels, struct table *table)
{
    struct picture *p = picture_create(&table->arena, t->width, levels);
    char column[UNITS_TEXT];

    table->picture = p;
    units_format(column, (double)(t->to_us - t->from_us) / t->width / 1e6, DIM_SECONDS);
    p->title = arena_printf(p->arena, "trace depth: %s, a row is a call path level, a column is %s",
                            trace_label(t, t->shown[0], p->arena), column);
    p->from = (double)t->from_us / 1e6;
    p->to = (double)t->to_us / 1e6;
    p->nested = true;
    for (uint32_t y = 0; y < levels; y++) {
        p->labels[y] = arena_printf(p->arena, "%u", y + 1);
        for (uint32_t x = 0; x < t->width; x++) {
            uint32_t cell = t->contexts[x];
            if (cell && trace_depth(t->run->tree, cell - 1) > y)
                *picture_cell(p, x, y) = trace_item(t, p, trace_ancestor(t->run->tree, cell - 1, y + 1));
        }
    }
    picture_finish(p);
}

static void add_rows(const struct trace *t, uint32_t levels, struct table *table)
{
    for (uint32_t x = 0; x < t->width; x++) {
        uint32_t cell = t->contexts[x], depth = cell ? trace_depth(t->run->tree, cell - 1) : 0;
        for (uint32_t level = 1; level <= depth && level <= levels; level++) {
            struct row *r = trace_row(table, t->run->tree, trace_ancestor(t->run->tree, cell - 1, level));
            r->cells[0].number = (double)trace_instant(t, x) / 1e6;
            r->cells[1].number = level;
        }
    }
}

static struct hq_error *trace_depth_fill(struct run *run, struct table *table)
{
    struct trace t;
    struct hq_error *err = init_one(&t, run, trace_width(run, 4));

    if (!err)
        err = trace_look(&t);
    if (!err) {
        uint32_t deepest = deepest_of(&t), most = trace_height(run, 64), levels = deepest < most ? deepest : most;
        trace_column(table, "time", DIM_SECONDS);
        trace_column(table, "level", DIM_NONE);
        if (levels < deepest)
            run_note(run, "the %u outermost of %u levels are shown", levels, deepest);
        if (trace_wants_rows(run))
            add_rows(&t, levels, table);
        else
            draw(&t, levels, table);
    }
    trace_deinit(&t);
    return err;
}

/* ---- at ---- */

static void add_path(const struct trace *t, uint32_t context, struct table *table)
{
    const struct tree *tree = t->run->tree;
    VEC(uint32_t) path = {0};

    for (uint32_t c = context; c != HQDB_NONE && tree_kind(tree, c) != SCOPE_ROOT; c = tree_parent(tree, c))
        vec_push(&path, c);
    for (size_t i = path.len; i-- > 0;) {
        struct row *r = trace_row(table, tree, path.data[i]);
        const struct hqdb_context *c = tree_context(tree, path.data[i]);
        r->depth = (int)(path.len - 1 - i);
        r->number = (uint32_t)table->rows.len;
        if (*tree_text(tree, c->call_file)) {
            r->call_file = tree_text(tree, c->call_file);
            r->call_line = c->call_line;
        }
    }
    vec_deinit(&path);
}

/* Nothing ran there: where to look instead. */
static void note_neighbours(struct run *run, const struct sampler *s, const char *label, uint64_t us)
{
    const char *where = "";

    if (s->has_before && s->has_after)
        where = arena_printf(&run->table->arena, "; its nearest samples are at %.6f s and %.6f s",
                             (double)s->before.time_us / 1e6, (double)s->after.time_us / 1e6);
    else if (s->has_before)
        where = arena_printf(&run->table->arena, "; its last sample is at %.6f s", (double)s->before.time_us / 1e6);
    else if (s->has_after)
        where = arena_printf(&run->table->arena, "; its first sample is at %.6f s", (double)s->after.time_us / 1e6);
    run_note(run, "%s has no sample near %.6f s: it was idle, or not on a CPU%s", label, (double)us / 1e6, where);
}

static struct hq_error *trace_at_fill(struct run *run, struct table *table)
{
    struct trace t;
    struct sampler sampler = {0};
    struct db_trace_record r;
    struct hq_error *err = init_one(&t, run, 1);
    uint64_t us = timeline_instant(&t.time, &run->query->view.at, false);

    table->tree = true;
    if (!err)
        err = timeline_reached(&t.time, &run->query->view.at, us);
    if (!err)
        err = sampler_open(&sampler, &t.time, t.shown[0]);
    if (!err) {
        const char *label = trace_label(&t, t.shown[0], &table->arena);
        if (sampler_at(&sampler, us, &r)) {
            add_path(&t, selection_context(&run->selection, r.frame), table);
            run_note(run, "%s at %.6f s: the sample at %.6f s", label, (double)us / 1e6, (double)r.time_us / 1e6);
        } else {
            note_neighbours(run, &sampler, label, us);
        }
        sampler_close(&sampler);
    }
    trace_deinit(&t);
    return err;
}

const struct view_row view_trace_depth = {.shape = SHAPE_FACTS, .of_traces = true, .fill = trace_depth_fill};
const struct view_row view_trace_at = {.shape = SHAPE_FACTS, .of_traces = true, .fill = trace_at_fill};
