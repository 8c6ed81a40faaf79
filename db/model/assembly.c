/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/model/assembly.h"

#include "common/mem.h"
#include "db/model/spool.h"

struct run {
    uint64_t offset, bytes;
}; /* of one batch and metric in the spool of runs */

struct assembly {
    const struct canon *canon;
    struct writer *writer;
    struct spool values, runs;
    VEC(struct hqdb_value_index) index;
    VEC(struct hqdb_trace_block) blocks;
    struct coded {
        struct spool bytes;
        struct coded_index index;
    } marks, growth;
    VEC(struct run) directory; /* [batch][metric] */
    uint64_t trace_bytes;
    size_t batches;
};

static void coded_deinit(struct coded *c)
{
    spool_deinit(&c->bytes);
    vec_deinit(&c->index);
}

/* Adds those of a batch, whose offsets are within its own bytes. */
static struct hq_error *coded_add(struct coded *c, const struct coded_index *index, const struct bytes *bytes)
{
    for (size_t i = 0; i < index->len; i++) {
        vec_push(&c->index, index->data[i]);
        vec_last(&c->index).offset += c->bytes.bytes;
    }
    return spool_append(&c->bytes, bytes->data, bytes->len);
}

struct assembly *assembly_create(const struct canon *c, struct writer *w, const char *directory)
{
    struct assembly *a = xcalloc(1, sizeof *a);

    a->canon = c;
    a->writer = w;
    spool_init(&a->values, directory);
    spool_init(&a->runs, directory);
    spool_init(&a->marks.bytes, directory);
    spool_init(&a->growth.bytes, directory);
    writer_begin(w, HQDB_TRACE, 0, 1);
    return a;
}

void assembly_destroy(struct assembly *a)
{
    if (!a)
        return;
    spool_deinit(&a->values);
    spool_deinit(&a->runs);
    coded_deinit(&a->marks);
    coded_deinit(&a->growth);
    vec_deinit(&a->index);
    vec_deinit(&a->blocks);
    vec_deinit(&a->directory);
    free(a);
}

struct hq_error *assembly_add(struct assembly *a, const struct batch *b)
{
    for (size_t i = 0; i < b->index.len; i++) {
        vec_push(&a->index, b->index.data[i]);
        vec_last(&a->index).offset += a->values.bytes;
    }
    for (size_t i = 0; i < b->blocks.len; i++) {
        vec_push(&a->blocks, b->blocks.data[i]);
        vec_last(&a->blocks).offset += a->trace_bytes;
    }
    a->trace_bytes += b->trace.len;
    writer_append(a->writer, b->trace.data, b->trace.len);
    HQ_TRY(coded_add(&a->marks, &b->mark_index, &b->marks));
    HQ_TRY(coded_add(&a->growth, &b->growth_index, &b->growth));
    HQ_TRY(spool_append(&a->values, b->values.data, b->values.len));
    for (size_t m = 0; m < b->metric_count; m++) {
        vec_push(&a->directory, (struct run){a->runs.bytes, b->runs[m].len});
        HQ_TRY(spool_append(&a->runs, b->runs[m].data, b->runs[m].len));
    }
    a->batches++;
    return NULL;
}

/* ---- values by frame: the runs of all batches side by side ---- */

struct run_reader {
    const uint8_t *at, *end;
    uint32_t frame; /* of the values at hand; HQDB_NONE at the end */
    uint64_t first, last, bytes;
};

static void next_frame(struct run_reader *r)
{
    uint64_t step;

    if (!get_coded(&r->at, r->end, &step) || !get_coded(&r->at, r->end, &r->first) ||
        !get_coded(&r->at, r->end, &r->last) || !get_coded(&r->at, r->end, &r->bytes)) {
        r->frame = HQDB_NONE;
        return;
    }
    r->frame += (uint32_t)step;
}

static uint64_t join_frame(struct run_reader *readers, size_t count, uint32_t frame, struct bytes *out,
                           struct writer *w)
{
    uint64_t before = UINT32_MAX;

    vec_clear(out);
    for (size_t i = 0; i < count; i++) {
        struct run_reader *r = &readers[i];

        if (r->frame != frame)
            continue;
        put_coded(out, (uint32_t)(r->first - before));
        vec_append(out, r->at, r->bytes);
        before = r->last;
        r->at += r->bytes;
        next_frame(r);
    }
    writer_append(w, out->data, out->len);
    return out->len;
}

static void write_by_frame(struct assembly *a, uint32_t metric, const uint8_t *runs)
{
    size_t frames = a->canon->frame_count;
    AUTO_FREE struct run_reader *readers = xcalloc(a->batches + 1, sizeof *readers);
    AUTO_FREE uint64_t *index = xcalloc(frames + 1, sizeof *index);
    struct bytes scratch = {0};

    for (size_t i = 0; i < a->batches; i++) {
        struct run run = a->directory.data[i * a->canon->metric_count + metric];

        readers[i] = (struct run_reader){
            .at = runs + run.offset, .end = runs + run.offset + run.bytes, .frame = HQDB_NONE};
        next_frame(&readers[i]);
    }
    writer_begin(a->writer, HQDB_FRAME_VALUES, metric, 1);
    for (size_t f = 0; f < frames; f++)
        index[f + 1] = index[f] + join_frame(readers, a->batches, (uint32_t)f, &scratch, a->writer);
    writer_end(a->writer);
    writer_section(a->writer, HQDB_FRAME_VALUE_INDEX, metric, sizeof *index, index, frames + 1);
    vec_deinit(&scratch);
}

/* A file without any has no such sections. */
static struct hq_error *write_coded(struct assembly *a, struct coded *c, uint32_t index_tag, uint32_t tag)
{
    const uint8_t *bytes;

    if (!c->index.len)
        return NULL;
    HQ_TRY(spool_read(&c->bytes, &bytes));
    writer_section(a->writer, index_tag, 0, sizeof *c->index.data, c->index.data, c->index.len);
    writer_section(a->writer, tag, 0, 1, bytes, c->bytes.bytes);
    return NULL;
}

struct hq_error *assembly_finish(struct assembly *a, struct tally *t)
{
    const uint8_t *values, *runs;
    struct hqdb_value_index end = {.offset = a->values.bytes};

    HQ_TRY(tally_check(t));
    writer_end(a->writer);
    writer_section(a->writer, HQDB_TRACE_INDEX, 0, sizeof *a->blocks.data, a->blocks.data, a->blocks.len);
    vec_push(&a->index, end);
    HQ_TRY(write_coded(a, &a->marks, HQDB_MARK_INDEX, HQDB_MARKS));
    HQ_TRY(write_coded(a, &a->growth, HQDB_GROWTH_INDEX, HQDB_GROWTH));
    HQ_TRY(spool_read(&a->values, &values));
    HQ_TRY(spool_read(&a->runs, &runs));
    writer_section(a->writer, HQDB_VALUES, 0, 1, values, a->values.bytes);
    writer_section(a->writer, HQDB_VALUE_INDEX, 0, sizeof *a->index.data, a->index.data, a->index.len);
    tally_write(t, a->writer);
    for (uint32_t m = 0; m < a->canon->metric_count; m++)
        write_by_frame(a, m, runs);
    return NULL;
}
