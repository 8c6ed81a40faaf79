/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/slices.h"
#include "common/mem.h"
#include "query/grammar/parse.h"
#include "query/pattern.h"
#include "query/query.h"

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

    while (high - low > 1) { /* the last context that begins at or before it */
        uint32_t middle = low + (high - low) / 2;
        if (tree_first(t, middle) <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
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
    size_t low = 0, high = s->slices.len;

    if (!s->sliced) {
        *whole = (struct slice){.from_us = 0, .to_us = NEVER, .profile = profile};
        return (struct slices){whole, 1};
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->slices.data[middle].profile < profile)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < s->slices.len && s->slices.data[high].profile == profile;)
        high++;
    return (struct slices){s->slices.data + low, high - low};
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

static void add_sample(const struct addition *a, const struct db_trace_record *r)
{
    const struct tree *t = &a->s->tree;
    uint32_t at = r->frame;

    if (r->metric != a->metric || (a->placed && a->s->keep && !a->s->keep[at]))
        return;
    if (a->placed && t->position)
        at = t->position[at];
    if (a->placed && at >= t->position_count)
        return;
    a->sums[at] = (int64_t)((uint64_t)a->sums[at] + (uint64_t)a->period * r->weight);
    if (a->counts)
        a->counts[at]++;
}

static struct hq_error *add_profile(const struct addition *a, uint32_t profile)
{
    struct slice whole;
    struct slices slices = slices_of(a->s, profile, &whole);
    int64_t offset = timeline_offset(a->time, profile);
    struct db_trace_reader *reader;
    struct db_trace_record r;

    if (!slices.len)
        return NULL;
    HQ_TRY(db_trace_open(a->s->tree.db, profile, &reader));
    for (size_t i = 0; i < slices.len; i++) {
        const struct slice *slice = &slices.data[i];
        int64_t from = (int64_t)slice->from_us - offset;
        db_trace_seek(reader, from > 0 ? (uint64_t)from - 1 : 0);
        while (db_trace_next(reader, &r)) {
            int64_t time = offset + (int64_t)r.time_us;
            uint64_t us = time > 0 ? (uint64_t)time : 0;
            if (us >= slice->to_us)
                break;
            if (us >= slice->from_us)
                add_sample(a, &r);
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
        if (selection_has_profile(s, p))
            HQ_TRY(add_profile(&a, p));
    }
    return NULL;
}

struct hq_error *slices_profile(const struct selection *s, uint32_t profile, uint32_t metric, int64_t *raw)
{
    struct timeline time = {.db = s->tree.db, .origin_us = s->origin_us};
    struct addition a = {s, &time, metric, (int64_t)s->tree.db->metrics[metric].period, true, raw, NULL};

    return add_profile(&a, profile);
}

/* ---- visits ---- */

struct visiting {
    struct visit now;
    struct slices slices;
    size_t slice, first_slice; /* that the last sample was looked for in; that a visit is cut to */
    bool inside;
    uint64_t last_us; /* of the sample before; NEVER: there was none */
};

static uint64_t halfway(uint64_t a, uint64_t b, double most)
{
    uint64_t half = (b - a) / 2;
    return a + (most > 0 && (double)half > most ? (uint64_t)most : half);
}

static void enter(struct visiting *v, uint64_t us, double period)
{
    uint64_t reach = (uint64_t)period < us ? us - (uint64_t)period : 0;
    uint64_t middle = v->last_us == NEVER ? reach : v->last_us + (us - v->last_us + 1) / 2;

    v->inside = true;
    v->now.number++;
    v->now.samples = 0;
    v->now.from_us = middle > reach ? middle : reach;
}

/* Cuts what has a sample in the slices to them; visits follow in time. */
static void leave(struct visiting *v, uint64_t to_us, struct visits *out)
{
    struct visit cut = v->now;

    v->inside = false;
    if (!cut.samples)
        return;
    cut.from_us = NEVER;
    cut.length_us = 0;
    while (v->slices.data[v->first_slice].to_us <= v->now.from_us)
        v->first_slice++; /* one of them holds a sample of the visit */
    for (size_t i = v->first_slice; i < v->slices.len && v->slices.data[i].from_us < to_us; i++) {
        const struct slice *s = &v->slices.data[i];
        uint64_t from = s->from_us > v->now.from_us ? s->from_us : v->now.from_us;

        cut.from_us = cut.from_us == NEVER ? from : cut.from_us;
        cut.to_us = s->to_us < to_us ? s->to_us : to_us;
        cut.length_us += cut.to_us - from;
    }
    cut.cut = cut.length_us < to_us - v->now.from_us;
    vec_push(out, cut);
}

struct hq_error *visits_add(const struct selection *s, const struct timeline *time, uint32_t profile,
                            const uint8_t *within, struct visits *out)
{
    struct slice whole;
    struct visiting v = {.now = {.profile = profile}, .last_us = NEVER, .slices = slices_of(s, profile, &whole)};
    int64_t offset = timeline_offset(time, profile);
    struct db_trace_reader *reader;
    struct db_trace_record r;
    uint32_t last_frame = HQDB_NONE;
    bool is_within = false;

    HQ_TRY(db_trace_open(s->tree.db, profile, &reader));
    while (db_trace_next(reader, &r)) {
        int64_t at = offset + (int64_t)r.time_us;
        uint64_t us = at > 0 ? (uint64_t)at : 0;
        double period = timeline_period_us(s->tree.db, r.metric) * r.weight;
        if (r.frame != last_frame)
            is_within = within[selection_context(s, r.frame)];
        last_frame = r.frame;
        if (is_within && !v.inside)
            enter(&v, us, period);
        if (!is_within && v.inside)
            leave(&v, halfway(v.last_us, us, period) + 1, out);
        v.now.samples += is_within && slices_hold(&v.slices, us, &v.slice);
        v.last_us = us;
    }
    db_trace_close(reader);
    if (v.inside)
        leave(&v, v.last_us + 1, out);
    return NULL;
}

/* ---- during ---- */

static struct hq_error *make_fixed(const struct query *q, const struct timeline *time, struct selection *s)
{
    const struct during *d = q->during;
    struct slice slice = {timeline_instant(time, &d->from, false), timeline_instant(time, &d->to, true), 0};

    if (slice.from_us >= slice.to_us)
        return place_error(&d->place, NULL, "this slice ends before it begins");
    if (slice.from_us > time->length_us)
        return place_error(&d->from.place, NULL, "the run is over by then: it takes %.6g s",
                           (double)time->length_us / 1e6);
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
static struct hq_error *make_visits(const struct query *q, const struct timeline *time, const uint8_t *within,
                                    struct selection *s)
{
    const struct during *d = q->during;
    struct visits visits = {0};
    struct hq_error *err = NULL;

    s->sliced = false; /* the visits are looked for in all of the time */
    for (uint32_t p = 0; p < s->tree.db->profile_count && !err; p++) {
        if (stopped(s))
            err = interrupted();
        else if (selection_has_profile(s, p))
            err = visits_add(s, time, p, within, &visits);
    }
    s->sliced = true;
    vec_foreach(v, &visits)
        if (d->kind == DURING_PATTERN || v->number == d->number)
            vec_push(&s->slices, (struct slice){v->from_us, v->to_us, v->profile});
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
    struct hq_error *err = pattern_resolve(env, &s->tree, &q->during->pattern, KINDS_PATH, &matches);

    if (!err && matches.problem)
        vec_push(&s->notes, xstrdup(matches.problem));
    if (!err) {
        AUTO_FREE uint8_t *mark = matches_mark(&matches, &s->tree), *within = contexts_within(&s->tree, mark);
        err = make_visits(q, time, within, s);
        const char *text = print_pattern(&arena, &q->during->pattern);
        s->slice_text = q->during->kind == DURING_PATTERN
                            ? xasprintf("while %s is on the stack", text)
                            : xasprintf("during iteration %u of %s", q->during->number, text);
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
    if (!q->during)
        return NULL;
    struct timeline time = timeline_of(s->tree.db);

    if (q->compare)
        return place_error(&q->during->place, NULL,
                           "a slice of time belongs to one run: during cannot stand with compare with");
    if (!has_traces(s->tree.db))
        return place_error(&q->during->place, NULL, "this database has no traces, so it knows no time");
    s->sliced = true;
    s->origin_us = time.origin_us;
    if (q->during->kind == DURING_SLICE)
        return make_fixed(q, &time, s);
    return make_pattern(env, q, &time, s);
}
