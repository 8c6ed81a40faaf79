/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `trace summary`: at each instant the share of profiles in each procedure, as a stacked histogram over time
 * (call-path-tracing.txt, section 5.2). `trace imbalance`: the same with two sorts of procedures, those in which
 * profiles wait for each other and the others. Of many profiles a systematic sample is looked at, so the cost does not
 * grow with their number.
 */
#include "common/hash.h"
#include "query/grammar/parse.h"
#include "query/measure/values.h"
#include "query/pattern/waits.h"
#include "query/shape/rows.h"
#include "query/views/trace.h"
#include "query/views/views.h"
#include <math.h>
#include <string.h>

#define PROFILES_LOOKED_AT 512u

/* ---- a stacked histogram of numbered classes ---- */

struct histogram {
    struct trace trace;
    VEC(const char *) names; /* of the classes */
    VEC(struct tint) tints;
    uint32_t *classes;   /* [shown][width] class + 1, 0 blank */
    VEC(uint32_t) order; /* classes from the bottom up */
};

static void histogram_deinit(struct histogram *h)
{
    vec_deinit(&h->names);
    vec_deinit(&h->tints);
    vec_deinit(&h->order);
    free(h->classes);
    trace_deinit(&h->trace);
}

/* counts[class] of one instant; returns how many profiles had a sample. */
static uint32_t count_column(const struct histogram *h, uint32_t x, uint32_t *counts)
{
    uint32_t running = 0;

    memset(counts, 0, h->names.len * sizeof *counts);
    for (uint32_t y = 0; y < h->trace.shown_count; y++) {
        uint32_t class = h->classes[(size_t)y * h->trace.width + x];
        if (!class)
            continue;
        counts[class - 1]++;
        running++;
    }
    return running;
}

static int compare_totals(const void *a, const void *b, void *arg)
{
    const uint64_t *totals = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (totals[x] != totals[y])
        return totals[x] < totals[y] ? 1 : -1;
    return x < y ? -1 : x > y;
}

static void order_by_total(struct histogram *h)
{
    AUTO_FREE uint64_t *totals = xcalloc(h->names.len + 1, sizeof *totals);

    for (size_t i = 0; i < (size_t)h->trace.shown_count * h->trace.width; i++)
        if (h->classes[i])
            totals[h->classes[i] - 1]++;
    for (uint32_t c = 0; c < h->names.len; c++)
        vec_push(&h->order, c);
    vec_sort_r(&h->order, compare_totals, totals);
}

/* Each cell shows the class that holds the middle of its share. */
static void draw_column(const struct histogram *h, struct picture *p, const uint32_t *items, uint32_t x,
                        const uint32_t *counts)
{
    uint32_t y = p->height;
    double sum = 0;

    for (size_t i = 0; i < h->order.len; i++) {
        sum += (double)counts[h->order.data[i]] / h->trace.shown_count;
        while (y > 0 && (p->height - y + 0.5) / p->height < sum)
            *picture_cell(p, x, --y) = items[h->order.data[i]];
    }
}

static void draw(struct histogram *h, uint32_t height, const char *title, struct table *table)
{
    struct picture *p = picture_create(&table->arena, h->trace.width, height);
    AUTO_FREE uint32_t *counts = xcalloc(h->names.len + 1, sizeof *counts),
                       *items = xcalloc(h->names.len + 1, sizeof *items);

    table->picture = p;
    p->title = title;
    p->from = (double)h->trace.from_us / 1e6;
    p->to = (double)h->trace.to_us / 1e6;
    p->blank = trace_blank(&h->trace);
    p->labels[0] = "100%";
    p->labels[height - 1] = height > 1 ? "0%" : "100%";
    if (height > 4)
        p->labels[height / 2] = "50%";
    for (uint32_t c = 0; c < h->names.len; c++)
        items[c] = picture_item(p, picture_name(p, h->names.data[c], h->tints.data[c]), NULL);
    for (uint32_t x = 0; x < p->width; x++) {
        count_column(h, x, counts);
        draw_column(h, p, items, x, counts);
    }
    picture_finish(p);
}

static void add_rows(const struct histogram *h, struct table *table)
{
    AUTO_FREE uint32_t *counts = xcalloc(h->names.len + 1, sizeof *counts);

    for (uint32_t x = 0; x < h->trace.width; x++) {
        count_column(h, x, counts);
        for (size_t i = 0; i < h->order.len; i++) {
            uint32_t count = counts[h->order.data[i]];
            if (!count)
                continue;
            struct row *r = table_add_row(table);
            r->kind = SCOPE_PROCEDURE;
            r->name = arena_strdup(&table->arena, h->names.data[h->order.data[i]]);
            r->cells[0].number = (double)trace_instant(&h->trace, x) / 1e6;
            r->cells[1].number = (double)count / h->trace.shown_count;
        }
    }
}

/* A picture looks at one instant a column, in all profiles at once: its shares are known no better than that. */
static void note_instants(const struct histogram *h)
{
    uint32_t instants = h->trace.width;

    if (instants)
        run_note(h->trace.run, "shares are of %u instant%s, one a column: half is known to +-%.1f %% at best", instants,
                 instants == 1 ? "" : "s", 98 / sqrt(instants));
}

static void show(struct histogram *h, const char *title, struct table *table)
{
    struct run *run = h->trace.run;

    trace_column(table, "time", DIM_SECONDS);
    trace_column(table, "share", DIM_NONE);
    if (h->trace.shown_count < h->trace.profile_count)
        run_note(run, "%u of %u profiles were looked at", h->trace.shown_count, h->trace.profile_count);
    if (trace_wants_rows(run)) {
        add_rows(h, table);
    } else {
        draw(h, trace_height(run, 20), title, table);
        note_instants(h);
    }
    trace_note_filled(&h->trace);
}

