/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/select.h"
#include "db/facts.h"
#include "query/choose/derive.h"
#include "query/grammar/parse.h"
#include "query/choose/metrics.h"
#include "query/choose/paths.h"
#include "query/query.h"
#include "query/choose/slices.h"

/* ---- measures ---- */

/* Returns the mean value of a sample of CPUTIME, of which threads may have samples of different weight; 0 for other
 * metrics. */
static double weight_of(const struct db *db, const struct hqdb_metric *m)
{
    bool sampled = m->flags & HQDB_METRIC_SAMPLED && !strcmp(db_string(db, m->event), "CPUTIME");

    return sampled ? (double)facts_number(db, FACT_WEIGHT) * 1e-6 / m->scale : 0;
}

static void add_measures(struct selection *s, const struct db *db, enum metric_side side)
{
    for (size_t i = 0; i < db->metric_count; i++) {
        const struct hqdb_metric *m = &db->metrics[i];

        vec_push(&s->measures, (struct measure){
                                   .name = db_string(db, m->name),
                                   .event = db_string(db, m->event),
                                   .description = db_string(db, m->description),
                                   .dim = m->dimension <= DIM_BYTES ? (enum dim)m->dimension : DIM_NONE,
                                   .scale = m->scale,
                                   .flags = m->flags,
                                   .period = m->period,
                                   .weight = weight_of(db, m),
                                   .metric = (uint32_t)i,
                                   .side = side,
                                   .here_measure = SIZE_MAX,
                                   .old_measure = SIZE_MAX,
                                   .factor = 1,
                                   .share_of = SIZE_MAX,
                               });
    }
}

/* Gives the old side's metric m the name and unit of the metric that it is compared with. */
static void rename_old(struct selection *s, struct measure *m, struct metric_partner here, const struct query *q)
{
    const struct measure *h = &s->measures.data[here.measure];
    bool shares = !here.same_unit && !q->given[CLAUSE_SCALED].line;
    AUTO_STR struct str note = {0};

    if (strcmp(m->name, h->name) || shares) {
        m->was = m->name;
        str_addf(&note, "%s is compared with %s of the other database", h->name, m->name);
        if (shares)
            str_addf(&note,
                     ", whose unit is another: its total is made that of %s, so that shares are compared "
                     "(`scaled by X` says what one is worth)",
                     h->name);
        vec_push(&s->notes, xstrdup(str_cstr(&note)));
    }
    m->name = h->name;
    m->dim = h->dim;
    m->share_of = shares ? here.measure : SIZE_MAX;
}

static const char *names_of(const struct selection *s, enum metric_side side, struct str *out)
{
    vec_foreach(m, &s->measures)
        if (m->side == side)
            str_addf(out, "%s%s", out->len ? ", " : "", m->name);
    return out->len ? str_cstr(out) : "no metric";
}

static struct hq_error *nothing_in_common(const struct selection *s, const struct query *q)
{
    AUTO_STR struct str here = {0}, old = {0};

    return place_error(&q->given[CLAUSE_COMPARE], NULL,
                       "there is nothing to compare: this database has %s, the other %s", names_of(s, SIDE_HERE, &here),
                       names_of(s, SIDE_OLD, &old));
}

/* With `compare with`: the metrics of the other side, and for each that is compared the difference. */
static struct hq_error *add_compared(struct selection *s, const struct query *q)
{
    bool any = false;
    size_t both;

    add_measures(s, s->tree.old, SIDE_OLD);
    both = s->measures.len;
    AUTO_FREE struct metric_partner *partner = metrics_pair(s);

