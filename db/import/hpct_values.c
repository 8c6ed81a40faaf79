/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of profile.db. The raw value of a context is its execution value less those of its children, because hpcprof leaves
 * contexts below lines out of meta.db, whose point values would be lost. Without an execution scope, point values are taken.
 */
#include "db/import/hpct.h"
#include <math.h>
#include <string.h>

enum { VALUE_BYTES = 10, INDEX_BYTES = 12, PROFILE_BYTES = 0x2c, ID_BYTES = 16 };
enum { IS_SUMMARY = 1, IS_PHYSICAL = 1 };
enum { SECTION_PROFILES };

/* The values of one profile: nValues of (metric, value), and nCtxs of (context, start). */
struct block { const uint8_t *values, *contexts; uint64_t value_count; uint32_t context_count; };

static uint16_t le16(const uint8_t *p) { uint16_t x; memcpy(&x, p, sizeof x); return x; }
static uint32_t le32(const uint8_t *p) { uint32_t x; memcpy(&x, p, sizeof x); return x; }
static uint64_t le64(const uint8_t *p) { uint64_t x; memcpy(&x, p, sizeof x); return x; }
static double le_f64(const uint8_t *p) { double x; memcpy(&x, p, sizeof x); return isfinite(x) ? x : 0; }

static struct block read_block(struct hpct *h, struct cursor *c)
{
    struct block b = {.value_count = cursor_u64(c)};
    struct cursor values = hpct_at(&h->profile, c->section, cursor_u64(c));

    b.context_count = cursor_u32(c);
    cursor_skip(c, 4);
    struct cursor contexts = hpct_at(&h->profile, c->section, cursor_u64(c));

    if (!b.context_count)
        return b;
    b.values = cursor_array(&values, b.value_count, VALUE_BYTES);
    b.contexts = cursor_array(&contexts, b.context_count, INDEX_BYTES);
    if (!cursor_ok(&values) || !cursor_ok(&contexts)) {
        cursor_fail(c, "has values that lie outside the file");
        b.context_count = 0;
    }
    return b;
}

/* Calls fn for each value of one metric. */
static void each_value(const struct hpct *h, const struct block *b, uint16_t metric,
                       void (*fn)(void *arg, uint32_t node, double value), void *arg)
{
    for (uint32_t i = 0; i < b->context_count; i++) {
        const uint8_t *index = b->contexts + (size_t)i * INDEX_BYTES;
        uint64_t at = le64(index + 4), end = i + 1 < b->context_count ? le64(index + INDEX_BYTES + 4) : b->value_count;
        uint32_t node = (uint32_t)map_get(&h->node_of, le32(index), HQDB_NONE);

        for (end = end < b->value_count ? end : b->value_count; at < end; at++) {
            const uint8_t *value = b->values + at * VALUE_BYTES;

            if (le16(value) == metric)
                fn(arg, node, le_f64(value + 2));
        }
    }
}

/* ---- identity ---- */

static void read_identity(struct hpct *h, uint64_t offset, uint32_t index, struct cursor *outer)
{
    struct cursor c = hpct_at(&h->profile, "IdTuples", offset);
    unsigned count = cursor_u16(&c);
    struct model_profile *p = import_profile_at(h->im, h->profiles.data[index]);
    AUTO_STR struct str rest = {0};

    str_add(&rest, h->title ? h->title : "");
    cursor_skip(&c, 6);
    for (unsigned i = 0; i < count && cursor_ok(&c); i++) {
        unsigned kind = cursor_u8(&c);

        cursor_skip(&c, 1);
        unsigned flags = cursor_u16(&c);
        uint32_t logical = cursor_u32(&c);
        uint64_t physical = cursor_u64(&c);
        const char *name = kind < h->kinds.len ? h->kinds.data[kind] : "";

        if (strcmp(name, "NODE") == 0) {
            AUTO_FREE char *host = xasprintf("%08llx", (unsigned long long)(flags & IS_PHYSICAL ? physical : logical));
            p->host = import_keep(h->im, host);
        } else if (strcmp(name, "RANK") == 0) {
            p->rank = (int32_t)logical;
        } else if (strcmp(name, "THREAD") == 0) {
            p->thread = logical;
        } else if (strcmp(name, "CORE") && strcmp(name, "SUMMARY")) {
            str_addf(&rest, " %s %u", *name ? name : "unit", logical);
        }
    }
    p->command = import_keep(h->im, str_cstr(&rest));
    if (!cursor_ok(&c))
        cursor_fail(outer, "points to an identifier tuple that is not there");
}

