/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces. The format does not tell how often samples were taken: the median distance of two is the period, and a sample
 * that comes later than the one before by several of them stands for all of these. A thread that was not running
 * (context 0) leaves a gap, as in traces of our own.
 */
#include "db/import/hpct.h"
#include "common/numbers.h"
#include <math.h>
#include <string.h>

enum { SECTION_TRACES, TRACE_BYTES = 0x18, ELEMENT_BYTES = 12, DISTANCES_MAX = 1000000 };

struct hpct_line {
    uint32_t profile;
    const uint8_t *elements;
    uint64_t count;
};
struct hpct_lines {
    struct hpct_line *data;
    size_t len, cap;
    uint64_t origin_ns;
};

static uint64_t time_of(const uint8_t *element)
{
    uint64_t time;

    memcpy(&time, element, sizeof time);
    return time;
}

/* HQDB_NONE where nothing ran, and for a context that meta.db does not have. */
static uint32_t node_of(const struct hpct *h, const uint8_t *element)
{
    uint32_t id;

    memcpy(&id, element + 8, sizeof id);
    uint32_t node = (uint32_t)map_get(&h->node_of, id, HQDB_NONE);

    return node ? node : HQDB_NONE;
}

static void read_line(struct hpct *h, struct cursor *c, struct hpct_lines *lines)
{
    uint32_t index = cursor_u32(c);

    cursor_skip(c, 4);
    uint64_t start = cursor_u64(c), end = cursor_u64(c);
    struct cursor line = hpct_at(&h->trace, "CtxTraces", start);
    uint64_t count = end >= start ? (end - start) / ELEMENT_BYTES : 0;
    const uint8_t *elements = cursor_array(&line, count, ELEMENT_BYTES);

    if (!cursor_ok(&line) || end < start)
        cursor_fail(c, "has a trace that lies outside the file");
    if (cursor_ok(c) && count && time_of(elements) < lines->origin_ns)
        lines->origin_ns = time_of(elements);
    if (cursor_ok(c) && index < h->profiles.len && h->profiles.data[index] != HQDB_NONE)
        vec_push(lines, (struct hpct_line){h->profiles.data[index], elements, count});
}

static struct hq_error *read_lines(struct hpct *h, struct hpct_lines *lines)
{
    struct cursor c;

    HQ_TRY(hpct_section(&h->trace, SECTION_TRACES, "CtxTraces", 0x20, &c));
    uint64_t traces = cursor_u64(&c);
    uint32_t count = cursor_u32(&c);
    unsigned stride = cursor_u8(&c);

    lines->origin_ns = UINT64_MAX;
    if (count && stride < TRACE_BYTES)
        cursor_fail(&c, "has traces smaller than version 4.0 has them");
    for (uint32_t i = 0; i < count && cursor_ok(&c); i++) {
        cursor_seek(&c, traces + (uint64_t)i * stride);
        read_line(h, &c, lines);
    }
    return cursor_error(&c);
}

static uint64_t median_distance(const struct hpct *h, const struct hpct_lines *lines)
{
    VEC(uint64_t) distances = {0};

    for (size_t l = 0; l < lines->len; l++) {
        for (uint64_t i = 1; i < lines->data[l].count && distances.len < DISTANCES_MAX; i++) {
            const uint8_t *element = lines->data[l].elements + i * ELEMENT_BYTES;
            uint64_t before = time_of(element - ELEMENT_BYTES), now = time_of(element);

            if (now > before && node_of(h, element - ELEMENT_BYTES) != HQDB_NONE)
                vec_push(&distances, now - before);
        }
    }
    vec_sort(&distances, compare_u64);
    uint64_t median = distances.len ? distances.data[distances.len / 2] : 0;

    vec_deinit(&distances);
    return median;
}

struct hq_error *hpct_trace_period(struct hpct *h, uint64_t *period_ns)
{
    struct hpct_lines lines = {0};
    struct hq_error *error = read_lines(h, &lines);

    *period_ns = error ? 0 : median_distance(h, &lines);
    vec_deinit(&lines);
    return error;
}

static void take_line(struct hpct *h, const struct hpct_line *line, uint64_t origin_ns, uint32_t metric)
{
    uint64_t last = 0;

    import_profile_at(h->im, line->profile)->start_realtime_ns = origin_ns;
    for (uint64_t i = 0; i < line->count; i++) {
        uint64_t time = time_of(line->elements + i * ELEMENT_BYTES);
        uint32_t node = node_of(h, line->elements + i * ELEMENT_BYTES);
        double periods = last && time > last && h->period_ns ? round((double)(time - last) / (double)h->period_ns) : 1;

        last = node == HQDB_NONE ? 0 : time;
        if (node != HQDB_NONE && time >= origin_ns)
            import_trace(h->im, line->profile, (time - origin_ns) / 1000, hpct_frame(h, node), metric,
                         periods < 1            ? 1
                         : periods < UINT32_MAX ? (uint32_t)periods
                                                : UINT32_MAX);
    }
}

struct hq_error *hpct_read_trace(struct hpct *h)
{
    struct hpct_lines lines = {0};
    struct hq_error *error = read_lines(h, &lines);
    uint32_t metric = h->metrics.len ? h->metric_ids.data[h->traced] : HQDB_NONE;

    for (size_t i = 0; !error && metric != HQDB_NONE && i < lines.len; i++)
        take_line(h, &lines.data[i], lines.origin_ns, metric);
    vec_deinit(&lines);
    return error;
}
