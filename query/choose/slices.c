/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/slices.h"
#include "common/mem.h"
#include "common/search.h"
#include "query/grammar/parse.h"
#include "query/pattern/pattern.h"
#include "query/query.h"
#include "query/choose/visits.h"
#include <math.h>

#define NEVER UINT64_MAX

static bool stopped(const struct selection *s)
{
    return s->interrupted && *s->interrupted;
}

static struct hq_error *interrupted(void)
{
    return hq_error_new(QUERY_INTERRUPTED, "interrupted");
}

uint32_t selection_context(const struct selection *s, uint32_t frame)
{
    const struct tree *t = &s->tree;
    uint32_t at = t->position && frame < t->db->frame_count ? t->position[frame] : frame, low = 0,
             high = t->context_count;

    if (s->context_at && at < t->position_count)
        return s->context_at[at];
    while (high - low > 1) { /* the last context that begins at or before it */
        uint32_t middle = low + (high - low) / 2;
        if (tree_first(t, middle) <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void selection_index(struct selection *s)
{
    const struct tree *t = &s->tree;

    if (s->context_at)
        return;
    s->context_at = xcalloc((size_t)t->position_count + 1, sizeof *s->context_at);
    for (uint32_t c = 0; c < t->context_count; c++)
        for (uint32_t at = tree_first(t, c), end = tree_first(t, c + 1); at < end; at++)
            s->context_at[at] = c;
}

uint8_t *contexts_within(const struct tree *t, const uint8_t *matching)
{
    uint8_t *within = xcalloc((size_t)t->context_count + 1, 1);

    for (uint32_t c = 0; c < t->context_count; c++) {
        uint32_t parent = tree_parent(t, c);
        within[c] = matching[c] || (parent != HQDB_NONE && within[parent]);
    }
    return within;
}

struct slices slices_of(const struct selection *s, uint32_t profile, struct slice *whole)
{
    const struct slice *data = s->slices.data;
    size_t first, end;

    if (!s->sliced) {
        *whole = (struct slice){.from_us = 0, .to_us = NEVER, .profile = profile};
        return (struct slices){whole, 1};
    }
    first = end = SEARCH(i, s->slices.len, data[i].profile < profile);
    while (end < s->slices.len && data[end].profile == profile)
        end++;
    return (struct slices){data + first, end - first};
}

uint64_t slices_overlap(const struct slices *slices, uint64_t from, uint64_t to, size_t *at)
{
    uint64_t all = 0;

    while (*at < slices->len && slices->data[*at].to_us <= from)
        ++*at;
    for (size_t i = *at; i < slices->len && slices->data[i].from_us < to; i++) {
        const struct slice *s = &slices->data[i];
        uint64_t begin = s->from_us > from ? s->from_us : from, end = s->to_us < to ? s->to_us : to;

        all += end > begin ? end - begin : 0;
    }
    return all;
}

bool slices_hold(const struct slices *slices, uint64_t us, size_t *at)
{
    while (*at < slices->len && slices->data[*at].to_us <= us)
        ++*at;
    return *at < slices->len && slices->data[*at].from_us <= us;
}

/* ---- values ---- */

struct addition {
    const struct selection *s;
    const struct timeline *time;
    uint32_t metric;
    int64_t period;
    bool placed;            /* by position in the tree, only what is kept; else by frame */
    int64_t *sums, *counts; /* counts may be NULL */
};

static int64_t value_of(const struct addition *a, const struct db_trace_record *r)
{
    int64_t value;

    sums_overflow |= __builtin_mul_overflow(a->period, r->weight, &value);
    return value;
}

static void add_value(const struct addition *a, const struct db_trace_record *r, int64_t value, bool counts)
{
    const struct tree *t = &a->s->tree;
    uint32_t at = r->frame;

    if (r->metric != a->metric || (a->placed && a->s->keep && !a->s->keep[at]))
        return;
    if (a->placed && t->position)
        at = t->position[at];
    if (a->placed && at >= t->position_count)
        return;
    sum_add(&a->sums[at], value);
    if (a->counts)
        a->counts[at] += counts;
}

/* How much of a value that is spread from one time to another lies before an instant: what adjoining slices hold adds
 * up. */
static int64_t value_before(int64_t value, uint64_t from, uint64_t to, uint64_t at)
{
    return at <= from ? 0 : at >= to ? value : (int64_t)((__int128)value * (int64_t)(at - from) / (int64_t)(to - from));
}

/* Adds the part of a record's value that lies in a slice. A value that is spread over no time lies at its end. */
static void add_span(const struct addition *a, const struct db_trace_record *r, uint64_t from, uint64_t to,
                     const struct slice *slice)
{
    int64_t value = value_of(a, r);
    bool ends_inside = slice->from_us <= to && to < slice->to_us;

    if (from < to)
        value = value_before(value, from, to, slice->to_us) - value_before(value, from, to, slice->from_us);
    else if (!ends_inside)
        value = 0;
    if (value || ends_inside)
        add_value(a, r, value, ends_inside && r->weight);
}

/* How many of the instants that a record stands for, a period apart and the last one at its own time, do not lie before
 * another one. */
static uint64_t instants_from(uint64_t us, uint32_t weight, double period, uint64_t from)
{
    double before = us < from ? 0 : floor((double)(us - from) / period) + 1;

    return before < weight ? (uint64_t)before : weight;
}

/* A sample of elapsed time that weighs several periods stands for those just before it: a wait lies where it was. */
static void add_elapsed(const struct addition *a, const struct db_trace_record *r, uint64_t us,
                        const struct slice *slice)
{
    double period = timeline_period_us(a->s->tree.db, r->metric);
    struct db_trace_record part = *r;

    if (period <= 0)
        part.weight = slice->from_us <= us && us < slice->to_us ? r->weight : 0;
    else
        part.weight = (uint32_t)(instants_from(us, r->weight, period, slice->from_us) -
                                 instants_from(us, r->weight, period, slice->to_us));
    if (part.weight)
        add_value(a, r, value_of(a, &part), slice->from_us <= us && us < slice->to_us);
}

/*
 * How far a record of elapsed time reaches back behind the one before it, at most: periods of a signal that came late
 * are told by several records at one time, those of a wait behind those of the work that followed it.
 */
static struct hq_error *overlap_of(const struct addition *a, uint32_t profile, uint64_t *us)
{
    double period = timeline_period_us(a->s->tree.db, a->metric), most = 0;
    struct db_trace_reader *reader;
    struct db_trace_record r;

    HQ_TRY(db_trace_open(a->s->tree.db, profile, &reader));
    for (uint64_t before = NEVER; db_trace_next(reader, &r);) {
        if (r.metric != a->metric)
            continue;
        if (before != NEVER && r.weight > 1)
            most = fmax(most, period * ((double)r.weight - 1) - (double)(r.time_us - before));
        before = r.time_us;
    }
    db_trace_close(reader);
    *us = (uint64_t)ceil(most);
    return NULL;
}

static struct hq_error *add_profile(const struct addition *a, uint32_t profile)
{
    struct slice whole;
    struct slices slices = slices_of(a->s, profile, &whole);
    int64_t offset = timeline_offset(a->time, profile);
    bool elapsed = timeline_is_elapsed(a->s->tree.db, a->metric);
    struct db_trace_reader *reader;
    struct db_trace_record r;
    uint64_t overlap = 0;

    if (!slices.len)
        return NULL;
    if (elapsed)
        HQ_TRY(overlap_of(a, profile, &overlap));
    HQ_TRY(db_trace_open(a->s->tree.db, profile, &reader));
    for (size_t i = 0; i < slices.len; i++) {
        const struct slice *slice = &slices.data[i];
        int64_t from;

        if (slice->from_us > INT64_MAX || __builtin_sub_overflow((int64_t)slice->from_us, offset, &from))
            continue;
        if (from > 0) /* else several may be at the first instant */
            db_trace_seek(reader, (uint64_t)from - 1);
        for (uint64_t us, before = NEVER; db_trace_next(reader, &r); before = us) {
            us = timeline_shift(offset, r.time_us);
            if (timeline_spans(a->s->tree.db, r.metric)) {
                if (before != NEVER && before >= slice->to_us)
                    break;
                add_span(a, &r, before == NEVER ? us : before, us, slice);
                continue;
            }
            if (elapsed) {
                if (r.metric != a->metric)
                    continue;
                add_elapsed(a, &r, us, slice);
            }
            if (us >= slice->to_us && us - slice->to_us >= overlap)
                break;
            if (us >= slice->from_us && !elapsed)
                add_value(a, &r, value_of(a, &r), true);
        }
    }
    db_trace_close(reader);
    return NULL;
}

struct hq_error *slices_values(const struct selection *s, uint32_t metric, int64_t *sums, int64_t *counts)
{
    struct timeline time = timeline_of(s->tree.db);
    struct addition a = {s, &time, metric, (int64_t)s->tree.db->metrics[metric].period, false, sums, counts};

    for (uint32_t p = 0; p < s->tree.db->profile_count; p++) {
        if (stopped(s))
            return interrupted();
        if (selection_has_profile(s, p) && selection_counts(s, false, p, metric))
            HQ_TRY(add_profile(&a, p));
    }
    return NULL;
}

struct hq_error *slices_profile(const struct selection *s, uint32_t profile, uint32_t metric, int64_t *raw,
                                int64_t *counts)
{
    struct timeline time = {.db = s->tree.db, .origin_us = s->origin_us};
    struct addition a = {s, &time, metric, (int64_t)s->tree.db->metrics[metric].period, true, raw, counts};

    return add_profile(&a, profile);
}

/* ---- during ---- */

static struct hq_error *make_fixed(const struct query *q, const struct timeline *time, struct selection *s)
{
    const struct during *d = q->samples.during;
    struct slice slice = {timeline_instant(time, &d->from, false), timeline_instant(time, &d->to, true), 0, true};

    if (slice.from_us >= slice.to_us)
        return place_error(&d->place, NULL, "this slice ends before it begins");
    HQ_TRY(timeline_reached(time, &d->from, slice.from_us));
    for (uint32_t p = 0; p < s->tree.db->profile_count; p++) {
        slice.profile = p;
        if (selection_has_profile(s, p))
            vec_push(&s->slices, slice);
    }
    s->slice_text = slice.to_us == NEVER
                        ? xasprintf("from %.6g s to the end", (double)slice.from_us / 1e6)
                        : xasprintf("from %.6g s to %.6g s", (double)slice.from_us / 1e6, (double)slice.to_us / 1e6);
    return NULL;
}

/* In the order of the visits of each profile, which is that of time. */
static struct hq_error *make_visits(const struct query *q, const struct timeline *time, const uint8_t *mark,
                                    struct selection *s)
{
    AUTO_FREE uint8_t *within = contexts_within(&s->tree, mark);
    const struct during *d = q->samples.during;
    struct visits visits = {0};
    struct hq_error *err = NULL;

    s->sliced = false; /* the visits are looked for in all of the time */
    for (uint32_t p = 0; p < s->tree.db->profile_count && !err; p++) {
        if (stopped(s))
            err = interrupted();
        else if (selection_has_profile(s, p))
            err = (d->kind == DURING_PATTERN ? visits_add_own : visits_add)(s, time, p, mark, within, &visits);
    }
    s->sliced = true;
    AUTO_FREE char *doubt = err || d->kind == DURING_PATTERN ? NULL : visits_doubt(&visits, &s->tree);

    AUTO_FREE char *unmarked = err ? NULL : visits_unmarked(s, mark);

    if (unmarked)
        vec_push(&s->notes, MEM_STEAL(unmarked));
    AUTO_FREE char *unseen = err || doubt || d->kind == DURING_PATTERN ? NULL : visits_unseen(&visits);

    if (unseen)
        vec_push(&s->notes, MEM_STEAL(unseen));
    if (doubt)
        err = place_error(&d->place, NULL, "which visit is number %u is not known: %s", d->number, doubt);
    vec_foreach(v, &visits)
        if (d->kind == DURING_PATTERN || v->number == d->number)
            vec_push(&s->slices, (struct slice){v->from_us, v->to_us, v->profile, v->marked});
    if (!err && !s->slices.len && d->kind == DURING_ITERATION && visits.len) {
        uint32_t most = 0;
        vec_foreach(v, &visits)
            most = v->number > most ? v->number : most;
        err = place_error(&d->place, NULL, "there is no iteration %u: the traces show %u at most", d->number, most);
    }
    vec_deinit(&visits);
    return err;
}

static struct hq_error *make_pattern(struct query_env *env, const struct query *q, const struct timeline *time,
                                     struct selection *s)
{
    struct arena arena = {0};
    struct matches matches = {0};
    struct hq_error *err = pattern_resolve(env, &s->tree, &q->samples.during->pattern, KINDS_PATH, &matches);

    if (!err && matches.unknown && !s->unknown)
        s->unknown = MEM_STEAL(matches.unknown);
    if (!err && matches.problem)
        vec_push(&s->notes, xstrdup(matches.problem));
    if (!err) {
        AUTO_FREE uint8_t *mark = matches_mark(&matches, &s->tree);
        err = make_visits(q, time, mark, s);
        const char *text = print_pattern(&arena, &q->samples.during->pattern);
        s->slice_text = q->samples.during->kind == DURING_PATTERN
                            ? xasprintf("while %s is on the stack", text)
                            : xasprintf("during iteration %u of %s", q->samples.during->number, text);
    }
    matches_deinit(&matches);
    arena_deinit(&arena);
    return err;
}

static bool has_traces(const struct db *db)
{
    for (size_t m = 0; m < db->metric_count; m++)
        if (db->metrics[m].flags & HQDB_METRIC_TRACED)
            return true;
    return false;
}

struct hq_error *slices_select(struct query_env *env, struct selection *s, const struct query *q)
{
    if (!q->samples.during)
        return NULL;
    struct timeline time = timeline_of(s->tree.db);

    if (q->samples.compare)
        return place_error(&q->samples.during->place, NULL,
                           "a slice of time belongs to one run: during cannot stand with compare with");
    if (!has_traces(s->tree.db))
        return place_error(&q->samples.during->place, NULL, "this database has no traces, so it knows no time");
    s->sliced = true;
    s->origin_us = time.origin_us;
    if (q->samples.during->kind == DURING_SLICE)
        return make_fixed(q, &time, s);
    return make_pattern(env, q, &time, s);
}
