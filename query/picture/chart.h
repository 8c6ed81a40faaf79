/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chart: panels below each other on one x axis, with bands, points and lines. Views make it beside their table, in
 * its arena; `as svg` draws it, all other formats print the rows.
 */
#ifndef HQ_QUERY_CHART_H
#define HQ_QUERY_CHART_H

#include "common/units.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chart_band { /* from .. to on x, the `level`th row from the top */
    double from, to;
    uint32_t level, colour;
    const char *name;
};
struct chart_series {
    const char *name;
    uint32_t colour;
    const double *x, *y;      /* [count]; what is NaN is left out */
    const double *low, *high; /* [count] a band around a line; NULL none */
    size_t count;
    double top;   /* its axis reaches so far at least: of two charts on one scale; 0: what there is */
    bool line;    /* else points */
    enum dim dim; /* of y */
};
struct chart_panel {
    const char *title;
    const struct chart_band *bands;
    size_t band_count;
    const struct chart_series *series;
    size_t series_count;
    bool whole;      /* y has whole numbers alone, as lines do */
    bool own_scales; /* each series has a y axis of its own, from 0: two are written out, left and right */
};
struct chart {
    const char *title, *x_name;
    enum dim x_dim;
    double from, to; /* of x; equal: what the series span */
    const struct chart_panel *panels;
    size_t panel_count;
};

#endif
