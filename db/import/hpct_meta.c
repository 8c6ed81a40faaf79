/* SPDX-License-Identifier: BSD-3-Clause */
/* HPCToolkit's meta.db: title, identifiers, metrics (hpct.h). */
#include "common/mem.h"
#include "db/import/hpct.h"
#include <string.h>

enum { SECTION_GENERAL, SECTION_ID_NAMES, SECTION_METRICS };
/* Types of propagation scopes. A custom one, and one of a later version, is what its name says. */
enum { SCOPE_POINT = 1, SCOPE_EXECUTION = 2, SCOPE_TRANSITIVE = 3, SCOPE_UNKNOWN = 0 };
enum { COMBINE_SUM = 0 };

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

struct scope {
    unsigned type, bit;
};

static struct scope read_scope(const struct hpct *h, struct cursor *c, uint64_t offset)
{
    struct cursor s = hpct_at(&h->meta, "Metrics", offset);
    const char *name = hpct_text(&s, cursor_u64(&s));
    struct scope scope = {.type = cursor_u8(&s)};

    scope.bit = cursor_u8(&s);
    if (!cursor_ok(&s))
        cursor_fail(c, "points to a propagation scope that is not there");
    if (scope.type > SCOPE_TRANSITIVE || (scope.type == SCOPE_TRANSITIVE && scope.bit >= 16))
        scope.type = SCOPE_UNKNOWN;
    if (scope.type == SCOPE_UNKNOWN && name && !strcmp(name, "execution"))
        scope.type = SCOPE_EXECUTION;
    else if (scope.type == SCOPE_UNKNOWN && name && !strcmp(name, "point"))
        scope.type = SCOPE_POINT;
    return scope;
}

/* The best of the scopes: execution values also hold what belongs to contexts that are not in the tree, transitive ones
 * a part of it. */
static int rank_of(unsigned type)
{
    return type == SCOPE_EXECUTION ? 3 : type == SCOPE_TRANSITIVE ? 2 : type == SCOPE_POINT ? 1 : 0;
}

static void take_better(struct hpct_metric *m, struct scope scope, uint16_t id, int *best)
{
    if (rank_of(scope.type) <= *best)
        return;
    *best = rank_of(scope.type);
    m->id = id;
    m->propagates_always = scope.type == SCOPE_EXECUTION;
    m->propagation = scope.type == SCOPE_TRANSITIVE ? (uint16_t)(1u << scope.bit) : 0;
}

/* False if none of the scopes is known. */
static bool read_instances(struct hpct *h, struct cursor *c, struct hpct_metric *m, uint64_t at, unsigned count,
                           unsigned stride)
{
    int best = 0;

    for (unsigned i = 0; i < count && cursor_ok(c); i++) {
        struct cursor s = hpct_at(&h->meta, "Metrics", at + (uint64_t)i * stride);
        uint64_t offset = cursor_u64(&s);
        uint16_t id = cursor_u16(&s);

        if (!cursor_ok(&s))
            cursor_fail(c, "points to sub-metrics that are not there");
        else
            take_better(m, read_scope(h, c, offset), id, &best);
    }
    return best > 0;
}

/* Finds the plain sums among the statistics over threads, which alone are of use; false if there are none. */
static bool read_sums(struct hpct *h, struct cursor *c, struct hpct_metric *m, uint64_t at, unsigned count,
                      unsigned stride)
{
    int best = 0;

    for (unsigned i = 0; i < count && cursor_ok(c); i++) {
        struct cursor s = hpct_at(&h->meta, "Metrics", at + (uint64_t)i * stride);
        uint64_t offset = cursor_u64(&s);
        const char *formula = hpct_text(&s, cursor_u64(&s));
        unsigned combine = cursor_u8(&s);

        cursor_skip(&s, 1);
        uint16_t id = cursor_u16(&s);

        if (cursor_ok(&s) && combine == COMBINE_SUM && formula && !strcmp(formula, "$$"))
            take_better(m, read_scope(h, c, offset), id, &best);
    }
    return best > 0;
}

static void leave_out(struct hpct *h, const char *metric)
{
    AUTO_FREE char *text = xasprintf("metric %s: what its values are sums of is not known", metric);

    import_fact(h->im, "left out", text);
}

static struct hq_error *read_metrics(struct hpct *h)
{
    struct cursor c;

    HQ_TRY(hpct_section(&h->meta, SECTION_METRICS, "Metrics", 0x1b, &c));
    uint64_t metrics = cursor_u64(&c);
    uint32_t count = cursor_u32(&c);
    unsigned stride = cursor_u8(&c), instance_stride = cursor_u8(&c), sum_stride = cursor_u8(&c);

    if (count && (stride < 0x1c || instance_stride < 0x0a))
        cursor_fail(&c, "has metrics smaller than version 4.0 has them");
    for (uint32_t i = 0; i < count && cursor_ok(&c); i++) {
        struct hpct_metric m = {0}, sum = {0};

        cursor_seek(&c, metrics + (uint64_t)i * stride);
        m.name = sum.name = hpct_text(&c, cursor_u64(&c));
        uint64_t instances = cursor_u64(&c), sums = cursor_u64(&c);
        unsigned instance_count = cursor_u16(&c), sum_count = cursor_u16(&c);
        bool known = read_instances(h, &c, &m, instances, instance_count, instance_stride);

        if (read_sums(h, &c, &sum, sums, sum_count, sum_stride) && sum.name)
            vec_push(&h->sums, sum);
        if (cursor_ok(&c) && m.name && known)
            vec_push(&h->metrics, m);
        else if (cursor_ok(&c) && m.name)
            leave_out(h, m.name);
    }
    return cursor_error(&c);
}

struct hq_error *hpct_read_meta(struct hpct *h)
{
    HQ_TRY(read_title(h));
    HQ_TRY(read_kinds(h));
    return read_metrics(h);
}
