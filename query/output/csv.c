/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `as csv`: RFC 4180 with a heading; lines end with CR LF. Names come from programs, and a spreadsheet runs a text that
 * begins like a formula: that is told, and with `set csv safe on` such texts get an apostrophe. Numbers never do.
 */
#include "query/output/formats.h"
#include "query/output/separated.h"
#include "common/log.h"
#include "common/str.h"
#include <string.h>

static bool would_run(const char *text)
{
    return *text && strchr("=+-@\t\r", *text);
}

static void put_quoted(const char *text, FILE *out)
{
    AUTO_STR struct str field = {0};

    csv_quote(&field, text);
    fwrite(str_cstr(&field), 1, field.len, out);
}

static void put_guarded(const char *text, FILE *out)
{
    AUTO_STR struct str guarded = {0};

    str_addf(&guarded, "%s%s", would_run(text) ? "'" : "", text);
    put_quoted(str_cstr(&guarded), out);
}

static void count(void *arg, const char *text)
{
    *(size_t *)arg += would_run(text);
}

struct hq_error *csv_write(const struct table *t, const struct output_options *o, FILE *out)
{
    size_t runs = 0;

    if (!o->csv_safe)
        separated_texts(t, count, &runs);
    if (runs)
        log_hint("%zu text%s with = + - or @, which a spreadsheet takes for a formula; `set csv safe on` puts an "
                 "apostrophe before %s",
                 runs, runs == 1 ? " begins" : "s begin", runs == 1 ? "it" : "them");
    return separated_write(t, &(struct separated){",", "\r\n", o->csv_safe ? put_guarded : put_quoted}, out);
}
