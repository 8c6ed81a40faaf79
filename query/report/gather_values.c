/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of a page: sums and samples by position, values by profile, traces. */
#include "query/report/gather.h"
#include "common/numbers.h"
#include "query/choose/timeline.h"
#include <inttypes.h>

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

static int64_t step(const int64_t *prefix, uint32_t i)
{
    return (int64_t)((uint64_t)prefix[i + 1] - (uint64_t)prefix[i]);
}

/* Returns the greatest common divisor of all values of a measure: without it, periods would be many zeros in the
 * file. */
static uint64_t unit_of(const struct gathering *g, size_t measure)
{
    const struct measure *m = &g->run.selection.measures.data[measure];
    uint64_t unit = m->period;

    for (uint32_t i = 0; i < g->run.tree->position_count && unit != 1; i++)
        unit = common_divisor(unit, magnitude(step(m->sums, i)));
    for (uint32_t p = 0; m->side == SIDE_HERE && p < gather_db(g)->profile_count && unit != 1; p++) {
        struct db_values v = db_profile_values(gather_db(g), p, m->metric);
        struct db_value x;

        while (unit != 1 && db_value_next(&v, &x))
            unit = common_divisor(unit, magnitude(x.sum));
    }
    return unit ? unit : 1;
}

static void add_column(struct gathering *g, const char *name, size_t measure, const int64_t *prefix, int64_t unit)
{
    char text[32];

    snprintf(text, sizeof text, "%s%zu", name, measure);
    pack_begin(&g->pack, text);
    for (uint32_t i = 0; i < g->run.tree->position_count; i++)
        pack_add_signed(&g->pack, step(prefix, i) / unit);
    pack_end(&g->pack);
}

struct hq_error *gather_sums(struct gathering *g)
{
    struct selection *s = &g->run.selection;

    str_add(&g->json, "\"sums\":[");
    for (size_t i = 0; i < s->measures.len; i++) {
        struct measure *m = &s->measures.data[i];

        HQ_TRY(selection_load(s, i));
        if (m->side == SIDE_DELTA) {
            str_addf(&g->json, "%snull", i ? "," : "");
            continue;
        }
        uint64_t unit = unit_of(g, i);

        str_addf(&g->json, "%s{\"unit\":%" PRIu64 ",\"total\":\"%" PRId64 "\",\"samples\":%" PRId64 "}", i ? "," : "",
                 unit, m->total, m->total_count);
        add_column(g, "sum", i, m->sums, (int64_t)unit);
        add_column(g, "count", i, m->counts, 1);
    }
    str_add(&g->json, "],");
    return NULL;
}

/* ---- profiles ---- */

struct placed {
    uint32_t at;
    int64_t sum;
    uint64_t count;
};
typedef VEC(struct placed) placed_values;

static int by_place(const void *a, const void *b)
{
    uint32_t x = ((const struct placed *)a)->at, y = ((const struct placed *)b)->at;

    return x < y ? -1 : x > y;
}

/* A profile's values of a metric in the order of their positions, one for each. */
static void place(const struct gathering *g, const uint32_t *moved, uint32_t profile, uint32_t metric,
                  placed_values *out)
{
    const struct tree *t = g->run.tree;
    struct db_values v = db_profile_values(t->db, profile, metric);
    struct db_value x;
    size_t n = 0;

    vec_clear(out);
    while (db_value_next(&v, &x)) {
        uint32_t at = x.frame < t->db->frame_count ? (t->position ? t->position[x.frame] : x.frame) : UINT32_MAX;

        if (at < t->position_count)
            vec_push(out, (struct placed){moved ? moved[at] : at, x.sum, x.count});
    }
    vec_sort(out, by_place);
    for (size_t i = 1; i < out->len; i++) {
        if (out->data[i].at != out->data[n].at) {
            out->data[++n] = out->data[i];
            continue;
        }
        sum_add(&out->data[n].sum, out->data[i].sum);
        out->data[n].count += out->data[i].count;
    }
    out->len = out->len ? n + 1 : 0;
}

