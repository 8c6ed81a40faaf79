/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/paint.h"

void paint_on(enum paint p, const struct output_options *o, FILE *out)
{
    static const char *const codes[] = {
        [PAINT_PLAIN] = NULL, [PAINT_HEADING] = "1", [PAINT_DIM] = "2",  [PAINT_PLACE] = "36", [PAINT_HOT] = "1",
        [PAINT_HIGH] = "31",  [PAINT_SOME] = "33",   [PAINT_NEW] = "32", [PAINT_GONE] = "35",
    };
    if (o->colours && codes[p])
        fprintf(out, "\033[%sm", codes[p]);
}

void paint_off(enum paint p, const struct output_options *o, FILE *out)
{
    if (o->colours && p != PAINT_PLAIN)
        fputs("\033[0m", out);
}
