/* SPDX-License-Identifier: BSD-3-Clause */
/* `as table`: aligned columns; nesting is indentation. */
#include "query/output/formats.h"
#include "query/output/screen.h"

struct hq_error *table_write(const struct table *t, const struct output_options *o, FILE *out)
{
    return screen_write(t, o, false, out);
}
