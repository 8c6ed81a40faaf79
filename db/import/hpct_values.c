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
#include "common/str.h"
#include <math.h>
#include <string.h>

enum { ZEROS_MOST = 32, VALUE_BYTES = 10, INDEX_BYTES = 12, PROFILE_BYTES = 0x2c };
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
    return x;
}

/* Contexts and the values of each are sorted, and zeros are left out: what a disk lost is neither. */
static bool is_in_order(const struct block *b)
{
    uint64_t at = 0;
    unsigned zeros = 0;

    for (uint32_t i = 0; i < b->context_count; i++) {
        const uint8_t *x = b->contexts + (size_t)i * INDEX_BYTES;
        bool is_last = i + 1 == b->context_count;
        uint64_t end = is_last ? b->value_count : le64(x + INDEX_BYTES + 4);

        if (le64(x + 4) != at || end <= at || end > b->value_count || (!is_last && le32(x + INDEX_BYTES) <= le32(x)))
            return false;
        for (; at < end; at++) {
            const uint8_t *value = b->values + at * VALUE_BYTES;

            zeros = le64(value) | le16(value + 8) ? 0 : zeros + 1;
            if (zeros == ZEROS_MOST || (at > le64(x + 4) && le16(value) <= le16(value - VALUE_BYTES)))
                return false;
        }
    }
    return true;
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

        for (; at < end; at++) {
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
            p->thread = (uint32_t)(*map_insert(&next, (uint64_t)((int64_t)p->rank + 1), first, NULL))++;
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

        if (!strcmp(name, "NODE")) {
            /* Its identifier is no name: nodes are numbered as they come. */
            uint64_t number = *map_insert(&h->node_numbers, flags & IS_PHYSICAL ? physical : logical,
                                          h->node_numbers.len, NULL);
            AUTO_FREE char *host = xasprintf("node %llu", (unsigned long long)number);
            p->host = import_keep(h->im, host);
        } else if (!strcmp(name, "RANK")) {
            p->rank = (int32_t)logical;
        } else if (!strcmp(name, "THREAD")) {
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
    bool fractions, bad;
};

static void survey_value(void *arg, uint32_t metric, uint32_t node, double value)
{
    struct survey *s = (struct survey *)arg + metric;

    (void)node;
    s->total = fmax(s->total, fabs(value));
    s->fractions |= value != floor(value);
    s->bad |= !isfinite(value);
}

/* "REALTIME (sec)" is REALTIME in seconds. */
static uint32_t make_metric(struct hpct *h, const struct hpct_metric *m, double scale, double total)
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

        if (n > k && !strcmp(m->name + n - k, units[i].suffix)) {
            n -= k;
            dimension = units[i].dimension;
            break;
        }
    }
    AUTO_FREE char *event = xstrndup(m->name, n);
    bool traced = h->trace.map.data && m == &h->metrics.data[h->traced];
    unsigned flags = HQDB_METRIC_SAMPLED | HQDB_METRIC_NO_COUNTS |
                     (traced ? HQDB_METRIC_TRACED | HQDB_METRIC_SPANS : 0);

    /* Weights are values: in units that leave room for a record that has all. */
    for (h->trace_unit = 1; traced && total / scale / (double)h->trace_unit >= 0x1p31;)
        h->trace_unit *= 10;
    h->traced_seconds |= traced && dimension == HQM_DIM_SECONDS;
    return import_metric(h->im, event, "from an HPCToolkit database", dimension, flags, traced ? h->trace_unit : 0,
                         scale);
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
        if (str_begins(name, "REALTIME") || str_begins(name, "CPUTIME"))
            return m;
        first = first == HQDB_NONE ? m : first;
    }
    return first == HQDB_NONE ? 0 : first;
}

static struct hq_error *make_metrics(struct hpct *h, const struct block *blocks, size_t count)
{
    AUTO_FREE struct survey *surveys = xcalloc(h->metrics.len + 1, sizeof *surveys);
    size_t empty = 0;

