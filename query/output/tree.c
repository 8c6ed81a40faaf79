/* SPDX-License-Identifier: BSD-3-Clause */
/* `as tree`: the same columns as `table`; lines join the rows that share a parent. */
#include "query/output/formats.h"
#include "query/output/screen.h"

struct hq_error *tree_write(const struct table *t, const struct output_options *o, FILE *out)
{
    return screen_write(t, o, true, out);
}