/* ---- metrics ---- */

struct survey { double total; bool whole; };

static void survey_value(void *arg, uint32_t node, double value)
{
    struct survey *s = arg;

    (void)node;
    s->total = fmax(s->total, fabs(value));
    s->whole &= value == floor(value);
}

static uint16_t source_of(const struct hpct_metric *m)
{
    return m->has_execution ? m->execution : m->point;
}

/* "REALTIME (sec)" is REALTIME in seconds. */
static uint32_t make_metric(struct hpct *h, const struct hpct_metric *m, double scale)
{
    static const struct { const char *suffix; enum hqm_dimension dimension; } units[] = {
        {" (sec)", HQM_DIM_SECONDS}, {" (s)", HQM_DIM_SECONDS}, {" (bytes)", HQM_DIM_BYTES}, {" (B)", HQM_DIM_BYTES},
    };
    size_t n = strlen(m->name);
    enum hqm_dimension dimension = HQM_DIM_EVENTS;

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t k = strlen(units[i].suffix);

        if (n > k && strcmp(m->name + n - k, units[i].suffix) == 0) {
            n -= k;
            dimension = units[i].dimension;
            break;
        }
    }
    AUTO_FREE char *event = xstrndup(m->name, n);
    bool traced = h->trace.map.data && m == h->metrics.data;
    unsigned flags = HQDB_METRIC_SAMPLED | HQDB_METRIC_NO_COUNTS | (traced ? HQDB_METRIC_TRACED : 0);
    /* Only of time: how many events a sample of the trace stands for is not in the format. */
    double period = traced && dimension == HQM_DIM_SECONDS ? round((double)h->period_ns * 1e-9 / scale) : 0;

    return import_metric(h->im, event, "from an HPCToolkit database", dimension, flags, (uint64_t)period, scale);
}

/* Whole units of a power of ten: differences of rounded sums are then exact to a unit or two. */
static double scale_for(double total, bool whole)
{
    double digits = 0;

    while (!whole && digits < 9 && total * pow(10, digits + 1) < 0x1p50)
        digits++;
    return pow(10, -digits);
}

static struct hq_error *make_metrics(struct hpct *h, const struct block *blocks, size_t count)
{
    vec_foreach (m, &h->metrics) {
        struct survey s = {.whole = true};

        for (size_t i = 0; i < count; i++)
            each_value(h, &blocks[i], source_of(m), survey_value, &s);
        if (!(s.total * (double)(count + 1) < 0x1p60))
            return hq_error_new(HQ_DATA, "%s: %s has the value %g, more than can be counted", h->profile.map.path, m->name, s.total);
        double scale = scale_for(s.total, s.whole);

        vec_push(&h->scales, scale);
        vec_push(&h->metric_ids, make_metric(h, m, scale));
    }
    return NULL;
}

/* ---- values ---- */

struct raw {
    struct hpct *h;
    int64_t *values, *inside;           /* [nodes] of the node; of its children */
    uint32_t *children;                 /* [nodes] how many have a value */
    double scale;
    int64_t lost;                       /* values of contexts that meta.db does not have */
};

static void take_value(void *arg, uint32_t node, double value)
{
    struct raw *r = arg;
    int64_t x = llround(value / r->scale);

    if (node == HQDB_NONE)
        r->lost += x;
    else
        r->values[node] = x;
}

/* Takes the children's values out of their parents'. What is left of rounding is nothing; so is less than nothing, as where a file has no
 * values of the global context. */
