/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/model/batch.h"

#include "common/mem.h"
#include "db/trace_code.h"
#include <string.h>

enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS };

void batch_init(struct batch *b, uint32_t first_profile, size_t metric_count)
{
    *b = (struct batch){.first = first_profile, .metric_count = metric_count};
    b->runs = xcalloc(metric_count + 1, sizeof *b->runs);
    b->all = xcalloc(metric_count + 1, sizeof *b->all);
}

void batch_deinit(struct batch *b)
{
    for (size_t m = 0; m < b->metric_count; m++) {
        vec_deinit(&b->runs[m]);
        vec_deinit(&b->all[m]);
    }
    free(b->runs);
    free(b->all);
    vec_deinit(&b->values);
    vec_deinit(&b->trace);
    vec_deinit(&b->index);
    vec_deinit(&b->blocks);
    vec_deinit(&b->marks);
    vec_deinit(&b->mark_index);
    vec_deinit(&b->growth);
    vec_deinit(&b->growth_index);
}

static bool is_sorted(const struct value_list *list)
{
    for (size_t i = 1; i < list->len; i++) {
        if (list->data[i - 1].frame > list->data[i].frame)
            return false;
    }
    return true;
}

/* Sorts by frame; equal frames keep their order. Least significant digits first: a comparison sort took most of the
 * time of a build. */
static void sort_by_frame(struct value_list *list)
{
    struct db_value *from = list->data, *to, *scratch;
    uint32_t all = 0;

    if (is_sorted(list))
        return;
    to = scratch = xmalloc(list->len * sizeof *scratch);
    for (size_t i = 0; i < list->len; i++)
        all |= from[i].frame;
    for (unsigned shift = 0; shift < 32 && all >> shift; shift += RADIX_BITS) {
        size_t start[RADIX + 1] = {0};
        struct db_value *swap = from;

        for (size_t i = 0; i < list->len; i++)
            start[(from[i].frame >> shift & (RADIX - 1)) + 1]++;
        for (size_t i = 0; i < RADIX; i++)
            start[i + 1] += start[i];
        for (size_t i = 0; i < list->len; i++)
            to[start[from[i].frame >> shift & (RADIX - 1)]++] = from[i];
        from = to;
        to = swap;
    }
    if (from != list->data)
        memcpy(list->data, from, list->len * sizeof *from);
    free(scratch);
}

/* Values of one frame into one, and none that say nothing. */
static void combine(struct value_list *list)
{
    size_t n = 0;

    sort_by_frame(list);
    for (size_t i = 0; i < list->len; i++) {
        struct db_value *x = &list->data[i];

        if (n && list->data[n - 1].frame == x->frame) {
            list->data[n - 1].sum = (int64_t)((uint64_t)list->data[n - 1].sum + (uint64_t)x->sum);
            list->data[n - 1].count += x->count;
        } else {
            list->data[n++] = *x;
        }
    }
    list->len = 0;
    for (size_t i = 0; i < n; i++) {
        if (list->data[i].sum || list->data[i].count)
            list->data[list->len++] = list->data[i];
    }
}

static void put_amount(struct bytes *b, const struct db_value *x, uint64_t period)
{
    uint64_t samples = (uint64_t)x->sum / (period ? period : 1), count = x->count;

    if ((uint64_t)x->sum == count * period) {
        put_coded(b, count << 2 | HQDB_FORM_COUNT);
    } else if (x->sum > 0 && period && samples > count && samples * period == (uint64_t)x->sum) {
        put_coded(b, count << 2 | HQDB_FORM_WEIGHT);
        put_coded(b, samples - count);
    } else {
        put_coded(b, count << 2 | HQDB_FORM_SUM);
        put_signed(b, x->sum);
    }
}

static void code_values(struct batch *b, const struct canon *c, uint32_t metric, const struct value_list *list)
{
    struct hqdb_value_index entry = {.offset = b->values.len};
    uint32_t next = UINT32_MAX;

    for (size_t i = 0; i < list->len; i++) {
        const struct db_value *x = &list->data[i];

        put_coded(&b->values, (uint32_t)(x->frame - next));
        put_amount(&b->values, x, c->metrics[metric].period);
        next = x->frame;
        entry.sum = (int64_t)((uint64_t)entry.sum + (uint64_t)x->sum);
        entry.count += x->count;
    }
    vec_push(&b->index, entry);
}

