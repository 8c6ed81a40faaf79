/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/import/perfdata_file.h"

#include "common/cursor.h"
#include <string.h>

enum { FEATURE_BUILD_ID = 2, FEATURE_EVENT_DESC = 12, EVENTS_MAX = 1024, ATTR_LEAST = 64 };
enum { RECORD_AUXTRACE = 71, RECORD_COMPRESSED = 81, RECORD_COMPRESSED2 = 83 };

static const char MAGIC[8] = "PERFILE2";

bool perfdata_file_begins(const char *text, size_t len)
{
    return len >= sizeof MAGIC && !memcmp(text, MAGIC, sizeof MAGIC);
}

static bool inside(const struct perfdata_file *f, struct perfdata_span s)
{
    return s.offset <= f->map.size && s.size <= f->map.size - s.offset;
}

static struct hq_error *damaged(const struct perfdata_file *f, const char *what)
{
    return hq_error_new(HQ_DATA, "%s: the file is damaged or cut off in its %s", f->map.path, what);
}

static struct hq_error *read_header(struct perfdata_file *f)
{
    struct perfdata_header *h = &f->header;

    if (f->map.size > 2 && !memcmp(f->map.data, "\x1f\x8b", 2))
        return hq_error_new(HQ_DATA, "%s is compressed by gzip, and perf.data is read as perf wrote it: gunzip -k %s",
                            f->map.path, f->map.path);
    if (f->map.size < 16 || memcmp(f->map.data, MAGIC, sizeof MAGIC) != 0)
        return hq_error_new(HQ_DATA, "%s is no perf.data of a little-endian machine", f->map.path);
    memcpy(&h->size, f->map.data + 8, 8);
    if (h->size == 16)
        return hq_error_new(
            HQ_DATA,
            "%s was written to a pipe: perf inject -i %s -o FILE, or recording to a file, makes one that "
            "is read",
            f->map.path, f->map.path);
    if (f->map.size < sizeof *h)
        return damaged(f, "header");
    memcpy(h, f->map.data, sizeof *h);
    if (!h->data.size)
        return hq_error_new(HQ_DATA, "%s: perf was killed while it recorded, and never wrote where the records end",
                            f->map.path);
    if (!inside(f, h->attrs) || !inside(f, h->data) || h->attr_size < ATTR_LEAST + sizeof(struct perfdata_span) ||
        h->attrs.size / h->attr_size > EVENTS_MAX)
        return damaged(f, "header");
    return NULL;
}

static struct hq_error *read_attributes(struct perfdata_file *f)
{
    size_t known = f->header.attr_size - sizeof(struct perfdata_span);

    for (uint64_t at = 0; at + f->header.attr_size <= f->header.attrs.size; at += f->header.attr_size) {
        const uint8_t *entry = f->map.data + f->header.attrs.offset + at;
        struct perfdata_event *e = vec_add(&f->events);
        struct perfdata_span ids;

        memcpy(&e->attr, entry, known < sizeof e->attr ? known : sizeof e->attr);
        memcpy(&ids, entry + known, sizeof ids);
        if (!inside(f, ids))
            return damaged(f, "attributes");
        for (uint64_t i = 0; i < ids.size / 8; i++)
            vec_push(&e->ids, perf_word(f->map.data + ids.offset, i));
    }
    return f->events.len ? NULL : damaged(f, "attributes");
}

static void read_build_ids(struct perfdata_file *f, struct cursor c)
{
    while (cursor_left(&c) >= 36) {
        const uint8_t *start = c.at;
        uint32_t type = cursor_u32(&c);
        uint16_t misc = cursor_u16(&c), size = cursor_u16(&c);

        (void)type, (void)misc;
        if (size < 37 || size > c.end - start)
            return;
        struct perfdata_build_id b = {.path = (const char *)start + 36};

        memcpy(b.id, start + 12, PERF_BUILD_ID);
        if (memchr(b.path, 0, size - 36))
            vec_push(&f->build_ids, b);
        c.at = start + size;
    }
}

static void read_names(struct perfdata_file *f, struct cursor c)
{
    uint32_t count = cursor_u32(&c), attr_size = cursor_u32(&c);

    for (uint32_t i = 0; i < count && i < f->events.len; i++) {
        cursor_skip(&c, attr_size);
        uint32_t ids = cursor_u32(&c), length = cursor_u32(&c);
        const char *name = (const char *)cursor_bytes(&c, length);

        cursor_skip(&c, (uint64_t)ids * 8);
        if (!cursor_ok(&c) || !name || !memchr(name, 0, length))
            return;
        f->events.data[i].name = name;
    }
}

