/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/tools/measurements/reader.h"

#include <stdlib.h>
#include <string.h>

static void append(struct column *c, const struct hqm_segment *s)
{
    c->size = s->record_size;
    if (s->first + s->count > c->count) {
        c->data = realloc(c->data, (size_t)(s->first + s->count) * c->size);
        memset(c->data + (size_t)c->count * c->size, 0, (size_t)(s->first + s->count - c->count) * c->size);
        c->count = s->first + s->count;
    }
    memcpy(c->data + (size_t)s->first * c->size, s + 1, (size_t)s->count * c->size);
}

void measurements_read(struct reader *r)
{
    static const uint16_t sizes[] = {0,
                                     1,
                                     sizeof(struct hqm_info),
                                     sizeof(struct hqm_event),
                                     sizeof(struct hqm_module),
                                     sizeof(struct hqm_thread),
                                     sizeof(struct hqm_node),
                                     sizeof(struct hqm_cell),
                                     sizeof(struct hqm_trace),
                                     sizeof(struct hqm_region),
                                     sizeof(struct hqm_message),
                                     sizeof(struct hqm_queue),
                                     sizeof(struct hqm_command),
                                     sizeof(struct hqm_host),
                                     sizeof(struct hqm_command_sum),
                                     sizeof(struct hqm_pair)};

    for (size_t at = r->header->header_bytes; at + HQM_ALIGN <= r->size;) {
        const struct hqm_segment *s = (const struct hqm_segment *)(r->data + at);
        if (s->magic != HQM_SEGMENT_MAGIC) {
            for (size_t i = 0; i < HQM_ALIGN; i++)
                measurements_check(((const char *)s)[i] == 0 || s->count == 0, "space without a segment is not zero");
            at += HQM_ALIGN;
            continue;
        }
        measurements_check(s->kind >= HQM_STRINGS && s->kind < HQM_KINDS, "unknown kind");
        measurements_check(s->record_size == sizes[s->kind], "record size");
        measurements_check(s->bytes >= HQM_ALIGN && s->bytes % HQM_ALIGN == 0 && s->bytes <= r->size - at,
                           "segment bytes");
        measurements_check(s->capacity == (s->bytes - sizeof *s) / s->record_size, "capacity");
        measurements_check(s->count <= s->capacity, "count beyond capacity");
        measurements_check((s->lane == 0) == (s->kind <= HQM_THREADS || s->kind >= HQM_QUEUES), "lane of kind");
        if (s->lane >= r->lanes) {
            r->lane = realloc(r->lane, (s->lane + 1) * sizeof *r->lane);
            memset(r->lane + r->lanes, 0, (s->lane + 1 - r->lanes) * sizeof *r->lane);
            r->lanes = s->lane + 1;
        }
        append(&r->lane[s->lane].kind[s->kind], s);
        measurements_total.written += (sizeof *s + (uint64_t)s->count * s->record_size + 4095) / 4096 * 4096;
        at += s->bytes;
    }
}

const char *measurements_text(const struct reader *r, uint32_t offset)
{
    const struct column *c = &r->lane[0].kind[HQM_STRINGS];

    measurements_check(offset < c->count && memchr(c->data + offset, 0, c->count - offset), "string offset");
    return c->data + offset;
}