static void code_block(struct batch *b, uint32_t profile, const struct db_trace_record *r, size_t count)
{
    struct db_trace_record last = trace_code_start(r->time_us);

    vec_push(&b->blocks,
             (struct hqdb_trace_block){b->trace.len, r->time_us, r[count - 1].time_us, profile, (uint32_t)count});
    for (size_t i = 0; i < count; i++)
        put_trace_record(&b->trace, &last, &r[i]);
}

bool profile_counts(const struct canon *c, uint32_t profile, uint32_t metric)
{
    bool queue = c->profiles[profile].thread & HQDB_QUEUE;

    if (queue != ((c->metrics[metric].flags & HQDB_METRIC_DEVICE) != 0))
        return false;
    return !c->ranked || c->profiles[profile].rank >= 0;
}

void batch_add(struct batch *b, const struct canon *c, struct tally *t, struct value_list *values)
{
    uint32_t profile = b->first + b->count++;

    for (uint32_t m = 0; m < b->metric_count; m++) {
        tally_measure(t, m, values[m].data, values[m].len);
        combine(&values[m]);
        for (size_t i = 0; i < values[m].len; i++)
            values[m].data[i].profile = profile;
        code_values(b, c, m, &values[m]);
        vec_append(&b->all[m], values[m].data, values[m].len);
        tally_add(t, m, values[m].data, values[m].len, profile_counts(c, profile, m));
    }
}

void batch_trace(struct batch *b, const struct db_trace_record *records, size_t count)
{
    for (size_t i = 0; i < count; i += HQDB_TRACE_RECORDS)
        code_block(b, b->first + b->count - 1, records + i,
                   count - i < HQDB_TRACE_RECORDS ? count - i : HQDB_TRACE_RECORDS);
}

void batch_marks(struct batch *b, const struct db_mark *marks, size_t count)
{
    struct db_mark last = {0};

    if (!count)
        return;
    vec_push(&b->mark_index,
             (struct hqdb_coded_index){.offset = b->marks.len, .records = count, .profile = b->first + b->count - 1});
    for (size_t i = 0; i < count; i++)
        put_mark(&b->marks, &last, &marks[i]);
}

void batch_growth(struct batch *b, const struct growth_list *growth, const struct mark_list *marks)
{
    struct db_growth last = {0};
    size_t next = 0, named = 0; /* marks: the first that is not earlier, behind the one that was named last */

    if (!growth->len)
        return;
    vec_push(
        &b->growth_index,
        (struct hqdb_coded_index){.offset = b->growth.len, .records = growth->len, .profile = b->first + b->count - 1});
    for (size_t i = 0; i < growth->len; i++) {
        const struct db_growth *g = &growth->data[i];

        while (next < marks->len && marks->data[next].time_us < g->time_us)
            next++;
        bool at_mark = next < marks->len && marks->data[next].time_us == g->time_us;
        bool again = named && marks->data[named - 1].time_us == g->time_us;
        uint64_t step = again ? 0 : at_mark ? next + 1 - named : g->time_us - last.time_us;

        put_growth(&b->growth, &last, g, step, again || at_mark);
        if (at_mark && !again)
            named = next + 1;
    }
}

/*
 * The values of a batch by frame, in a form that is joined with those of other batches without being decoded. For each
 * frame: coded frame - frame before (the first: frame + 1) coded first profile, coded last profile, coded bytes that
 * follow bytes: as in HQDB_FRAME_VALUES, without the number of the first profile
 */
static void code_run(struct bytes *run, struct value_list *list, uint64_t period)
{
    struct bytes one = {0};
    uint32_t before = UINT32_MAX;

    sort_by_frame(list);
    for (size_t i = 0, j; i < list->len; i = j) {
        uint32_t frame = list->data[i].frame;

        vec_clear(&one);
        for (j = i; j < list->len && list->data[j].frame == frame; j++) {
            if (j > i)
                put_coded(&one, list->data[j].profile - list->data[j - 1].profile);
            put_amount(&one, &list->data[j], period);
        }
        put_coded(run, (uint32_t)(frame - before));
        put_coded(run, list->data[i].profile);
        put_coded(run, list->data[j - 1].profile);
        put_coded(run, one.len);
        vec_append(run, one.data, one.len);
        before = frame;
    }
    vec_deinit(&one);
}

void batch_finish(struct batch *b, const struct canon *c)
{
    for (size_t m = 0; m < b->metric_count; m++) {
        code_run(&b->runs[m], &b->all[m], c->metrics[m].period);
        vec_deinit(&b->all[m]);
    }
}