/* Behind the records there is a span for each feature that is there. */
static void read_features(struct perfdata_file *f)
{
    uint64_t at = f->header.data.offset + f->header.data.size;

    for (unsigned bit = 0; bit < 256; bit++) {
        struct perfdata_span s;

        if (!(f->header.features[bit / 64] >> bit % 64 & 1))
            continue;
        if (f->map.size < sizeof s || at > f->map.size - sizeof s)
            return;
        memcpy(&s, f->map.data + at, sizeof s);
        at += sizeof s;
        if (!inside(f, s))
            continue;
        struct cursor c = cursor_make(f->map.path, "features", f->map.data + s.offset, s.size);

        if (bit == FEATURE_BUILD_ID)
            read_build_ids(f, c);
        else if (bit == FEATURE_EVENT_DESC)
            read_names(f, c);
    }
}

struct hq_error *perfdata_file_open(const char *path, struct perfdata_file *out)
{
    *out = (struct perfdata_file){0};
    HQ_TRY(file_map_open(path, &out->map));
    HQ_TRY(read_header(out));
    HQ_TRY(read_attributes(out));
    read_features(out);
    return NULL;
}

void perfdata_file_close(struct perfdata_file *f)
{
    vec_foreach(e, &f->events)
        vec_deinit(&e->ids);
    vec_deinit(&f->events);
    vec_deinit(&f->build_ids);
    file_map_close(&f->map);
}

struct perfdata_event *perfdata_event_of(struct perfdata_file *f, uint64_t id)
{
    for (size_t i = 1; i < f->events.len; i++)
        vec_foreach(x, &f->events.data[i].ids)
            if (*x == id)
                return &f->events.data[i];
    return &f->events.data[0];
}

struct perf_layout perfdata_layout(const struct perfdata_event *e)
{
    return (struct perf_layout){.sample_type = e->attr.sample_type,
                                .read_format = e->attr.read_format,
                                .registers = e->attr.sample_regs_user,
                                .branches = e->attr.branch_sample_type,
                                .sample_id_all = e->attr.sample_id_all};
}

struct hq_error *perfdata_file_records(const struct perfdata_file *f, struct perf_stream *out)
{
    const uint8_t *at = f->map.data + f->header.data.offset, *end = at + f->header.data.size;

    out->layout = perfdata_layout(&f->events.data[0]);
    for (size_t size; at < end && (size = perf_event_size(at, end)) != 0; at += size) {
        uint32_t type;

        memcpy(&type, at, 4);
        if (type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2)
            return hq_error_new(HQ_DATA,
                                "%s: its records are compressed (perf record -z), which is not read: record without -z",
                                f->map.path);
        if (type == RECORD_AUXTRACE && size >= 16 && perf_word(at, 1) <= (uint64_t)(end - at) - size)
            at += perf_word(at, 1);
        else if (type < 64)
            vec_push(&out->records,
                     (struct perf_stream_at){perf_event_time(&out->layout, at, size), (uint64_t)(at - f->map.data)});
    }
    if (at < end)
        return damaged(f, "records");
    perf_stream_sort(out);
    return NULL;
}

bool perfdata_is_clock(const struct perfdata_event *e)
{
    return e->attr.type == PERF_TYPE_SOFTWARE &&
           (e->attr.config == PERF_COUNT_SW_CPU_CLOCK || e->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

bool perfdata_chain_fits(const struct perfdata_event *of, const struct perf_event *e)
{
    uint64_t context_least = (uint64_t)PERF_CONTEXT_MAX;

    if (!perfdata_is_clock(of) || !e->chain_len || of->attr.exclude_callchain_kernel || of->attr.exclude_callchain_user)
        return true;
    uint64_t mode = perf_word(e->chain, 0);

    if (mode < context_least)
        return false;
    if (mode != (uint64_t)PERF_CONTEXT_KERNEL && mode != (uint64_t)PERF_CONTEXT_USER) /* others may mean anything */
        return true;
    return !(of->attr.sample_type & PERF_SAMPLE_IP) || e->chain_len < 2 || perf_word(e->chain, 1) >= context_least ||
           perf_word(e->chain, 1) == e->ip;
}
