/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `trace of clusters`: the process/time view of computing, what cluster each stretch of it is in
 * (query/views/clustering.h). A cluster has the colour that it has in the scatter plot of `clusters of phases as svg`.
 * Formats of rows have one for each stretch.
 */
#include "common/hash.h"
#include "query/views/clustering.h"
#include "query/views/views.h"

static const char *title_of(const struct clustering *c, struct arena *arena)
{
    const struct trace *t = &c->trace;
    char column[UNITS_TEXT];

    units_format(column, (double)(t->to_us - t->from_us) / t->width / 1e6, DIM_SECONDS);
    return arena_printf(
        arena, "trace of %u cluster%s of %zu stretches, %u%s%.0u profile%s, a column is %s", c->count,
        c->count == 1 ? "" : "s", c->bursts.len, t->shown_count, t->shown_count < t->profile_count ? " of " : "",
        t->shown_count < t->profile_count ? t->profile_count : 0, t->profile_count == 1 ? "" : "s", column);
}

/* The item of each cluster, that of noise last. */
static uint32_t *items_of(const struct clustering *c, struct picture *p)
{
    uint32_t *items = ARENA_ARRAY(p->arena, (size_t)c->count + 1, uint32_t);

    for (uint32_t k = 0; k <= c->count; k++) {
        uint32_t number = k == c->count ? DBSCAN_NOISE : k;

        items[k] = picture_item(p, picture_coloured(p, clustering_name(c, number, p->arena), clustering_colour(number)),
                                NULL);
    }
    return items;
}

/* The first of the bursts of a profile. */
static size_t first_of(const struct clustering *c, uint32_t profile)
{
    size_t i = 0;

    while (i < c->bursts.len && c->bursts.data[i].profile != profile)
        i++;
    return i;
}

static void draw_row(const struct clustering *c, const uint32_t *items, struct picture *p, uint32_t y)
{
    const struct trace *t = &c->trace;
    size_t at = first_of(c, t->shown[y]);

    for (uint32_t x = 0; x < t->width; x++) {
        uint64_t us = trace_instant(t, x);

        while (at < c->bursts.len && c->bursts.data[at].profile == t->shown[y] && c->bursts.data[at].to_us <= us)
            at++;
        if (at == c->bursts.len || c->bursts.data[at].profile != t->shown[y])
            return;
        if (c->bursts.data[at].from_us <= us)
            *picture_cell(p, x, y) = items[c->cluster[at] == DBSCAN_NOISE ? c->count : c->cluster[at]];
    }
}

static void draw(const struct clustering *c, struct table *table)
{
    struct picture *p = picture_create(&table->arena, c->trace.width, c->trace.shown_count);
    const uint32_t *items = items_of(c, p);

    table->picture = p;
    p->title = title_of(c, p->arena);
    p->from = (double)c->trace.from_us / 1e6;
    p->to = (double)c->trace.to_us / 1e6;
    p->blank = "(in no stretch)";
    for (uint32_t y = 0; y < c->trace.shown_count; y++) {
        p->labels[y] = trace_label(&c->trace, c->trace.shown[y], p->arena);
        draw_row(c, items, p, y);
    }
    picture_finish(p);
}

static void add_rows(const struct clustering *c, struct table *table)
{
    const struct db *db = c->trace.time.db;

    for (size_t i = 0; i < c->bursts.len; i++) {
        const struct visit *b = &c->bursts.data[i];
        const struct hqdb_profile *profile = &db->profiles[b->profile];
        struct row *r = table_add_row(table);

        r->kind = SCOPE_THREAD;
        r->id = hash_combine(hash_combine(hash_str("stretch"), b->profile), b->number);
        r->name = c->cluster[i] == DBSCAN_NOISE ? "noise"
                                                : arena_printf(&table->arena, "cluster %u", c->cluster[i] + 1);
        if (profile->rank >= 0)
            r->cells[0].number = profile->rank;
        r->cells[1].number = profile->thread;
        r->cells[2].number = (double)b->from_us / 1e6;
        r->cells[3].number = (double)b->length_us / 1e6;
    }
}

static void fill(struct clustering *c, struct table *table)
{
    trace_column(table, "rank", DIM_NONE);
    trace_column(table, "thread", DIM_NONE);
    trace_column(table, "time", DIM_SECONDS);
    trace_column(table, "length", DIM_SECONDS);
    if (c->doubt)
        run_note(c->run, "%s", c->doubt);
    if (!c->bursts.len)
        run_note(c->run, "there is no stretch to show: record a run with a trace in which what you ask for is entered");
    if (trace_wants_rows(c->run))
        add_rows(c, table);
    else
        draw(c, table);
}

static struct hq_error *trace_clusters_fill(struct run *run, struct table *table)
{
    struct clustering c = {.run = run};
    struct hq_error *err = trace_init(&c.trace, run, trace_width(run, 16), trace_height(run, 48), false);

    if (!err)
        err = clustering_make(&c);
    if (!err)
        fill(&c, table);
    clustering_deinit(&c);
    return err;
}

const struct view_row view_trace_clusters = {.shape = SHAPE_FACTS,
                                             .of_kinds = KINDS_PATH,
                                             .row_kinds = KIND_BIT(SCOPE_THREAD),
                                             .of_traces = true,
                                             .fill = trace_clusters_fill};
