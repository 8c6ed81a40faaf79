/* SPDX-License-Identifier: BSD-3-Clause */
/* `as tsv`: tab-separated with a heading; tab, newline, carriage return and backslash print as \t \n \r \\. */
#include "query/output/formats.h"
#include "query/output/separated.h"
#include "query/output/text.h"
#include <string.h>

static void put_escaped(const char *text, FILE *out)
{
    static const char from[] = "\t\n\r\\", to[] = "tnr\\";
    uint32_t c;

    for (size_t len; *text; text += len) {
        len = text_next(text, &c);
        const char *special = strchr(from, *text);
        if (special)
            fprintf(out, "\\%c", to[special - from]);
        else if (c == TEXT_BAD)
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(text, 1, len, out);
    }
}

struct hq_error *tsv_write(const struct table *t, const struct output_options *o, FILE *out)
{
    (void)o;
    return separated_write(t, &(struct separated){"\t", "\n", put_escaped}, out);
}
