/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/select.h"
#include "query/derive.h"
#include "query/grammar/parse.h"
#include "query/paths.h"
#include "query/query.h"
#include "query/slices.h"

/* ---- measures ---- */

static void add_measures(struct selection *s, const struct db *db, enum metric_side side)
{
    for (size_t i = 0; i < db->metric_count; i++) {
        const struct hqdb_metric *m = &db->metrics[i];

        vec_push(&s->measures, (struct measure){
            .name = db_string(db, m->name), .event = db_string(db, m->event), .description = db_string(db, m->description),
            .dim = m->dimension <= DIM_BYTES ? (enum dim)m->dimension : DIM_NONE, .scale = m->scale, .flags = m->flags,
            .period = m->period, .metric = (uint32_t)i, .side = side, .here_measure = SIZE_MAX, .old_measure = SIZE_MAX,
        });
    }
}

static size_t measure_named(const struct selection *s, const char *name, enum metric_side side)
{
    for (size_t i = 0; i < s->measures.len; i++)
        if (s->measures.data[i].side == side && !strcmp(s->measures.data[i].name, name))
            return i;
    return SIZE_MAX;
}

/* With `compare with`: the metrics of the other side, and for each name the difference. */
static void add_compared(struct selection *s)
{
    size_t both;

    add_measures(s, s->tree.old, SIDE_OLD);
    both = s->measures.len;
    for (size_t i = 0; i < both; i++) {
        struct measure m = s->measures.data[i];

        if (m.side == SIDE_OLD && measure_named(s, m.name, SIDE_HERE) != SIZE_MAX)
            continue;
        m.here_measure = m.side == SIDE_HERE ? i : SIZE_MAX;
        m.old_measure = m.side == SIDE_OLD ? i : measure_named(s, m.name, SIDE_OLD);
        m.side = SIDE_DELTA;
        vec_push(&s->measures, m);
    }
}

/* ---- sums ---- */

/* Per frame of one database: what the selected profiles and slices have, or NULL if that is everything. */
static struct hq_error *raw_values(struct selection *s, const struct db *db, uint32_t metric, int64_t **sums, int64_t **counts)
{
    *sums = *counts = NULL;
    if (db == s->tree.old || (!s->profiles && !s->sliced))
        return NULL;
    *sums = xcalloc(db->frame_count + 1, sizeof **sums);
    *counts = xcalloc(db->frame_count + 1, sizeof **counts);
    if (s->sliced)
        return slices_values(s, metric, *sums, *counts);
    for (uint32_t p = 0; p < db->profile_count; p++) {
        struct db_values v = db_profile_values(db, p, metric);
        struct db_value x;

        if (!selection_has_profile(s, p))
            continue;
        if (s->interrupted && *s->interrupted)
            return hq_error_new(QUERY_INTERRUPTED, "interrupted");
        while (db_value_next(&v, &x))
            if (x.frame < db->frame_count) {
                sum_add(&(*sums)[x.frame], x.sum);
                sum_add(&(*counts)[x.frame], (int64_t)x.count);
            }
    }
    return NULL;
}

static int64_t difference(const int64_t *prefix, size_t i)
{
    return (int64_t)((uint64_t)prefix[i + 1] - (uint64_t)prefix[i]);
}

/* Adds one side's frames at their positions; position i + 1 holds frame i's value until accumulate. */
static void place_values(const struct selection *s, const struct db *db, uint32_t metric, const int64_t *sums, const int64_t *counts,
                         struct measure *m)
{
    const uint8_t *keep = db == s->tree.old ? s->old_keep : s->keep;
    const uint32_t *position = db == s->tree.old ? s->tree.old_position : s->tree.position;

    for (size_t i = 0; i < db->frame_count; i++) {
        int64_t sum = sums ? sums[i] : difference(db->sums[metric], i);
        int64_t count = counts ? counts[i] : difference(db->counts[metric], i);
        size_t at = position ? position[i] : i;

        sum_add(&m->total, sum);
        sum_add(&m->total_count, count);
        if ((keep && !keep[i]) || at >= s->tree.position_count)
            continue;
        sum_add(&m->own_sums[at + 1], sum);
        sum_add(&m->own_counts[at + 1], count);
    }
}

