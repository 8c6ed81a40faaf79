/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of profile.db. The raw value of a context is its value less those of the children that propagate to it: all of
 * them where there are execution values, which are preferred, because hpcprof leaves contexts below lines out of
 * meta.db, whose point values would be lost.
 *
 * A database may declare hundreds of metrics and have values of few: the work is by values, and metrics without any are
 * left out.
 */
#include "db/import/hpct.h"
#include <math.h>
#include <string.h>

enum { VALUE_BYTES = 10, INDEX_BYTES = 12, PROFILE_BYTES = 0x2c, ID_BYTES = 16 };
enum { IS_SUMMARY = 1, IS_PHYSICAL = 1 };
enum { SECTION_PROFILES };

/* The values of one profile: nValues of (metric, value), and nCtxs of (context, start). */
struct block {
    const uint8_t *values, *contexts;
    uint64_t value_count;
    uint32_t context_count;
};

static uint16_t le16(const uint8_t *p)
{
    uint16_t x;
    memcpy(&x, p, sizeof x);
    return x;
}
static uint32_t le32(const uint8_t *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return x;
}
static uint64_t le64(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}
static double le_f64(const uint8_t *p)
{
    double x;
    memcpy(&x, p, sizeof x);
    return isfinite(x) ? x : 0;
}

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

/* Calls fn for each value of the metrics that are taken. */
static void each_value(const struct hpct *h, const struct block *b,
                       void (*fn)(void *arg, uint32_t metric, uint32_t node, double value), void *arg)
{
    AUTO_FREE uint32_t *metric_of = xcalloc(UINT16_MAX + 1, sizeof *metric_of); /* + 1 */

    for (uint32_t m = 0; m < h->metrics.len; m++)
        metric_of[h->metrics.data[m].id] = m + 1;
    for (uint32_t i = 0; i < b->context_count; i++) {
        const uint8_t *index = b->contexts + (size_t)i * INDEX_BYTES;
        uint64_t at = le64(index + 4), end = i + 1 < b->context_count ? le64(index + INDEX_BYTES + 4) : b->value_count;
        uint32_t node = (uint32_t)map_get(&h->node_of, le32(index), HQDB_NONE);

        for (end = end < b->value_count ? end : b->value_count; at < end; at++) {
            const uint8_t *value = b->values + at * VALUE_BYTES;
            uint32_t metric = metric_of[le16(value)];

            if (metric)
                fn(arg, metric - 1, node, le_f64(value + 2));
        }
    }
}

/* ---- identity ---- */

#define NOT_A_THREAD UINT32_MAX

/* GPU streams and the like are numbered behind the threads, within their rank. */
static void number_others(struct hpct *h)
{
    struct map next = {0}; /* rank -> number */
    uint32_t first = 0;

    vec_foreach(i, &h->profiles) {
        uint32_t thread = *i == HQDB_NONE ? NOT_A_THREAD : import_profile_at(h->im, *i)->thread;

        if (thread != NOT_A_THREAD && thread >= first)
            first = thread + 1;
    }
    vec_foreach(i, &h->profiles) {
        struct model_profile *p = *i == HQDB_NONE ? NULL : import_profile_at(h->im, *i);

        if (p && p->thread == NOT_A_THREAD)
            p->thread = (uint32_t)(*map_insert(&next, (uint64_t)(p->rank + 1), first, NULL))++;
    }
    map_deinit(&next);
}

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

struct survey {
    double total;
    bool fractions;
};

static void survey_value(void *arg, uint32_t metric, uint32_t node, double value)
{
    struct survey *s = (struct survey *)arg + metric;

    (void)node;
    s->total = fmax(s->total, fabs(value));
    s->fractions |= value != floor(value);
}

