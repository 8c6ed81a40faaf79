/* SPDX-License-Identifier: BSD-3-Clause */
/* The picture of a fold, or of two on one scale of time: routines, source lines, rates. */
#include "query/picture/chart.h"
#include "query/measure/values.h"
#include "query/picture/palette.h"
#include "query/views/fold.h"
#include <math.h>
#include <string.h>
#include <strings.h>

enum { DRAWN_POINTS = 4000 };

static const char *routine_name(const struct folded *f, uint32_t routine, struct arena *arena)
{
    return arena_strdup(arena, tree_scope_name(f->run->tree, routine, &f->run->arena));
}

/* leaves: the deepest ones alone. */
static const struct chart_band *bands_of(const struct folded *f, struct arena *arena, bool leaves, size_t *count)
{
    struct chart_band *bands = ARENA_ARRAY(arena, f->runs.len + 1, struct chart_band);

    *count = 0;
    for (size_t i = 0; i < f->runs.len; i++) {
        const struct routine_run *r = &f->runs.data[i];
        const char *name = routine_name(f, r->routine, arena);

        if (!leaves || r->leaf)
            bands[(*count)++] = (struct chart_band){r->from * f->mean, r->to * f->mean, r->level,
                                                    palette_colour(name, values_tint(f->run, r->routine)), name};
    }
    return bands;
}

static const struct chart_series *lines_of(const struct folded *f, struct arena *arena)
{
    size_t step = f->places.len / DRAWN_POINTS + 1, n = 0;
    struct chart_series *s = ARENA_NEW(arena, struct chart_series);
    double *x = ARENA_ARRAY(arena, f->places.len / step + 1, double),
           *y = ARENA_ARRAY(arena, f->places.len / step + 1, double);

    for (size_t i = 0; i < f->places.len; i += step) {
        const struct hqdb_scope *scope = tree_scope(f->run->tree,
                                                    tree_scope_of(f->run->tree, f->places.data[i].context));

        x[n] = f->places.data[i].x * f->mean;
        y[n++] = scope->kind == SCOPE_LINE && scope->line ? scope->line : NAN;
    }
    *s = (struct chart_series){.name = "line of a sample", .colour = 0xc03080, .x = x, .y = y, .count = n};
    return s;
}

/* The highest that a metric gets on either side: both are drawn on one scale. */
static double highest(const struct folded *const side[2], const char *name)
{
    double most = 0;

    for (int s = 0; s < 2 && side[s]; s++)
        for (size_t k = 0; k < side[s]->metric_count; k++) {
            const struct db *db = side[s]->run->tree->db;

            if (!side[s]->curves[k] || strcasecmp(db_string(db, db->metrics[side[s]->metrics[k]].name), name))
                continue;
            for (size_t i = 0; i < side[s]->points; i++)
                most = fmax(most, fmax(side[s]->curves[k][i].rate, side[s]->curves[k][i].high));
        }
    return most;
}

static const struct chart_series *rates_of(const struct folded *f, const struct folded *const side[2],
                                           struct arena *arena, size_t *count)
{
    static const uint32_t colours[] = {0x000000, 0xc02020, 0x2050c0, 0x208040, 0x906000, 0x7030a0};
    struct chart_series *series = ARENA_ARRAY(arena, f->metric_count + 1, struct chart_series);

    *count = 0;
    for (size_t k = 0; k < f->metric_count; k++) {
        const struct hqdb_metric *m = &f->run->tree->db->metrics[f->metrics[k]];

        if (!f->curves[k])
            continue;
        double *values = ARENA_ARRAY(arena, 4 * f->points + 1, double);

        for (size_t i = 0; i < f->points; i++) {
            values[i] = folded_time(f, i);
            values[f->points + i] = f->curves[k][i].rate;
            values[2 * f->points + i] = f->curves[k][i].low;
            values[3 * f->points + i] = f->curves[k][i].high;
        }
        series[*count] = (struct chart_series){
            .name = arena_printf(arena, "%s a second", db_string(f->run->tree->db, m->name)),
            .top = highest(side, db_string(f->run->tree->db, m->name)),
            .colour = colours[*count % 6],
            .x = values,
            .y = values + f->points,
            .low = values + 2 * f->points,
            .high = values + 3 * f->points,
            .count = f->points,
            .line = true,
            .dim = m->dimension == DIM_SECONDS ? DIM_NONE : (enum dim)m->dimension,
        };
        ++*count;
    }
    return series;
}

/* ---- the whole ---- */

enum { PANELS = 3 };

static void add_panels(const struct folded *f, const struct folded *const side[2], const char *whose,
                       struct chart_panel p[PANELS])
{
    struct arena *arena = &f->run->table->arena;

    p[0].title = arena_printf(arena, "routines%s", whose);
    p[0].bands = bands_of(f, arena, false, &p[0].band_count);
    p[1].title = arena_printf(arena, "source lines%s", whose);
    p[1].bands = bands_of(f, arena, true, &p[1].band_count);
    p[1].series = lines_of(f, arena);
    p[1].series_count = 1;
    p[1].whole = true;
    p[2].title = arena_printf(arena, "rates, each on its own scale, with bands of 95 %%%s", whose);
    p[2].own_scales = true;
    p[2].bands = p[1].bands;
    p[2].band_count = p[1].band_count;
    p[2].series = rates_of(f, side, arena, &p[2].series_count);
}

void fold_draw(const struct folded *const side[2], const char *database)
{
    struct table *table = side[0]->run->table;
    struct arena *arena = &table->arena;
    struct chart *chart = ARENA_NEW(arena, struct chart);
    struct chart_panel *p = ARENA_ARRAY(arena, 2 * PANELS, struct chart_panel);
    const char *unit = side[0]->run->query->view.cluster ? "stretches" : "visits";

    add_panels(side[0], side, "", p);
    if (side[1])
        add_panels(side[1], side, arena_printf(arena, ", %s", database), p + PANELS);
    *chart = (struct chart){
        .title = side[1] ? arena_printf(arena, "fold of %s: %zu %s as one, and %zu of %s", side[0]->of,
                                        side[0]->visits.len, unit, side[1]->visits.len, database)
                         : arena_printf(arena, "fold of %s: %zu %s as one", side[0]->of, side[0]->visits.len, unit),
        .x_name = "time in the mean visit",
        .x_dim = DIM_SECONDS,
        .to = side[0]->span,
        .panels = p,
        .panel_count = side[1] ? 2 * PANELS : PANELS,
    };
    table->chart = chart;
}