    for (size_t i = 0; i < count; i++)
        each_value(h, &blocks[i], survey_value, surveys);
    h->traced = traced_metric(h, surveys);
    for (size_t m = 0; m < h->metrics.len; m++) {
        const struct survey *s = &surveys[m];

        if (s->bad)
            return hq_error_new(HQ_DATA, "%s: a value of %s is no number", h->profile.map.path,
                                h->metrics.data[m].name);
        vec_push(&h->scales, scale_for(s->total, !s->fractions, (double)(count + 1)));
        empty += s->total == 0;
        vec_push(&h->metric_ids,
                 s->total == 0 ? HQDB_NONE : make_metric(h, &h->metrics.data[m], h->scales.data[m], s->total));
    }
    AUTO_FREE char *text = xasprintf("%zu of %zu metrics, which have no values", empty, h->metrics.len);

    if (empty)
        import_fact(h->im, "left out", text);
    return NULL;
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
    bool overflow;      /* a sum of them does not fit */
};

static void take_value(void *arg, uint32_t metric, uint32_t node, double value)
{
    struct raw *r = arg;
    int64_t x = llround(value / r->h->scales.data[metric]);

    if (node == HQDB_NONE)
        r->overflow |= __builtin_add_overflow(r->lost[metric], x, &r->lost[metric]);
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

static void give_value(struct hpct *h, uint32_t profile, uint32_t metric, uint32_t node, int64_t value)
{
    import_value(h->im, profile, h->metric_ids.data[metric], hpct_frame(h, node), value, 0);
    if (metric == h->traced)
        h->traced_totals[profile] += value;
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
        r->overflow |= __builtin_add_overflow(r->inside[n->parent], entries[i].value, &r->inside[n->parent]);
        r->children[n->parent]++;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t node = entries[i].node;
        int64_t rest, rounding = scale < 1 ? r->children[node] : 0;

        r->overflow |= __builtin_sub_overflow(entries[i].value, r->inside[node], &rest);
        if (rest > rounding)
            give_value(h, profile, entries->metric, node, rest);
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
            give_value(h, profile, m, 0, r->lost[m]);
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

/* Blocks do not share bytes, so all of them fit into the file: else a small one could hold any number of values. */
static bool blocks_fit(const struct hpct *h, const struct block *b, uint64_t *bytes)
{
    *bytes += (uint64_t)b->value_count * VALUE_BYTES + (uint64_t)b->context_count * INDEX_BYTES;
    return *bytes <= h->profile.map.size;
}

static struct hq_error *read_headers(struct hpct *h, struct block **blocks)
{
    struct cursor c;
    uint64_t bytes = 0;

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

        if (cursor_ok(&c) && !blocks_fit(h, &b, &bytes))
            cursor_fail(&c, "has profiles that share their values");
        else if (cursor_ok(&c) && !is_in_order(&b))
            cursor_fail(&c, "has values that are not in order, or zeros where values were");
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
    AUTO_FREE char *found = xasprintf("%zu in the tree, %u with values", h->nodes.len - 1, h->valued_contexts);
    HQ_TRY(make_metrics(h, blocks, h->profiles.len));
    import_fact(h->im, "HPCToolkit contexts", found);
    h->traced_totals = xcalloc(h->im->profiles.len + 1, sizeof *h->traced_totals);
    r.inside = xcalloc(h->nodes.len, sizeof *r.inside);
    r.children = xcalloc(h->nodes.len, sizeof *r.children);
    r.lost = xcalloc(h->metrics.len + 1, sizeof *r.lost);
    struct hq_error *error = NULL;

    for (size_t i = 0; i < h->profiles.len && !error; i++) {
        if (h->profiles.data[i] != HQDB_NONE)
            give_values(&r, &blocks[i], h->profiles.data[i]);
        if (r.overflow || import_problem(h->im))
            error = hq_error_new(HQ_DATA, "%s: profile %zu: %s", h->profile.map.path, i,
                                 r.overflow ? "its values add up to more than 2^63, which cannot be counted"
                                            : import_problem(h->im));
    }
    vec_deinit(&r.entries);
    free(r.inside);
    free(r.children);
    free(r.lost);
    return error;
}
