/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names as text: what a row is called, how wide it is on a terminal, and how it is kept from doing harm there.
 * Names come from binaries and file systems: they may hold any byte.
 */
#ifndef HQ_QUERY_OUTPUT_TEXT_H
#define HQ_QUERY_OUTPUT_TEXT_H

#include "common/fit.h"
#include "common/str.h"
#include "query/table.h"
#include <stdio.h>

/* utf8_next for a text that is not at its end: returns the bytes of the character; *c is TEXT_BAD where s is no UTF-8.
 */
#define TEXT_BAD 0xfffdu
size_t text_next(const char *s, uint32_t *c);

/* Writes s for a terminal: what would control it becomes '?'; without utf8 all that is not ASCII does too. */
void text_put(const char *s, bool utf8, FILE *out);
const char *text_dots(bool utf8);
/* Like text_fit, on a terminal. */
size_t text_put_short(const char *s, size_t width, bool utf8, FILE *out); /* the columns that it took */
/* Likewise for any text, of which the start is kept. */
void text_put_cut(const char *s, size_t width, bool utf8, FILE *out);
/* Likewise for a call path, `main > solve > smooth`: its names are shortened, then it loses its start. */
void text_put_path(const char *s, size_t width, bool utf8, FILE *out);
/* Writes s as UTF-8 that is valid whatever s was. `instead` has for each character of ASCII what is written for it;
 * NULL: itself. */
typedef const char *const text_instead[128];
void text_put_with(const char *s, text_instead instead, FILE *out);

/* [row] the row that it is nested in, NULL at the top and in lists. The caller frees the array. */
const struct row **outer_rows(const struct table *t);

/* The name of a row; where it has none, one made up in `own`: `loop at solver.c:120`. */
#define ROW_NAME_MAX 320
const char *row_name(const struct row *r, char own[ROW_NAME_MAX]);

/*
 * The label of a row on one line, prefix name suffix, then the place: `[I] push_back [main.cc:7]`, `loop at
 * solver.c:120`, `... 37 more`; `(main)` is kept only as an ancestor.
 */
struct label {
    const char *prefix, *name, *suffix;
    const char *mark; /* "new", "gone", "recursive", "x 38" or "" */
    char place[320];  /* "[solver.c:120]": the call site; "solver.c:33", "(libc.so.6)": where it is defined; or "" */
    char own[ROW_NAME_MAX], times[16];
};
/* outer: the row that it is nested in, whose load module need not be told again; NULL none. */
void label_of(const struct table *t, const struct row *r, const struct row *outer, struct label *l);
size_t label_width(const struct label *l);

#endif
