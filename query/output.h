/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Printing the result of a query. A format is one file of query/output/ and one row of its formats.def.
 *
 * A format that is `complete` wants every row: the query room does not fold small rows for it
 * (doc/language.md, Clauses). Folded rows that a `limit` left are for people: the complete formats leave them out.
 *
 * Everything here is a pure function of the table and the options; only output_detect looks at the
 * process's terminal and environment.
 */
#ifndef HQ_QUERY_OUTPUT_H
#define HQ_QUERY_OUTPUT_H

#include "common/err.h"
#include "query/table.h"
#include <stdbool.h>
#include <stdio.h>

enum output_colours { COLOURS_NONE, COLOURS_BASIC, COLOURS_256, COLOURS_TRUE };

/* In the order of the words of `set names`. */
enum output_names { NAMES_FIT, NAMES_SHORT, NAMES_FULL };

struct output_options {
    bool terminal;
    unsigned width, height; /* of the terminal; 0: as wide, as high as it takes. COLUMNS gives pipes a width, too */
    enum output_colours colours;
    enum output_names names;
    bool utf8;     /* lines and dots beyond ASCII may be used */
    bool csv_safe; /* no text in csv that a spreadsheet would run */
};

struct output_format {
    const char *name;
    const char *summary; /* for help and completion */
    bool complete;
    bool of_paths;      /* takes own costs from the shape of the tree: what `depth` cuts off is a row `...` */
    bool of_lines;      /* has a use for the lines of statements: `hq export` gives them */
    bool full_names;    /* for programs: whatever `set names` says */
    bool for_terminals; /* sees itself to what would control a terminal; the others are made for files (plain.h) */
    struct hq_error *(*write)(const struct table *t, const struct output_options *o, FILE *out);
};

extern const struct output_format output_formats[]; /* ends with a NULL name */

/* NULL if there is no such format. Names are case-insensitive. */
const struct output_format *output_find(const char *name); /* output/formats.c */

/* The error for `as FORMAT` where there is none of that name: place, the nearest one, and all there are. */
struct output_spec;
struct hq_error *output_unknown(const struct output_spec *as);

/* Sets the options that suit `out`: its terminal's size and colours (none with NO_COLOR or off a terminal), the
 * locale's character set. */
void output_detect(struct output_options *o, FILE *out);

/* Writes and flushes. HQ_DATA if the stream fails, HQ_USAGE if the table has nothing this format can show. */
struct hq_error *output_write(const struct output_format *format, const struct table *t, const struct output_options *o,
                              FILE *out);

/* After a result, on standard error: the notes of the table, then the coverage line. */
void output_notes(const struct table *t, FILE *err);

#endif