    for (size_t i = 0; i < both; i++) {
        struct measure *m = &s->measures.data[i];

        if (m->side == SIDE_OLD)
            m->factor = s->old_factor;
        if (m->side == SIDE_OLD && partner[i].measure != SIZE_MAX)
            rename_old(s, m, partner[i], q);
        any |= partner[i].measure != SIZE_MAX;
    }
    if (!any && s->tree.db->metric_count && s->tree.old->metric_count)
        return nothing_in_common(s, q);
    for (size_t i = 0; i < both; i++) {
        struct measure m = s->measures.data[i];

        if (m.side == SIDE_OLD && partner[i].measure != SIZE_MAX)
            continue;
        m.here_measure = m.side == SIDE_HERE ? i : SIZE_MAX;
        m.old_measure = m.side == SIDE_OLD ? i : partner[i].measure;
        m.was = m.old_measure == SIZE_MAX ? NULL : s->measures.data[m.old_measure].was;
        m.side = SIDE_DELTA;
        vec_push(&s->measures, m);
    }
    return NULL;
}

/* ---- sums ---- */

/* Per frame of one side: what the selected profiles and slices have, or NULL if that is everything. */
static struct hq_error *raw_values(struct selection *s, bool old, uint32_t metric, int64_t **sums, int64_t **counts)
{
    const struct db *db = old ? s->tree.old : s->tree.db;
    const uint8_t *profiles = old ? s->old_profiles : s->profiles;

    *sums = *counts = NULL;
    if (!profiles && !s->sliced && !selection_leaves_out(s, old, metric))
        return NULL;
    *sums = xcalloc(db->frame_count + 1, sizeof **sums);
    *counts = xcalloc(db->frame_count + 1, sizeof **counts);
    if (s->sliced)
        return slices_values(s, metric, *sums, *counts);
    for (uint32_t p = 0; p < db->profile_count; p++) {
        struct db_values v = db_profile_values(db, p, metric);
        struct db_value x;

        if ((profiles && !profiles[p]) || !selection_counts(s, old, p, metric))
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
    return sum_difference(prefix[i + 1], prefix[i]);
}

/* Adds one side's frames at their positions; position i + 1 holds frame i's value until accumulate. */
static void place_values(const struct selection *s, const int64_t *sums, const int64_t *counts, struct measure *m)
{
    bool old = m->side == SIDE_OLD;
    const struct db *db = old ? s->tree.old : s->tree.db;
    const uint8_t *keep = old ? s->old_keep : s->keep;
    const uint32_t *position = old ? s->tree.old_position : s->tree.position, metric = m->metric;

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
        sum_add(&prefix[i + 1], prefix[i]);
}

/* So that the totals are equal. */
static struct hq_error *equalise(struct selection *s, struct measure *m)
{
    const struct measure *here = &s->measures.data[m->share_of];
    double old = scaled_value(m->total, m->scale);

