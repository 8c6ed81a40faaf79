/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/import/hpct.h"
#include <string.h>

enum { SECTION_GENERAL, SECTION_ID_NAMES, SECTION_METRICS };
enum { SCOPE_POINT = 1, SCOPE_EXECUTION = 2 };

static struct hq_error *read_title(struct hpct *h)
{
    struct cursor c;

    HQ_TRY(hpct_section(&h->meta, SECTION_GENERAL, "General", 16, &c));
    h->title = hpct_text(&c, cursor_u64(&c));
    return cursor_error(&c);
}

static struct hq_error *read_kinds(struct hpct *h)
{
    struct cursor c;

    HQ_TRY(hpct_section(&h->meta, SECTION_ID_NAMES, "IdNames", 9, &c));
    uint64_t names = cursor_u64(&c);
    unsigned count = cursor_u8(&c);

    cursor_seek(&c, names);
    for (unsigned i = 0; i < count && cursor_ok(&c); i++) {
        const char *name = hpct_text(&c, cursor_u64(&c));

        vec_push(&h->kinds, name ? name : "");
    }
    return cursor_error(&c);
}

/* The type of a propagation scope (its name may be anything). */
static unsigned scope_type(const struct hpct *h, struct cursor *c, uint64_t scope)
{
    struct cursor s = hpct_at(&h->meta, "Metrics", scope);

    cursor_u64(&s);
    unsigned type = cursor_u8(&s);

    if (!cursor_ok(&s))
        cursor_fail(c, "points to a propagation scope that is not there");
    return type;
}

static void read_instances(struct hpct *h, struct cursor *c, struct hpct_metric *m, uint64_t at, unsigned count, unsigned stride)
{
    for (unsigned i = 0; i < count && cursor_ok(c); i++) {
        struct cursor s = hpct_at(&h->meta, "Metrics", at + (uint64_t)i * stride);
        uint64_t scope = cursor_u64(&s);
        uint16_t id = cursor_u16(&s);

        if (!cursor_ok(&s)) {
            cursor_fail(c, "points to sub-metrics that are not there");
            return;
        }
        unsigned type = scope_type(h, c, scope);

        if (type == SCOPE_EXECUTION) {
            m->has_execution = true;
            m->execution = id;
        } else if (type == SCOPE_POINT) {
            m->has_point = true;
            m->point = id;
        }
    }
}

static struct hq_error *read_metrics(struct hpct *h)
{
    struct cursor c;

    HQ_TRY(hpct_section(&h->meta, SECTION_METRICS, "Metrics", 0x1b, &c));
    uint64_t metrics = cursor_u64(&c);
    uint32_t count = cursor_u32(&c);
    unsigned stride = cursor_u8(&c), instance_stride = cursor_u8(&c);

    if (count && (stride < 0x1c || instance_stride < 0x0a))
        cursor_fail(&c, "has metrics smaller than version 4.0 has them");
    for (uint32_t i = 0; i < count && cursor_ok(&c); i++) {
        struct hpct_metric m = {0};

        cursor_seek(&c, metrics + (uint64_t)i * stride);
        m.name = hpct_text(&c, cursor_u64(&c));
        uint64_t instances = cursor_u64(&c);

        cursor_skip(&c, 8);
        read_instances(h, &c, &m, instances, cursor_u16(&c), instance_stride);
        if (cursor_ok(&c) && m.name && (m.has_execution || m.has_point))
            vec_push(&h->metrics, m);
    }
    return cursor_error(&c);
}

struct hq_error *hpct_read_meta(struct hpct *h)
{
    HQ_TRY(read_title(h));
    HQ_TRY(read_kinds(h));
    return read_metrics(h);
}
