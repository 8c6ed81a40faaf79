/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers with units, as the query language and the command line write them, and compact output for people.
 *
 *   number  = digits [ "." digits ] [ ("e"|"E") [ "+"|"-" ] digits ] | "." digits ...      no sign: that is the
 * expression's suffix  = "%"                                      percent, value / 100 | "ns" | "us" | "µs" | "ms" |
 * "s" | "min" | "h" | "d"          seconds | "B" | "KB" "MB" "GB" "TB" (powers of 1000) | "KiB" "MiB" "GiB" "TiB" (of
 * 1024)   bytes | "K" | "M" | "G" | "T"                    powers of 1000, no dimension; "k" is "K"
 *
 * No white space between the two. Pure functions; the locale's decimal point must be '.'.
 */
#ifndef HQ_COMMON_UNITS_H
#define HQ_COMMON_UNITS_H

#include "common/err.h"
#include "common/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dim { DIM_NONE, DIM_SECONDS, DIM_EVENTS, DIM_BYTES };

struct quantity {
    double value; /* seconds, bytes or plain; 10% is 0.1 */
    enum dim dim; /* DIM_EVENTS never comes from a literal */
    bool percent;
};

/* A unit as literals write it: the number multiplied by one and divided by the other, so that 200ms is exactly the
 * double 0.2. */
struct unit {
    const char *name;
    double times, over;
    enum dim dim;
    bool percent;
};

/* All that there are. */
const struct unit *units_all(size_t *count);

/* How many bytes at s belong to a literal: the number and all letters, '%' and non-ASCII after it; 0 if no number
 * starts there. */
size_t units_scan(const char *s);

/* Parses a whole text. HQ_USAGE names the text, what is wrong and the units there are. */
struct hq_error *units_parse(const char *s, struct quantity *out);
struct hq_error *units_parse_n(const char *s, size_t n, struct quantity *out);

/* A time in seconds; a bare number is seconds too. */
struct hq_error *units_parse_seconds(const char *s, double *out);

/* A whole number from 1 to 2^63 - 1: `1000`, `1e6`, `4K`, `2MiB`. */
struct hq_error *units_parse_count(const char *s, uint64_t *out);

/* A rate (`200/s`, `200Hz`, `1kHz`) or a period (`5ms`) as a period of 1 ns or more. */
struct hq_error *units_parse_period(const char *s, uint64_t *period_ns);

/*
 * Three significant digits and a unit into out (UNITS_TEXT bytes are enough for any): `1.25 s`, `312 ms`, `4.2 MiB`,
 * `1.3e+09`. Events and plain numbers are whole below a million if they are whole. NaN and infinities give "". Returns
 * out.
 */
enum { UNITS_TEXT = 32 };
char *units_format(char out[UNITS_TEXT], double value, enum dim dim);
/* Of what was counted: whole up to a thousand million, `6036004`, `100600 B`, so that half a percent shows; else as
 * units_format has it. */
char *units_format_counted(char out[UNITS_TEXT], double value, enum dim dim);

/* `s`, `B` or "" for the headings and JSON of a dimension; `seconds`, `bytes`, `events`, `a plain number` for messages.
 */
const char *dim_unit(enum dim dim);
const char *dim_name(enum dim dim);

#endif