/* The unit that gather_sums found once more: what divides is known from the first time. */
static void add_profile(struct gathering *g, const placed_values *values, int64_t unit)
{
    uint32_t last = 0;

    pack_add(&g->pack, values->len);
    vec_foreach(v, values) {
        pack_add(&g->pack, v->at - last);
        pack_add(&g->pack, v->count);
        pack_add_signed(&g->pack, v->sum / unit - (int64_t)v->count);
        last = v->at;
    }
}

/* Where each position's value goes: those within a small call to its first. Tells which calls these are. */
static uint32_t *move_small(struct gathering *g, double share)
{
    const struct tree *t = g->run.tree;
    AUTO_FREE uint32_t *top = share > 0 ? small_tops(g, share) : NULL;
    uint32_t *moved = top ? xmalloc(((size_t)t->position_count + 1) * sizeof *moved) : NULL, last = 0;

    pack_begin(&g->pack, "coarse");
    for (uint32_t p = 0; moved && p < t->position_count; p++)
        moved[p] = p;
    for (uint32_t c = 0; top && c < t->context_count; c++) {
        struct db_range r = tree_range(t, c);

        if (top[c] != c || r.last <= r.first + 1)
            continue;
        pack_add(&g->pack, c - last); /* never 0: the root is no call */
        last = c;
        for (uint32_t p = r.first; p < r.last; p++)
            moved[p] = r.first;
    }
    pack_add(&g->pack, 0);
    pack_end(&g->pack);
    return moved;
}

void gather_profiles(struct gathering *g, double share)
{
    const struct selection *s = &g->run.selection;
    AUTO_FREE uint32_t *moved = move_small(g, share);
    placed_values values = {0};

    for (size_t m = 0; m < s->here_count; m++) {
        int64_t unit = (int64_t)unit_of(g, m);
        char name[32];

        snprintf(name, sizeof name, "profile%zu", m);
        pack_begin(&g->pack, name);
        for (uint32_t p = 0; p < gather_db(g)->profile_count; p++) {
            place(g, moved, p, s->measures.data[m].metric, &values);
            add_profile(g, &values, unit);
        }
        pack_end(&g->pack);
    }
    vec_deinit(&values);
}

/* ---- traces ---- */

uint64_t gather_trace_records(const struct gathering *g)
{
    uint64_t all = 0;

    for (uint32_t p = 0; p < gather_db(g)->profile_count; p++) {
        struct db_trace_reader *reader;
        uint64_t records, first, last;
        AUTO_ERROR struct hq_error *error = db_trace_open(gather_db(g), p, &reader);

        if (error)
            continue;
        if (db_trace_extent(reader, &records, &first, &last))
            all += records;
        db_trace_close(reader);
    }
    return all;
}

static struct hq_error *add_trace(struct gathering *g, uint32_t profile, uint32_t every)
{
    const struct tree *t = g->run.tree;
    VEC(struct db_trace_record) kept = {0};
    struct db_trace_reader *reader;
    struct db_trace_record r, last = {.weight = 1};
    uint64_t n = 0;

    HQ_TRY(db_trace_open(t->db, profile, &reader));
    while (db_trace_next(reader, &r))
        if (n++ % every == every / 2)
            vec_push(&kept, r);
    db_trace_close(reader);
    pack_add(&g->pack, kept.len);
    vec_foreach(k, &kept) {
        bool changed = k->metric != last.metric || k->weight != last.weight;
        uint32_t at = k->frame < t->db->frame_count ? (t->position ? t->position[k->frame] : k->frame) : 0;

        k->frame = at < t->position_count ? at : 0;
        pack_add_signed(&g->pack, (int64_t)(k->time_us - last.time_us));
        pack_add_signed(&g->pack, ((int64_t)k->frame - last.frame) * 2 + changed);
        if (changed) {
            pack_add(&g->pack, k->metric);
            pack_add(&g->pack, k->weight);
        }
        last = *k;
    }
    vec_deinit(&kept);
    return NULL;
}

struct hq_error *gather_traces(struct gathering *g, uint32_t every)
{
    pack_begin(&g->pack, "trace");
    for (uint32_t p = 0; p < gather_db(g)->profile_count; p++)
        HQ_TRY(add_trace(g, p, every));
    pack_end(&g->pack);
    return NULL;
}
