/* SPDX-License-Identifier: BSD-3-Clause */
/* relive IN.perf OUT.perf BYTES VDSO: a stream as it would be had --max-size been BYTES. What lies behind is unwound as
 * while recording; VDSO is the path of that image. Both have the same call paths. */
#include "db/perf/live.h"
#include "db/perf/stream.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(void *arg, const uint8_t *record, size_t size)
{
    fwrite(record, 1, size, arg);
}

int main(int argc, char **argv)
{
    struct perf_stream s;
    FILE *out = argc == 5 ? fopen(argv[2], "we") : NULL;
    uint64_t limit = argc == 5 ? strtoull(argv[3], NULL, 10) : 0;

    if (!out || perf_stream_open(argv[1], &s) != NULL)
        return 2;
    struct perf_live *live = perf_live_begin(&s.layout, argv[4]);
    const uint8_t *at = s.map.data + s.header.header_bytes, *end = s.map.data + s.map.size;

    fwrite(s.map.data, 1, s.header.header_bytes, out);
    for (size_t size; at < end && (size = perf_event_size(at, end)) != 0; at += size) {
        struct perf_event_header h;
        bool sample, late = (uint64_t)(at + size - s.map.data) > limit;

        memcpy(&h, at, sizeof h);
        sample = h.type == PERF_RECORD_SAMPLE;
        if (!sample || !late)
            fwrite(at, 1, size, out);
        if (h.type < 64 && (!sample || late))
            perf_live_add(live, at, size);
    }
    perf_live_take(live, UINT64_MAX, put, out);
    perf_live_end(live);
    perf_stream_close(&s);
    return fclose(out) ? 2 : 0;
}
