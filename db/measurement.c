/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/measurement.h"

#include "common/mem.h"
#include "common/search.h"
#include "common/str.h"
#include <stdlib.h>
#include <string.h>

static const size_t record_sizes[] = {
    [HQM_STRINGS] = 1,
    [HQM_INFO] = sizeof(struct hqm_info),
    [HQM_EVENTS] = sizeof(struct hqm_event),
    [HQM_MODULES] = sizeof(struct hqm_module),
    [HQM_THREADS] = sizeof(struct hqm_thread),
    [HQM_NODES] = sizeof(struct hqm_node),
    [HQM_CELLS] = sizeof(struct hqm_cell),
    [HQM_TRACE] = sizeof(struct hqm_trace),
    [HQM_REGIONS] = offsetof(struct hqm_region, threads), /* until 0.2.0 was released */
    [HQM_MESSAGES] = sizeof(struct hqm_message),
    [HQM_QUEUES] = sizeof(struct hqm_queue),
    [HQM_COMMANDS] = sizeof(struct hqm_command),
    [HQM_HOST] = sizeof(struct hqm_host),
    [HQM_SUMS] = sizeof(struct hqm_command_sum),
    [HQM_PAIRS] = sizeof(struct hqm_pair),
};

/* The magic is what the collector writes last of a header; the first segment is opened before. */
static bool has_not_begun(const struct measurement *m)
{
    static const char none[8];

    return m->map.size == 0 || (m->map.size >= sizeof none && !memcmp(m->map.data, none, sizeof none));
}

/* A header of zeros before segments in which something was recorded: their process had begun. */
static bool has_lost_its_header(const struct measurement *m)
{
    for (size_t at = HQM_ALIGN; at + sizeof(struct hqm_segment) <= m->map.size; at += HQM_ALIGN) {
        struct hqm_segment s;

        memcpy(&s, m->map.data + at, sizeof s);
        if (s.magic == HQM_SEGMENT_MAGIC && s.kind >= HQM_NODES && s.kind <= HQM_TRACE && s.count)
            return true;
    }
    return false;
}

bool measurement_has_begun(const char *path)
{
    struct measurement m = {0};
    struct hq_error *error = file_map_open(path, &m.map);
    bool begun = error || !has_not_begun(&m) || has_lost_its_header(&m);

    hq_error_free(error);
    file_map_close(&m.map);
    return begun;
}

static struct hq_error *check_header(const char *path, struct measurement *m)
{
    if (has_not_begun(m) && has_lost_its_header(m))
        return hq_error_new(
            HQ_DATA, "%s: its first page is zeros, as after a power cut, and nothing else of it can be read", path);
    if (has_not_begun(m))
        return hq_error_new(HQ_DATA, "%s: its process was killed before it had begun to measure", path);
    if (m->map.size < sizeof m->header || memcmp(m->map.data, HQM_MAGIC, 8))
        return hq_error_new(HQ_DATA, "%s: this is not an hq measurement file", path);
    memcpy(&m->header, m->map.data, sizeof m->header);
    if (m->header.major != HQM_MAJOR)
        return hq_error_new(HQ_DATA, "%s: the measurements have format version %u and this hq reads %u", path,
                            m->header.major, HQM_MAJOR);
    if (m->header.header_bytes < sizeof m->header || m->header.header_bytes % HQM_ALIGN)
        return hq_error_new(HQ_DATA, "%s: the measurement file is damaged in its header", path);
    return NULL;
}

/* The segment at an offset, if it is one and its records lie in the file. */
static bool read_segment(const struct measurement *m, uint64_t offset, struct hqm_segment *head,
                         struct measured_segment *out)
{
    uint64_t room;

    memcpy(head, m->map.data + offset, sizeof *head);
    if (head->magic != HQM_SEGMENT_MAGIC || head->bytes < sizeof *head || head->bytes % HQM_ALIGN)
        return false;
    room = m->map.size - offset - sizeof *head;
    if (room > head->bytes - sizeof *head)
        room = head->bytes - sizeof *head;
    if (head->kind < HQM_STRINGS || head->kind >= HQM_KINDS)
        return true;
    /* Longer records of later versions must leave the known fields aligned. */
    if (head->record_size < record_sizes[head->kind] || (head->record_size - record_sizes[head->kind]) % 8 ||
        (head->kind == HQM_STRINGS && head->record_size != 1))
        return false;
    *out = (struct measured_segment){head->kind,  head->record_size, head->lane,
                                     head->first, head->count,       m->map.data + offset + sizeof *head};
    if (out->count > head->capacity)
        out->count = head->capacity;
    /* A file that was cut off has less than it says. */
    if (out->count > room / head->record_size)
        out->count = (uint32_t)(room / head->record_size);
    return true;
}

