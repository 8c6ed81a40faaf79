/* SPDX-License-Identifier: BSD-3-Clause */
/* `as tsv`: tab-separated with a heading; tab, newline, carriage return and backslash print as \t \n \r \\. */
#include "query/output/formats.h"
#include "query/output/separated.h"
#include "query/output/text.h"

static void put_escaped(const char *text, FILE *out)
{
    static text_instead instead = {['\t'] = "\\t", ['\n'] = "\\n", ['\r'] = "\\r", ['\\'] = "\\\\"};

    text_put_with(text, instead, out);
}

struct hq_error *tsv_write(const struct table *t, const struct output_options *o, FILE *out)
{
    (void)o;
    return separated_write(t, &(struct separated){"\t", "\n", put_escaped}, out);
}
