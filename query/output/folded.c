/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `as folded`: `main;solve;loop at solver.c:120 1250000`, one line per row that has a cost of its own, as flame graph
 * tools read it. Whole numbers: microseconds for seconds, else events or bytes.
 */
#include "query/output/formats.h"
#include "query/output/text.h"
#include "query/output/weights.h"
#include "common/mem.h"
#include <math.h>

/* A semicolon would end the frame, a newline the stack. */
static text_instead frame_instead = {[1 ... 0x1f] = " ", [';'] = ":"};

static void put_stack(const struct table *t, const size_t *path, size_t len, FILE *out)
{
    for (size_t i = 0; i < len; i++) {
        char own[ROW_NAME_MAX];
        if (i)
            fputc(';', out);
        text_put_with(row_name(&t->rows.data[path[i]], own), frame_instead, out);
    }
}

struct hq_error *folded_write(const struct table *t, const struct output_options *o, FILE *out)
{
    AUTO_FREE double *own = NULL;
    size_t column;
    VEC(size_t) path = {0};

    (void)o;
    HQ_TRY(weights_of(t, "folded", &own, &column));
    double unit = t->columns.data[column].dim == DIM_SECONDS ? 1e6 : 1;
    for (size_t i = 0; i < t->rows.len; i++) {
        while (path.len && t->rows.data[vec_last(&path)].depth >= t->rows.data[i].depth)
            path.len--;
        vec_push(&path, i);
        double amount = round(own[i] * unit);
        if (amount < 1)
            continue;
        put_stack(t, path.data, path.len, out);
        fprintf(out, " %.0f\n", amount);
    }
    vec_deinit(&path);
    return NULL;
}