static void find_segments(struct measurement *m)
{
    VEC(struct measured_segment) found = {0};
    uint64_t at = m->header.header_bytes;

    while (at <= m->map.size && m->map.size - at >= sizeof(struct hqm_segment)) {
        struct hqm_segment head;
        struct measured_segment s = {0};

        if (!read_segment(m, at, &head, &s)) {
            m->lost_segments |= head.magic != 0;
            at += HQM_ALIGN;
            continue;
        }
        if (s.kind && s.count)
            vec_push(&found, s);
        at += head.bytes < m->map.size ? head.bytes : m->map.size;
    }
    m->segments = found.data;
    m->segment_count = found.len;
}

static int compare_segments(const void *pa, const void *pb)
{
    const struct measured_segment *a = pa, *b = pb;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->data > b->data) - (a->data < b->data);
}

struct hq_error *measurement_open(const char *path, struct measurement *out)
{
    struct hq_error *err;

    *out = (struct measurement){0};
    HQ_TRY(file_map_open(path, &out->map));
    err = check_header(path, out);
    if (err) {
        measurement_close(out);
        return err;
    }
    find_segments(out);
    if (out->segment_count)
        qsort(out->segments, out->segment_count, sizeof *out->segments, compare_segments);
    return NULL;
}

void measurement_close(struct measurement *m)
{
    file_map_close(&m->map);
    free(m->segments);
    *m = (struct measurement){0};
}

/* The first segment at or after (kind, lane). */
static const struct measured_segment *find(const struct measurement *m, unsigned kind, uint64_t lane)
{
    const struct measured_segment *s = m->segments;

    return s + SEARCH(i, m->segment_count, s[i].kind < kind || (s[i].kind == kind && s[i].lane < lane));
}

const char *measurement_string(const struct measurement *m, uint32_t offset)
{
    const struct measured_segment *end;

    if (!m->segment_count)
        return "";
    end = find(m, HQM_STRINGS, 1);
    for (const struct measured_segment *s = find(m, HQM_STRINGS, 0); s < end; s++) {
        const char *text;

        if (offset < s->first || offset - s->first >= s->count)
            continue;
        text = (const char *)s->data + (offset - s->first);
        if (memchr(text, 0, s->count - (offset - s->first)))
            return text;
    }
    return "";
}

struct measured measured_records(const struct measurement *m, enum hqm_kind kind, uint32_t lane)
{
    if (!m->segment_count)
        return (struct measured){0};
    return (struct measured){.at = find(m, kind, lane), .end = find(m, kind, (uint64_t)lane + 1)};
}

static bool is_blank(const uint8_t *record, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (record[i])
            return false;
    }
    return true;
}

const void *measured_next(struct measured *m)
{
    for (; m->at < m->end; m->at++, m->i = 0) {
        while (m->i < m->at->count) {
            const uint8_t *record = m->at->data + (size_t)m->i * m->at->record_size;

            m->number = m->at->first + m->i++;
            if (m->at->lane || !is_blank(record, m->at->record_size))
                return record;
        }
    }
    return NULL;
}

const void *measurement_record(const struct measurement *m, enum hqm_kind kind, uint32_t lane, uint32_t number)
{
    struct measured all = measured_records(m, kind, lane);

    for (; all.at < all.end; all.at++) {
        if (number >= all.at->first && number - all.at->first < all.at->count)
            return all.at->data + (size_t)(number - all.at->first) * all.at->record_size;
    }
    return NULL;
}

bool measurement_next_lane(const struct measurement *m, uint32_t *lane)
{
    uint64_t next = UINT64_MAX;

    for (unsigned kind = HQM_NODES; kind < HQM_KINDS && m->segment_count; kind++) {
        const struct measured_segment *s = find(m, kind, (uint64_t)*lane + 1);

        if (s < m->segments + m->segment_count && s->kind == kind && s->lane < next)
            next = s->lane;
    }
    *lane = next == UINT64_MAX ? 0 : (uint32_t)next;
    return *lane != 0;
}

const char *measurement_module_path(const struct measurement *m, const struct hqm_module *module)
{
    struct measured records = measured_records(m, HQM_INFO, 0);

    if (module->flags & HQM_MODULE_MAIN)
        for (const struct hqm_info *i; (i = measured_next(&records));)
            if (!strcmp(measurement_string(m, i->key), "started as") && *measurement_string(m, i->value) &&
                !str_begins(measurement_string(m, i->value), "/proc/")) /* /proc/self/exe is now hq */
                return measurement_string(m, i->value);
    return measurement_string(m, module->path);
}

void measurement_build_id(const struct hqm_module *module, struct str *out)
{
    if (module->build_id_len <= sizeof module->build_id)
        str_add_hex(out, module->build_id, module->build_id_len);
}
