/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `as speedscope`: a file of speedscope (its file-format-schema.json): one sampled profile per inclusive column (and
 * one of what is negative in it), one sample per row with a cost of its own, heaviest paths as they come in the tree.
 * Loops are frames.
 */
#include "common/hash.h"
#include "common/map.h"
#include "common/mem.h"
#include "query/output/formats.h"
#include "query/output/json.h"
#include "query/output/stacks.h"
#include "query/output/text.h"
#include "query/output/weights.h"
#include <math.h>

struct speed_frames {
    uint32_t *of_row; /* [rows] frame */
    VEC(size_t) rows; /* by frame: a row that shows it */
};

static struct speed_frames number_frames(const struct table *t)
{
    struct speed_frames f = {.of_row = xcalloc(t->rows.len + 1, sizeof *f.of_row)};
    struct map known = {0};

    for (size_t i = 0; i < t->rows.len; i++) {
        const struct row *r = &t->rows.data[i];
        char own[ROW_NAME_MAX];
        uint64_t key = hash_combine(hash_str(row_name(r, own)),
                                    hash_combine(hash_str(r->file ? r->file : ""), r->line));
        bool is_new;

        f.of_row[i] = (uint32_t)*map_insert(&known, key, f.rows.len, &is_new);
        if (is_new)
            vec_push(&f.rows, i);
    }
    map_deinit(&known);
    return f;
}

static void put_frames(const struct table *t, const struct speed_frames *f, FILE *out)
{
    fputs("\"shared\":{\"frames\":[", out);
    for (size_t i = 0; i < f->rows.len; i++) {
        const struct row *r = &t->rows.data[f->rows.data[i]];
        char own[ROW_NAME_MAX];

        fputs(i ? ",\n {\"name\":" : "\n {\"name\":", out);
        json_text(row_name(r, own), out);
        if (r->file) {
            fputs(",\"file\":", out);
            json_text(r->file, out);
        }
        if (r->file && r->line)
            fprintf(out, ",\"line\":%u", r->line);
        fputc('}', out);
    }
    fputs("]},\n", out);
}

/* Samples are lists of frames, outermost first. */
static void put_samples(const struct table *t, const struct speed_frames *f, const double *own, FILE *out)
{
    VEC(size_t) path = {0};
    bool first = true;

    for (size_t i = 0; i < t->rows.len; i++) {
        while (path.len && t->rows.data[vec_last(&path)].depth >= t->rows.data[i].depth)
            path.len--;
        vec_push(&path, i);
        if (!(own[i] > 0))
            continue;
        fputs(first ? "\n  [" : ",\n  [", out);
        for (size_t k = 0; k < path.len; k++)
            fprintf(out, "%s%u", k ? "," : "", f->of_row[path.data[k]]);
        fputc(']', out);
        first = false;
    }
    vec_deinit(&path);
}

static void put_profile(const struct table *t, const struct speed_frames *f, const struct column *c, const char *name,
                        const double *own, FILE *out)
{
    double total = 0;
    bool first = true;

    for (size_t i = 0; i < t->rows.len; i++)
        total += own[i] > 0 ? own[i] : 0;
    fputs(" {\"type\":\"sampled\",\"name\":", out);
    json_text(name, out);
    fprintf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":",
            c->dim == DIM_SECONDS ? "seconds"
            : c->dim == DIM_BYTES ? "bytes"
                                  : "none");
    json_number(total, out);
    fputs(",\n \"samples\":[", out);
    put_samples(t, f, own, out);
    fputs("],\n \"weights\":[", out);
    for (size_t i = 0; i < t->rows.len; i++) {
        if (!(own[i] > 0))
            continue;
        if (!first)
            fputc(',', out);
        json_number(own[i], out);
        first = false;
    }
    fputs("]}", out);
}

/* Weights have no sign: what costs less than before is a profile of its own. */
static void put_column(const struct table *t, const struct speed_frames *f, size_t column, FILE *out)
{
    const struct column *c = &t->columns.data[column];
    AUTO_FREE double *own = weights_column(t, column);
    AUTO_FREE char *less = xasprintf("%s.less", c->name);

    put_profile(t, f, c, c->name, own, out);
    if (!weights_negative(t, own))
        return;
    for (size_t i = 0; i < t->rows.len; i++)
        own[i] = -own[i];
    fputs(",\n", out);
    put_profile(t, f, c, less, own, out);
}

struct hq_error *speedscope_write(const struct table *t, const struct output_options *o, FILE *out)
{
    bool first = true;

    (void)o;
    HQ_TRY(stacks_check(t, "speedscope"));
    struct speed_frames f = number_frames(t);

    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"hq\",\"name\":", out);
    json_text(t->query ? t->query : "hq", out);
    fputs(",\n", out);
    put_frames(t, &f, out);
    fputs("\"profiles\":[\n", out);
    for (size_t c = 0; c < t->columns.len; c++) {
        if (!stacks_has(&t->columns.data[c]))
            continue;
        if (!first)
            fputs(",\n", out);
        put_column(t, &f, c, out);
        first = false;
    }
    fputs("\n]}\n", out);
    free(f.of_row);
    vec_deinit(&f.rows);
    return NULL;
}