static void accumulate(int64_t *prefix, size_t n)
{
    for (size_t i = 0; i < n; i++)
        prefix[i + 1] = (int64_t)((uint64_t)prefix[i + 1] + (uint64_t)prefix[i]);
}

static struct hq_error *load_delta(struct selection *s, size_t measure)
{
    struct measure m = s->measures.data[measure];

    if (m.here_measure != SIZE_MAX)
        HQ_TRY(selection_load(s, m.here_measure));
    if (m.old_measure != SIZE_MAX)
        HQ_TRY(selection_load(s, m.old_measure));
    return NULL;
}

struct hq_error *selection_load(struct selection *s, size_t measure)
{
    struct measure *m = &s->measures.data[measure];
    const struct db *db = m->side == SIDE_OLD ? s->tree.old : s->tree.db;
    size_t n = s->tree.position_count;
    AUTO_FREE int64_t *sums = NULL;
    AUTO_FREE int64_t *counts = NULL;

    if (m->sums)
        return NULL;
    if (m->side == SIDE_DELTA)
        return load_delta(s, measure);
    if (selection_is_plain(s)) {
        m->sums = db->sums[m->metric];
        m->counts = db->counts[m->metric];
        m->total = m->sums[n];
        m->total_count = m->counts[n];
        return NULL;
    }
    HQ_TRY(raw_values(s, db, m->metric, &sums, &counts));
    m->own_sums = xcalloc(n + 1, sizeof *m->own_sums);
    m->own_counts = xcalloc(n + 1, sizeof *m->own_counts);
    m->total = m->total_count = 0;
    place_values(s, db, m->metric, sums, counts, m);
    accumulate(m->own_sums, n);
    accumulate(m->own_counts, n);
    m->sums = m->own_sums;
    m->counts = m->own_counts;
    return NULL;
}

bool selection_is_plain(const struct selection *s)
{
    return !s->profiles && !s->sliced && !s->keep && !s->tree.position && !s->tree.old;
}

/* ---- profiles ---- */

static bool in_ranges(const number_ranges *ranges, int64_t number)
{
    for (size_t i = 0; i < ranges->len; i++)
        if (number >= ranges->data[i].first && number <= ranges->data[i].last)
            return true;
    return ranges->len == 0;
}

/* `rank` and `thread` are the same words as `ranks` and `threads`; threads are numbered within their process. */
static void select_profiles(struct selection *s, const struct query *q)
{
    const struct db *db = s->tree.db;

    s->profile_count = db->profile_count;
    if (!q || (!q->ranks.len && !q->threads.len))
        return;
    s->profiles = xcalloc(db->profile_count + 1, 1);
    s->profile_count = 0;
    for (size_t i = 0; i < db->profile_count; i++) {
        s->profiles[i] = in_ranges(&q->ranks, db->profiles[i].rank) && in_ranges(&q->threads, db->profiles[i].thread);
        s->profile_count += s->profiles[i];
    }
}

/* ---- the whole ---- */

struct hq_error *selection_make(struct query_env *env, const struct query *q, struct selection *out)
{
    const struct db *db;

    *out = (struct selection){.interrupted = env->interrupted, .old_scale = q ? q->scale : 1};
    HQ_TRY(derive_settings(env, env->db, &db));
    tree_init(&out->tree, db);
    add_measures(out, db, SIDE_HERE);
    out->here_count = out->measures.len;
    if (!q) {
        out->profile_count = db->profile_count;
        return NULL;
    }
    select_profiles(out, q);
    HQ_TRY(slices_select(env, out, q));
    HQ_TRY(paths_select(env, out, q));
    HQ_TRY(derive_tree(env, out, q));
    if (out->tree.old)
        add_compared(out);
    return NULL;
}

void selection_deinit(struct selection *s)
{
    for (size_t i = 0; i < s->measures.len; i++) {
        free(s->measures.data[i].own_sums);
        free(s->measures.data[i].own_counts);
    }
    vec_deinit(&s->measures);
    vec_deinit(&s->slices);
    free(s->profiles);
    free(s->keep);
    free(s->old_keep);
    free(s->slice_text);
    vec_foreach (note, &s->notes)
        free(*note);
    vec_deinit(&s->notes);
    tree_deinit(&s->tree);
}