static void subtract_children(struct raw *r)
{
    size_t count = r->h->nodes.len;

    memset(r->inside, 0, count * sizeof *r->inside);
    memset(r->children, 0, count * sizeof *r->children);
    for (size_t i = 1; i < count; i++) {
        uint32_t parent = r->h->nodes.data[i].parent;

        r->inside[parent] += r->values[i];
        r->children[parent] += r->values[i] != 0;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t rest = r->values[i] - r->inside[i], rounding = r->scale < 1 ? r->children[i] : 0;

        r->values[i] = rest <= rounding ? 0 : rest;
    }
}

static void give_values(struct hpct *h, const struct block *b, uint32_t profile, struct raw *r)
{
    for (size_t m = 0; m < h->metrics.len; m++) {
        memset(r->values, 0, h->nodes.len * sizeof *r->values);
        r->scale = h->scales.data[m];
        r->lost = 0;
        each_value(h, b, source_of(&h->metrics.data[m]), take_value, r);
        if (h->metrics.data[m].has_execution)
            subtract_children(r);
        else
            r->values[0] += r->lost;
        for (uint32_t i = 0; i < h->nodes.len; i++)
            if (r->values[i])
                import_value(h->im, profile, h->metric_ids.data[m], hpct_frame(h, i), r->values[i], 0);
    }
}

static struct hq_error *read_headers(struct hpct *h, struct block **blocks)
{
    struct cursor c;

    HQ_TRY(hpct_section(&h->profile, SECTION_PROFILES, "ProfileInfos", 0x0d, &c));
    uint64_t infos = cursor_u64(&c);
    uint32_t count = cursor_u32(&c);
    unsigned stride = cursor_u8(&c);
    struct cursor all = hpct_at(&h->profile, "ProfileInfos", infos);

    if (count && stride < PROFILE_BYTES)
        cursor_fail(&c, "has profiles smaller than version 4.0 has them");
    cursor_array(&all, count ? count - 1 : 0, stride);
    HQ_TRY(cursor_error(&c));
    HQ_TRY(cursor_error(&all));
    *blocks = xcalloc((size_t)count + 1, sizeof **blocks);
    for (uint32_t i = 0; i < count && cursor_ok(&c); i++) {
        cursor_seek(&c, infos + (uint64_t)i * stride);
        struct block b = read_block(h, &c);
        uint64_t tuple = cursor_u64(&c);
        bool summary = cursor_u32(&c) & IS_SUMMARY;

        vec_push(&h->profiles, HQDB_NONE);
        if (i == 0)
            h->valued_contexts = b.context_count;
        if (summary || !cursor_ok(&c))
            continue;
        (*blocks)[i] = b;
        vec_last(&h->profiles) = import_profile(h->im, 0, 0, 0, NULL);
        if (tuple)
            read_identity(h, tuple, i, &c);
    }
    return cursor_error(&c);
}

struct hq_error *hpct_read_profiles(struct hpct *h)
{
    AUTO_FREE struct block *blocks = NULL;
    struct raw r = {.h = h};

    HQ_TRY(read_headers(h, &blocks));
    if (h->trace.map.data)
        HQ_TRY(hpct_trace_period(h, &h->period_ns));
    AUTO_FREE char *found = xasprintf("%zu in the tree, %u with values", h->nodes.len - 1, h->valued_contexts);
    HQ_TRY(make_metrics(h, blocks, h->profiles.len));
    import_fact(h->im, "HPCToolkit contexts", found);
    r.values = xcalloc(h->nodes.len, sizeof *r.values);
    r.inside = xcalloc(h->nodes.len, sizeof *r.inside);
    r.children = xcalloc(h->nodes.len, sizeof *r.children);
    for (size_t i = 0; i < h->profiles.len; i++)
        if (h->profiles.data[i] != HQDB_NONE)
            give_values(h, &blocks[i], h->profiles.data[i], &r);
    free(r.values);
    free(r.inside);
    free(r.children);
    return NULL;
}
