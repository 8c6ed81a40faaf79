/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/zeroed.h"
#include <string.h>

enum { PAGE = 4096, LISTED = 4 };

static const char *const contents[] = {
    [HQM_STRINGS] = "texts",        [HQM_INFO] = "facts",      [HQM_EVENTS] = "events",
    [HQM_MODULES] = "load modules", [HQM_THREADS] = "threads", [HQM_NODES] = "call paths",
    [HQM_CELLS] = "values",         [HQM_TRACE] = "trace",     [HQM_REGIONS] = "regions",
};

struct list {
    struct str *out;
    unsigned count;
};

static void add(struct list *l, uint64_t offset, unsigned kind)
{
    if (++l->count <= LISTED)
        str_addf(l->out, "%s%llu (%s)", l->count == 1 ? "the page at byte " : ", ", (unsigned long long)offset,
                 contents[kind]);
}

/* A page is seldom zero in its first word already, so this costs next to nothing. */
static bool is_zero(const uint8_t *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (data[i])
            return false;
    return true;
}

/*
 * One record that is zeros was perhaps claimed, and its process killed before it was written (format/measurement.h,
 * rule 7); the first byte of the strings is the empty one.
 */
static size_t least_zeros(const struct measurement *m, const struct measured_segment *s)
{
    bool ended = m->header.state != HQM_RUNNING;

    return s->kind == HQM_STRINGS || s->lane || ended ? 2 : (size_t)s->record_size * 2;
}

static void look_at_segment(const struct measurement *m, const struct measured_segment *s, struct list *l)
{
    size_t from = (size_t)(s->data - m->map.data), end = from + (size_t)s->count * s->record_size;

    if (s->kind == HQM_NODES && s->lane && !s->first)
        from += s->record_size; /* the root of a tree is zeros, and perhaps the process ended before its first sample */
    for (size_t page = from / PAGE * PAGE; page < end; page += PAGE) {
        size_t first = page > from ? page : from, last = page + PAGE < end ? page + PAGE : end;

        if (last - first >= least_zeros(m, s) && is_zero(m->map.data + first, last - first))
            add(l, page, s->kind);
    }
}

/* The first segments of lane 0 are opened before the file has its magic, one behind the other. */
static void look_for_heads(const struct measurement *m, struct list *l)
{
    uint64_t at = m->header.header_bytes;

    for (unsigned kind = HQM_STRINGS; kind <= HQM_THREADS && at + sizeof(struct hqm_segment) <= m->map.size; kind++) {
        struct hqm_segment head;

        memcpy(&head, m->map.data + at, sizeof head);
        if (!is_zero((const uint8_t *)&head, sizeof head)) {
            at += head.bytes;
            continue;
        }
        add(l, at, kind);
        return; /* where the next one is was written there */
    }
}

bool zeroed_pages(const struct measurement *m, struct str *out)
{
    struct list l = {.out = out};

    look_for_heads(m, &l);
    for (size_t i = 0; i < m->segment_count; i++)
        look_at_segment(m, &m->segments[i], &l);
    if (l.count > LISTED)
        str_addf(out, " and %u more", l.count - LISTED);
    return l.count > 0;
}