    HQ_TRY(selection_load(s, m->share_of));
    m->factor = old != 0 ? scaled_value(here->total, here->scale) / old : 1;
    return NULL;
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
    if (selection_is_plain(s) && !selection_leaves_out(s, false, m->metric)) {
        m->sums = db->sums[m->metric];
        m->counts = db->counts[m->metric];
        m->total = m->sums[n];
        m->total_count = m->counts[n];
        return NULL;
    }
    HQ_TRY(raw_values(s, m->side == SIDE_OLD, m->metric, &sums, &counts));
    m->own_sums = xcalloc(n + 1, sizeof *m->own_sums);
    m->own_counts = xcalloc(n + 1, sizeof *m->own_counts);
    m->total = m->total_count = 0;
    place_values(s, sums, counts, m);
    accumulate(m->own_sums, n);
    accumulate(m->own_counts, n);
    m->sums = m->own_sums;
    m->counts = m->own_counts;
    return m->share_of == SIZE_MAX ? NULL : equalise(s, m);
}

bool selection_is_plain(const struct selection *s)
{
    return !s->profiles && !s->sliced && !s->keep && !s->tree.position && !s->tree.old;
}

/* ---- profiles ---- */

void selection_find_helpers(struct selection *s)
{
    if (s->helpers_known || s->all_count)
        return;
    s->helpers_known = true;
    helpers_find(s->tree.db, &s->helpers);
    if (s->tree.old)
        helpers_find(s->tree.old, &s->old_helpers);
}

bool selection_leaves_out(const struct selection *s, bool old, uint32_t metric)
{
    return (old ? s->old_helpers.of : s->helpers.of) && metric_is_elapsed(old ? s->tree.old : s->tree.db, metric);
}

bool selection_counts(const struct selection *s, bool old, uint32_t profile, uint32_t metric)
{
    const struct helpers *h = old ? &s->old_helpers : &s->helpers;

    return !h->of || h->of[profile] == STANDS_IN || !metric_is_elapsed(old ? s->tree.old : s->tree.db, metric);
}

static bool in_ranges(const number_ranges *ranges, int64_t number)
{
    for (size_t i = 0; i < ranges->len; i++)
        if (number >= ranges->data[i].first && number <= ranges->data[i].last)
            return true;
    return ranges->len == 0;
}

enum numbered { RANKS, THREADS, QUEUES };
static const char *const numbered_names[] = {"rank", "thread", "queue"};

/* The rank, or the number of a thread or queue within its process; below 0: it is none. */
static int64_t number_of(const struct hqdb_profile *p, enum numbered what)
{
    bool queue = p->thread & HQDB_QUEUE;

    if (what == RANKS)
        return p->rank;
    return queue == (what == QUEUES) ? (int64_t)(p->thread & ~HQDB_QUEUE) : -1;
}

static bool selects_any(const struct db *db, struct number_range range, enum numbered what)
{
    number_ranges one = {.data = &range, .len = 1};

    for (size_t i = 0; i < db->profile_count; i++)
        if (in_ranges(&one, number_of(&db->profiles[i], what)))
            return true;
    return false;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

enum { RANGES_TOLD = 8 };

/* "0-3, 7", of the ranks, threads or queues that there are; empty if there are none. */
static void add_existing(struct str *out, const struct db *db, enum numbered what)
{
    AUTO_FREE int64_t *numbers = xcalloc(db->profile_count + 1, sizeof *numbers);
    size_t n = 0, last;
    int told = 0;

    for (size_t i = 0; i < db->profile_count; i++)
        if (number_of(&db->profiles[i], what) >= 0)
            numbers[n++] = number_of(&db->profiles[i], what);
    qsort(numbers, n, sizeof *numbers, by_number);
    for (size_t i = 0; i < n; i = last + 1) {
        str_add(out, told ? ", " : "");
        for (last = i; last + 1 < n && numbers[last + 1] <= numbers[last] + 1;)
            last++;
        if (told++ == RANGES_TOLD) {
            str_add(out, "...");
            return;
        }
        str_addf(out, "%lld", (long long)numbers[i]);
        if (numbers[last] > numbers[i])
            str_addf(out, "-%lld", (long long)numbers[last]);
    }
}

/* A rank, thread or queue that no profile has is like a pattern that matches nothing. */
static struct hq_error *look_for_missing(struct query_env *env, struct selection *s, const number_ranges *ranges,
                                         const struct place *place, enum numbered what)
{
    const struct db *db = s->tree.db;

    for (size_t i = 0; i < ranges->len; i++) {
        struct number_range r = ranges->data[i];
        AUTO_STR struct str text = {0}, there = {0};

        if (selects_any(db, r, what))
            continue;
        str_addf(&text, r.last > r.first ? "there are no %ss %u-%u" : "there is no %s %u", numbered_names[what],
                 r.first, r.last);
        add_existing(&there, db, what);
        if (!there.len)
            str_add(&text, what == QUEUES ? ": no queue of a device was measured"
                                          : ": no profile has a rank; threads are chosen with `threads 0`");
        else if (what == RANKS)
            str_addf(&text, "; there are %s", str_cstr(&there));
        else
            str_addf(&text, "; there are %s, numbered in each process", str_cstr(&there));
        if (query_setting(env, SETTING_STRICT))
            return place_error(place, NULL, "%s", str_cstr(&text));
        vec_push(&s->notes, xstrdup(str_cstr(&text)));
        if (!s->unknown)
            s->unknown = xstrdup(str_cstr(&text));
    }
    return NULL;
}

static bool is_selected(const struct hqdb_profile *p, const struct query *q)
{
    const number_ranges *of_kind = p->thread & HQDB_QUEUE ? &q->samples.devices : &q->samples.threads;

    if (!in_ranges(&q->samples.ranks, p->rank))
        return false;
    if (!of_kind->len)
        return !q->samples.threads.len && !q->samples.devices.len;
    return in_ranges(of_kind, p->thread & ~HQDB_QUEUE);
}

/* [profile] whether it is selected, or NULL if all are. `rank` and `thread` are the same words as `ranks` and
 * `threads`; threads, and queues of devices, are numbered within their process. */
static uint8_t *select_profiles(const struct db *db, const struct query *q, size_t *count)
{
    uint8_t *profiles;

    *count = db->profile_count;
    if (!q->samples.ranks.len && !q->samples.threads.len && !q->samples.devices.len)
        return NULL;
    profiles = xcalloc(db->profile_count + 1, 1);
    *count = 0;
    for (size_t i = 0; i < db->profile_count; i++) {
        profiles[i] = is_selected(&db->profiles[i], q);
        *count += profiles[i];
    }
    return profiles;
}

static struct hq_error *select_here(struct query_env *env, struct selection *s, const struct query *q)
{
    s->profiles = select_profiles(s->tree.db, q, &s->profile_count);
    HQ_TRY(look_for_missing(env, s, &q->samples.ranks, &q->given[CLAUSE_RANKS], RANKS));
    HQ_TRY(look_for_missing(env, s, &q->samples.threads, &q->given[CLAUSE_THREADS], THREADS));
    HQ_TRY(look_for_missing(env, s, &q->samples.devices, &q->given[CLAUSE_DEVICES], QUEUES));
    if (s->profiles && !s->profile_count && !s->notes.len)
        vec_push(&s->notes, xstrdup("none of these ranks has such a thread: `profiles` lists them"));
    return NULL;
}

/* Selects the ranks and threads of the query on the old side, too. */
static void select_old(struct selection *s, const struct query *q)
{
    size_t count;

    s->old_profiles = select_profiles(s->tree.old, q, &count);
    if (!count)
        vec_push(&s->notes, xstrdup("the database that is compared with has none of these profiles"));
}

/* ---- the whole ---- */

struct hq_error *selection_make(struct query_env *env, const struct query *q, struct selection *out)
{
    const struct db *db;

    *out = (struct selection){.interrupted = env->interrupted, .all_count = query_setting(env, SETTING_HELPERS)};
    HQ_TRY(derive_settings(env, env->db, &db));
    tree_init(&out->tree, db);
    add_measures(out, db, SIDE_HERE);
    out->here_count = out->measures.len;
    if (!q) {
        out->profile_count = db->profile_count;
        return NULL;
    }
    HQ_TRY(select_here(env, out, q));
    HQ_TRY(slices_select(env, out, q));
    HQ_TRY(paths_select(env, out, q));
    HQ_TRY(derive_tree(env, out, q));
    if (out->tree.old) {
        select_old(out, q);
        HQ_TRY(add_compared(out, q));
    }
    if (any_is_elapsed(db) || (out->tree.old && any_is_elapsed(out->tree.old)))
        selection_find_helpers(out);
    return NULL;
}

void selection_deinit(struct selection *s)
{
    for (size_t i = 0; i < s->measures.len; i++) {
        free(s->measures.data[i].own_sums);
        free(s->measures.data[i].own_counts);
    }
    vec_deinit(&s->measures);
    helpers_deinit(&s->helpers);
    helpers_deinit(&s->old_helpers);
    vec_deinit(&s->slices);
    free(s->profiles);
    free(s->old_profiles);
    free(s->keep);
    free(s->old_keep);
    free(s->context_at);
    free(s->slice_text);
    free(s->unknown);
    vec_foreach(note, &s->notes)
        free(*note);
    vec_deinit(&s->notes);
    tree_deinit(&s->tree);
}