static struct hq_error *histogram_look(struct histogram *h, struct run *run)
{
    *h = (struct histogram){0};
    HQ_TRY(trace_init(&h->trace, run, trace_width(run, 5), PROFILES_LOOKED_AT, false));
    HQ_TRY(trace_look(&h->trace));
    h->classes = xcalloc((size_t)h->trace.shown_count * h->trace.width + 1, sizeof *h->classes);
    return NULL;
}

/* ---- summary ---- */

static void classify_by_procedure(struct histogram *h, uint32_t level, struct arena *arena)
{
    const struct tree *tree = h->trace.run->tree;
    struct map names = {0}, contexts = {0};

    for (size_t i = 0; i < (size_t)h->trace.shown_count * h->trace.width; i++) {
        uint32_t cell = h->trace.contexts[i];
        bool is_new;
        if (!cell)
            continue;
        uint64_t *class = map_insert(&contexts, cell, 0, &is_new);
        if (is_new) {
            uint32_t scope = tree_scope_of(tree, trace_ancestor(tree, cell - 1, level));
            const char *name = tree_scope_name(tree, scope, arena);

            *class = *map_insert(&names, hash_str(name), h->names.len, &is_new);
            if (is_new) {
                vec_push(&h->names, name);
                vec_push(&h->tints, values_tint(h->trace.run, scope));
            }
        }
        h->classes[i] = (uint32_t) * class + 1;
    }
    map_deinit(&names);
    map_deinit(&contexts);
}

static struct hq_error *trace_summary_fill(struct run *run, struct table *table)
{
    struct histogram h;
    struct hq_error *err = histogram_look(&h, run);

    if (!err) {
        uint32_t level = trace_level(&h.trace);
        classify_by_procedure(&h, level, &table->arena);
        order_by_total(&h);
        show(&h,
             arena_printf(&table->arena, "trace summary: share of %u profile%s, call path level %u",
                          h.trace.shown_count, h.trace.shown_count == 1 ? "" : "s", level),
             table);
    }
    histogram_deinit(&h);
    return err;
}

/* ---- imbalance ---- */

static void classify_by_mark(struct histogram *h, const uint8_t *within)
{
    for (size_t i = 0; i < (size_t)h->trace.shown_count * h->trace.width; i++)
        if (h->trace.contexts[i])
            h->classes[i] = within[h->trace.contexts[i] - 1] ? 1 : 2;
}

/* One sentence: how much on average, and when it is worst. */
static void note_worst(const struct histogram *h)
{
    double sum = 0, worst = 0;
    uint32_t counts[2], at = 0, columns = 0;

    for (uint32_t x = 0; x < h->trace.width; x++) {
        if (!count_column(h, x, counts))
            continue;
        double share = (double)counts[0] / h->trace.shown_count;
        columns++;
        sum += share;
        at = share > worst ? x : at;
        worst = share > worst ? share : worst;
    }
    const char *over = columns < h->trace.width ? " over the columns with samples" : "";

    if (columns && worst > 0)
        run_note(h->trace.run, "%.1f%% of profiles are in %s on average%s, %.1f%% at %.6g s", 100 * sum / columns,
                 h->names.data[0], over, 100 * worst, (double)trace_instant(&h->trace, at) / 1e6);
    else if (columns)
        run_note(h->trace.run, "no profile is in %s%s", h->names.data[0], over);
}

/* Marks the contexts that `of` names, or else those that wait. */
static uint8_t *mark_imbalance(struct run *run, const char **name)
{
    const struct setting_value *set = &run->env->settings.of[SETTING_WAITS];
    struct pattern regex = {.kind = PATTERN_REGEX, .text = set->text, .ignore_case = set->ignore_case};
    const struct pattern *of = run->query->view.of;
    AUTO_FREE uint8_t *mark = NULL;

    if (!of) {
        *name = set->text ? print_pattern(&run->table->arena, &regex) : "what waits (MPI, barriers, locks, ...)";
        return waits_of_contexts(run->env, run->tree);
    }
    *name = print_pattern(&run->table->arena, of);
    mark = matches_mark(&run->of, run->tree);
    return contexts_within(run->tree, mark);
}

static struct hq_error *trace_imbalance_fill(struct run *run, struct table *table)
{
    struct histogram h;
    struct hq_error *err = histogram_look(&h, run);

    if (!err && !run->query->view.of)
        err = note_delay(run);
    if (!err) {
        const char *name;
        AUTO_FREE uint8_t *within = mark_imbalance(run, &name);

        vec_push(&h.names, name);
        vec_push(&h.names, "elsewhere");
        vec_push(&h.tints, (struct tint){run->query->view.of ? FAMILY_PROGRAM : FAMILY_WAITING, 0});
        vec_push(&h.tints, (struct tint){FAMILY_SYSTEM, 0});
        classify_by_mark(&h, within);
        vec_push(&h.order, 0);
        vec_push(&h.order, 1);
        show(&h,
             arena_printf(&table->arena, "trace imbalance: share of %u profile%s in %s", h.trace.shown_count,
                          h.trace.shown_count == 1 ? "" : "s", name),
             table);
        note_worst(&h);
    }
    histogram_deinit(&h);
    return err;
}

const struct view_row view_trace_summary = {.shape = SHAPE_FACTS, .of_traces = true, .fill = trace_summary_fill};
const struct view_row view_trace_imbalance = {
    .shape = SHAPE_FACTS, .of_traces = true, .of_kinds = KINDS_PROCEDURE, .fill = trace_imbalance_fill};