/* "REALTIME (sec)" is REALTIME in seconds. */
static uint32_t make_metric(struct hpct *h, const struct hpct_metric *m, double scale)
{
    static const struct {
        const char *suffix;
        enum hqm_dimension dimension;
    } units[] = {
        {" (sec)", HQM_DIM_SECONDS},
        {" (s)", HQM_DIM_SECONDS},
        {" (bytes)", HQM_DIM_BYTES},
        {" (B)", HQM_DIM_BYTES},
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
    bool traced = h->trace.map.data && m == &h->metrics.data[h->traced];
    unsigned flags = HQDB_METRIC_SAMPLED | HQDB_METRIC_NO_COUNTS | (traced ? HQDB_METRIC_TRACED : 0);
    /* Only of time: how many events a sample of the trace stands for is not in the format. */
    double period = traced && dimension == HQM_DIM_SECONDS ? round((double)h->period_ns * 1e-9 / scale) : 0;

    return import_metric(h->im, event, "from an HPCToolkit database", dimension, flags, (uint64_t)period, scale);
}

/*
 * Whole units of a power of ten: differences of rounded sums are then exact to a unit or two. Above one only where the
 * values of all profiles could not be counted otherwise.
 */
static double scale_for(double total, bool whole, double profiles)
{
    double digits = 0;

    while (!whole && digits < 9 && total * pow(10, digits + 1) < 0x1p50)
        digits++;
    while (total * pow(10, digits) >= 0x1p60 / profiles)
        digits--;
    return pow(10, -digits);
}

/* The metric that the traces show: what a clock sampled, or else the first that has values. */
static uint32_t traced_metric(const struct hpct *h, const struct survey *surveys)
{
    uint32_t first = HQDB_NONE;

    for (uint32_t m = 0; m < h->metrics.len; m++) {
        const char *name = h->metrics.data[m].name;

        if (surveys[m].total == 0)
            continue;
        if (strncmp(name, "REALTIME", 8) == 0 || strncmp(name, "CPUTIME", 7) == 0)
            return m;
        first = first == HQDB_NONE ? m : first;
    }
    return first == HQDB_NONE ? 0 : first;
}

static void make_metrics(struct hpct *h, const struct block *blocks, size_t count)
{
    AUTO_FREE struct survey *surveys = xcalloc(h->metrics.len + 1, sizeof *surveys);
    size_t empty = 0;

    for (size_t i = 0; i < count; i++)
        each_value(h, &blocks[i], survey_value, surveys);
    h->traced = traced_metric(h, surveys);
    for (size_t m = 0; m < h->metrics.len; m++) {
        const struct survey *s = &surveys[m];

        vec_push(&h->scales, scale_for(s->total, !s->fractions, (double)(count + 1)));
        empty += s->total == 0;
        vec_push(&h->metric_ids, s->total == 0 ? HQDB_NONE : make_metric(h, &h->metrics.data[m], h->scales.data[m]));
    }
    AUTO_FREE char *text = xasprintf("%zu of %zu metrics, which have no values", empty, h->metrics.len);

    if (empty)
        import_fact(h->im, "left out", text);
}

/* ---- values ---- */

struct entry {
    uint32_t metric, node;
    int64_t value;
};

struct raw {
    struct hpct *h;
    struct {
        struct entry *data;
        size_t len, cap;
    } entries;          /* of one profile */
    int64_t *inside;    /* [nodes] what the children propagate to the node; 0 between metrics */
    uint32_t *children; /* [nodes] how many do */
    int64_t *lost;      /* [metrics] values of contexts that meta.db does not have */
};

static void take_value(void *arg, uint32_t metric, uint32_t node, double value)
{
    struct raw *r = arg;
    int64_t x = llround(value / r->h->scales.data[metric]);

    if (node == HQDB_NONE)
        r->lost[metric] += x;
    else if (x)
        vec_push(&r->entries, (struct entry){metric, node, x});
}

static int compare_entries(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    int c = (a->metric > b->metric) - (a->metric < b->metric);

    return c ? c : (a->node > b->node) - (a->node < b->node);
}

static bool propagates(const struct hpct_metric *m, const struct hpct_node *n)
{
    return n->parent != HQDB_NONE && (m->propagates_always || (m->propagation & n->propagation));
}

/*
 * The values of one metric. What is left of rounding is nothing; so is less than nothing, as where a file has no values
 * of the global context.
 */
static void give_metric(struct raw *r, uint32_t profile, const struct entry *entries, size_t count)
{
    struct hpct *h = r->h;
    const struct hpct_metric *m = &h->metrics.data[entries->metric];
    double scale = h->scales.data[entries->metric];

    for (size_t i = 0; i < count; i++) {
        const struct hpct_node *n = &h->nodes.data[entries[i].node];

        if (!propagates(m, n))
            continue;
        r->inside[n->parent] += entries[i].value;
        r->children[n->parent]++;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t node = entries[i].node;
        int64_t rest = entries[i].value - r->inside[node], rounding = scale < 1 ? r->children[node] : 0;

        if (rest > rounding)
            import_value(h->im, profile, h->metric_ids.data[entries->metric], hpct_frame(h, node), rest, 0);
    }
    for (size_t i = 0; i < count; i++)
        if (propagates(m, &h->nodes.data[entries[i].node])) {
            r->inside[h->nodes.data[entries[i].node].parent] = 0;
            r->children[h->nodes.data[entries[i].node].parent] = 0;
        }
}

static void give_values(struct raw *r, const struct block *b, uint32_t profile)
{
    struct hpct *h = r->h;

    vec_clear(&r->entries);
    memset(r->lost, 0, h->metrics.len * sizeof *r->lost);
    each_value(h, b, take_value, r);
    /* Values of execution are in the contexts above, too. */
    for (uint32_t m = 0; m < h->metrics.len; m++)
        if (r->lost[m] && !h->metrics.data[m].propagates_always)
            import_value(h->im, profile, h->metric_ids.data[m], hpct_frame(h, 0), r->lost[m], 0);
    vec_sort(&r->entries, compare_entries);
    for (size_t i = 0, end; i < r->entries.len; i = end) {
        for (end = i + 1; end < r->entries.len && r->entries.data[end].metric == r->entries.data[i].metric;)
            end++;
        give_metric(r, profile, &r->entries.data[i], end - i);
    }
}

static bool sampled_threads(const struct hpct *h, const struct block *blocks)
{
    for (size_t i = 0; i < h->profiles.len; i++)
        if (blocks[i].context_count)
            return true;
    return false;
}

/* hpcprof can be told to leave the threads out: then their sums are all that there is. */
static void take_summary(struct hpct *h, struct block *blocks, const struct block *summary)
{
    if (!summary->context_count || !h->sums.len)
        return;
    vec_clear(&h->metrics);
    vec_foreach(m, &h->sums)
        vec_push(&h->metrics, *m);
    blocks[0] = *summary;
    h->profiles.data[0] = import_profile(h->im, 0, 0, 0, h->title);
    import_fact(h->im, "HPCToolkit profiles", "only sums over all threads");
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
    struct block summary = {0};

    cursor_array(&all, count ? count - 1 : 0, stride);
    HQ_TRY(cursor_error(&c));
    HQ_TRY(cursor_error(&all));
    *blocks = xcalloc((size_t)count + 1, sizeof **blocks);
    for (uint32_t i = 0; i < count && cursor_ok(&c); i++) {
        cursor_seek(&c, infos + (uint64_t)i * stride);
        struct block b = read_block(h, &c);
        uint64_t tuple = cursor_u64(&c);
        bool is_summary = cursor_u32(&c) & IS_SUMMARY;

        vec_push(&h->profiles, HQDB_NONE);
        if (i == 0) {
            h->valued_contexts = b.context_count;
            summary = b;
        }
        if (is_summary || !cursor_ok(&c))
            continue;
        (*blocks)[i] = b;
        vec_last(&h->profiles) = import_profile(h->im, 0, 0, NOT_A_THREAD, h->title);
        if (tuple)
            read_identity(h, tuple, i, &c);
    }
    if (!cursor_ok(&c))
        return cursor_error(&c);
    if (!sampled_threads(h, *blocks))
        take_summary(h, *blocks, &summary);
    number_others(h);
    return NULL;
}

struct hq_error *hpct_read_profiles(struct hpct *h)
{
    AUTO_FREE struct block *blocks = NULL;
    struct raw r = {.h = h};

    HQ_TRY(read_headers(h, &blocks));
    if (h->trace.map.data)
        HQ_TRY(hpct_trace_period(h, &h->period_ns));
    AUTO_FREE char *found = xasprintf("%zu in the tree, %u with values", h->nodes.len - 1, h->valued_contexts);
    make_metrics(h, blocks, h->profiles.len);
    import_fact(h->im, "HPCToolkit contexts", found);
    r.inside = xcalloc(h->nodes.len, sizeof *r.inside);
    r.children = xcalloc(h->nodes.len, sizeof *r.children);
    r.lost = xcalloc(h->metrics.len + 1, sizeof *r.lost);
    for (size_t i = 0; i < h->profiles.len; i++)
        if (h->profiles.data[i] != HQDB_NONE)
            give_values(&r, &blocks[i], h->profiles.data[i]);
    vec_deinit(&r.entries);
    free(r.inside);
    free(r.children);
    free(r.lost);
    return NULL;
}
