/* SPDX-License-Identifier: BSD-3-Clause */
/* `as csv`: RFC 4180 with a heading; lines end with CR LF. */
#include "query/output/formats.h"
#include "query/output/separated.h"
#include "common/str.h"

static void put_quoted(const char *text, FILE *out)
{
    AUTO_STR struct str field = {0};

    csv_quote(&field, text);
    fwrite(str_cstr(&field), 1, field.len, out);
}

struct hq_error *csv_write(const struct table *t, const struct output_options *o, FILE *out)
{
    (void)o;
    return separated_write(t, &(struct separated){",", "\r\n", put_quoted}, out);
}
