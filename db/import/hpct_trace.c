/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/import/hpct.h"
#include <string.h>

enum { SECTION_TRACES, TRACE_BYTES = 0x18, ELEMENT_BYTES = 12 };

/* A thread that was not running (context 0) leaves a gap, as in traces of our own. */
static void take_line(struct hpct *h, uint32_t profile, const uint8_t *elements, uint64_t count, uint64_t origin_ns)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t time;
        uint32_t id;

        memcpy(&time, elements + i * ELEMENT_BYTES, sizeof time);
        memcpy(&id, elements + i * ELEMENT_BYTES + 8, sizeof id);
        uint32_t node = (uint32_t)map_get(&h->node_of, id, HQDB_NONE);

        if (node == HQDB_NONE || node == 0 || time < origin_ns)
            continue;
        import_trace(h->im, profile, (time - origin_ns) / 1000, hpct_frame(h, node), h->metric_ids.data[0], 1);
    }
}

static void read_line(struct hpct *h, struct cursor *c, uint64_t origin_ns)
{
    uint32_t index = cursor_u32(c);

    cursor_skip(c, 4);
    uint64_t start = cursor_u64(c), end = cursor_u64(c);
    struct cursor line = hpct_at(&h->trace, "CtxTraces", start);
    uint64_t count = end >= start ? (end - start) / ELEMENT_BYTES : 0;
    const uint8_t *elements = cursor_array(&line, count, ELEMENT_BYTES);

    if (!cursor_ok(&line) || end < start)
        cursor_fail(c, "has a trace that lies outside the file");
    if (!cursor_ok(c) || index >= h->profiles.len || h->profiles.data[index] == HQDB_NONE)
        return;
    import_profile_at(h->im, h->profiles.data[index])->start_realtime_ns = origin_ns;
    take_line(h, h->profiles.data[index], elements, count, origin_ns);
}

struct hq_error *hpct_read_trace(struct hpct *h)
{
    struct cursor c;

    HQ_TRY(hpct_section(&h->trace, SECTION_TRACES, "CtxTraces", 0x20, &c));
    uint64_t traces = cursor_u64(&c);
    uint32_t count = cursor_u32(&c);
    unsigned stride = cursor_u8(&c);

    cursor_skip(&c, 3);
    uint64_t origin_ns = cursor_u64(&c);

    if (count && stride < TRACE_BYTES)
        cursor_fail(&c, "has traces smaller than version 4.0 has them");
    for (uint32_t i = 0; i < count && h->metrics.len && cursor_ok(&c); i++) {
        cursor_seek(&c, traces + (uint64_t)i * stride);
        read_line(h, &c, origin_ns);
    }
    return cursor_error(&c);
}
