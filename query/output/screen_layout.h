/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of screen.c's grid: which columns are shown, how wide their parts are, and how much room is left for names. */
#ifndef HQ_QUERY_OUTPUT_SCREEN_LAYOUT_H
#define HQ_QUERY_OUTPUT_SCREEN_LAYOUT_H

#include "common/apart.h"
#include "query/output/guides.h"
#include "query/output/number.h"
#include "query/output/text.h"

/* How one column is laid out; widths in characters of the terminal. */
struct screen_column {
    const struct column *column;
    size_t index;
    struct number_style style;
    int number, unit, ci, percent; /* widths of the parts of a cell, 0: no such part */
    int width;                     /* of the whole cell, at least the heading's */
};

enum { BESIDE_LEAST = 16 }; /* columns of the text behind the name, where there is one */

struct screen {
    const struct table *t;
    const struct output_options *o;
    FILE *out;
    struct screen_column *columns;
    size_t column_count;                /* that are shown */
    size_t empty, narrow;               /* columns that are left out: without a value, for lack of room */
    int number_width;                   /* of the row numbers, 0: none */
    int left;                           /* columns before the name */
    const struct screen_column *beside; /* the text behind the name, NULL: none */
    int label_width;                    /* then of the names, their places and all */
    bool has_hot;
    struct guides guides;
    const struct row **outer; /* [row] */
    struct shown_name *names; /* [row] */
};

/* Fills in everything behind `out`; `guides` as screen_write takes it. Ended with screen_deinit. */
void screen_lay_out(struct screen *s, bool guides);
void screen_deinit(struct screen *s);

/* The cell of a column in the line of totals: NAN where its cells have no percentage. */
struct cell screen_total(const struct screen_column *c);

/* The half width of a cell's interval in the unit of its value, "" if there is none to show. */
void screen_ci_text(char text[NUMBER_MAX], const struct number_style *s, const struct cell *cell);

/* Returns the width of the parts of a column's cells together; the heading may be wider. */
int screen_parts_width(const struct screen_column *c);

/* Lays out the label of a row, without its place where that would leave too little room; returns the columns for the
 * name. */
size_t screen_label(const struct screen *s, size_t index, struct label *l);

#endif
