/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces. An element holds from its time until that of the next one, as that project's viewer draws it, so these are
 * spans (format/database.h). A thread that was not running (context 0) leaves a gap. The values of a thread are spread
 * over the time in which it did something, so that slices add up to them.
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
    uint64_t origin_ns, usual_ns;
    double traced_ns, valued_ns; /* where the traces are those of a time: all records, and all values */
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

/* A thread does not stop twice, in 1970: what a disk lost reads as zeros. */
static bool was_lost(const uint8_t *elements, uint64_t count)
{
    static const uint8_t zeros[2 * ELEMENT_BYTES];

    for (uint64_t i = 1; i < count; i++)
        if (!memcmp(elements + (i - 1) * ELEMENT_BYTES, zeros, sizeof zeros))
            return true;
    return false;
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
    if (!cursor_ok(c) || index >= h->profiles.len || h->profiles.data[index] == HQDB_NONE)
        return;
    if (was_lost(elements, count))
        cursor_fail(c, "has a trace with zeros where its times were");
    else
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

/* How long element i holds. What follows the last one is not in the file: it gets the usual time. */
static uint64_t length_of(const struct hpct_lines *lines, const struct hpct_line *line, uint64_t i)
{
    const uint8_t *element = line->elements + i * ELEMENT_BYTES;

    if (i + 1 == line->count)
        return lines->usual_ns;
    return time_of(element + ELEMENT_BYTES) > time_of(element) ? time_of(element + ELEMENT_BYTES) - time_of(element)
                                                               : 0;
}

static uint64_t busy_time(const struct hpct *h, const struct hpct_lines *lines, const struct hpct_line *line)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < line->count; i++)
        sum += node_of(h, line->elements + i * ELEMENT_BYTES) == HQDB_NONE ? 0 : length_of(lines, line, i);
    return sum;
}

/* The values of the thread, spread over the time in which it did something. */
static void take_line(struct hpct *h, struct hpct_lines *lines, const struct hpct_line *line)
{
    uint32_t metric = h->metric_ids.data[h->traced], frame = HQDB_NONE, last = HQDB_NONE;
    int64_t unit = (int64_t)h->trace_unit, given = 0;
    double total = (double)h->traced_totals[line->profile], whole = (double)busy_time(h, lines, line), busy = 0;

    import_profile_at(h->im, line->profile)->start_realtime_ns = lines->origin_ns;
    if (h->traced_seconds) {
        lines->traced_ns += whole;
        lines->valued_ns += total * h->scales.data[h->traced] * 1e9;
    }
    for (uint64_t i = 0; i < line->count; i++) {
        uint64_t begin = time_of(line->elements + i * ELEMENT_BYTES), length = length_of(lines, line, i);
        uint32_t node = node_of(h, line->elements + i * ELEMENT_BYTES);
        bool starts = frame == HQDB_NONE;

        if (node == HQDB_NONE && starts)
            continue; /* nothing before the first */
        frame = node == HQDB_NONE ? hpct_outermost(h, last) : hpct_frame(h, node);
        last = node == HQDB_NONE ? last : node;
        if (starts)
            import_trace(h->im, line->profile, (begin - lines->origin_ns) / 1000, hpct_outermost(h, node), metric, 0);
        busy += node == HQDB_NONE ? 0 : (double)length;
        int64_t until = node == HQDB_NONE ? given
                        : whole > 0       ? (int64_t)floor(total * (busy / whole) / (double)unit)
                                          : (int64_t)(total / (double)unit);

        import_trace(h->im, line->profile, (begin - lines->origin_ns + length) / 1000, frame, metric,
                     (uint32_t)(until - given));
        given = until;
    }
}

/* Records are taken where samples are, and the values are what was counted between samples: the two differ a little. */
static void say_factor(struct hpct *h, const struct hpct_lines *lines)
{
    if (!(lines->traced_ns > 0) || !(lines->valued_ns > 0))
        return;
    AUTO_FREE char *text = xasprintf("a record holds until the next one: %.6g s in all, spread so that they add up to "
                                     "the values, %.6g s",
                                     lines->traced_ns / 1e9, lines->valued_ns / 1e9);

    import_fact(h->im, "traces", text);
}

struct hq_error *hpct_read_trace(struct hpct *h)
{
    struct hpct_lines lines = {0};
    struct hq_error *error = read_lines(h, &lines);
    bool any = h->metrics.len && h->metric_ids.data[h->traced] != HQDB_NONE;

    lines.usual_ns = error ? 0 : median_distance(h, &lines);
    for (size_t i = 0; !error && any && i < lines.len; i++)
        take_line(h, &lines, &lines.data[i]);
    say_factor(h, &lines);
    vec_deinit(&lines);
    return error;
}
