/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/visits.h"
#include "common/mem.h"
#include "common/str.h"
#include "common/units.h"
#include <math.h>

#define NEVER UINT64_MAX

struct visiting {
    struct visit now;
    struct slices slices;
    size_t slice, first_slice;   /* that the last sample was looked for in; that a visit is cut to */
    bool inside, in_a_loop;      /* a call of what is visited */
    const uint8_t *matching;     /* by context */
    uint64_t last_us;            /* of the sample before; NEVER: there was none */
    uint64_t here;               /* samples since the visit or the gap began */
    VEC(uint64_t) gaps, lengths; /* samples that each holds */
};

static uint64_t halfway(uint64_t a, uint64_t b, double most)
{
    uint64_t half = (b - a) / 2;
    return a + (most > 0 && (double)half > most ? (uint64_t)most : half);
}

/* When a visit begins whose first sample is at `us`. */
static uint64_t begin_of(const struct visiting *v, uint64_t us, double period)
{
    uint64_t reach = (uint64_t)period < us ? us - (uint64_t)period : 0;
    uint64_t middle = v->last_us == NEVER ? reach : v->last_us + (us - v->last_us + 1) / 2;

    return middle > reach ? middle : reach;
}

static void enter(struct visiting *v, uint64_t from_us)
{
    if (v->now.number)
        vec_push(&v->gaps, v->here);
    v->inside = true;
    v->here = 0;
    v->now.number++;
    v->now.samples = 0;
    v->now.from_us = from_us;
}

/* Cuts a visit that has something in the slices to them; visits follow in time. */
static void cut_visit(struct visiting *v, struct visit cut, uint64_t to_us, struct visits *out)
{
    uint64_t began = cut.from_us;

    cut.from_us = NEVER;
    cut.length_us = 0;
    while (v->slices.data[v->first_slice].to_us <= began)
        v->first_slice++; /* one of them holds a part of the visit */
    for (size_t i = v->first_slice; i < v->slices.len && v->slices.data[i].from_us < to_us; i++) {
        const struct slice *s = &v->slices.data[i];
        uint64_t from = s->from_us > began ? s->from_us : began;

        cut.from_us = cut.from_us == NEVER ? from : cut.from_us;
        cut.to_us = s->to_us < to_us ? s->to_us : to_us;
        cut.length_us += cut.to_us - from;
    }
    cut.cut |= cut.length_us < to_us - began;
    vec_push(out, cut);
}

static void leave(struct visiting *v, uint64_t to_us, struct visits *out)
{
    vec_push(&v->lengths, v->here);
    v->inside = false;
    v->here = 0;
    if (v->now.samples)
        cut_visit(v, v->now, to_us, out);
}

static void take_sample(struct visiting *v, uint64_t us, double period, bool within, struct visits *out)
{
    if (within && !v->inside)
        enter(v, begin_of(v, us, period));
    if (!within && v->inside)
        leave(v, halfway(v->last_us, us, period) + 1, out);
    v->now.samples += within && slices_hold(&v->slices, us, &v->slice);
    v->here++;
}

static void take_span(struct visiting *v, uint64_t us, bool within, struct visits *out)
{
    uint64_t from = v->last_us == NEVER ? us : v->last_us;

    if (within && !v->inside)
        enter(v, from);
    if (!within && v->inside)
        leave(v, from, out);
    v->now.samples += within && slices_overlap(&v->slices, from, us, &v->slice) > 0;
    v->here++;
}

/* Whether what a record of no time says ended leaves the thread within: what called it went on. */
static bool is_around(const struct selection *s, uint32_t frame, const uint8_t *within)
{
    uint32_t parent = db_caller_frame(s->tree.db, frame);

    return parent != HQDB_NONE && within[selection_context(s, parent)];
}

/* Nothing is known of where the thread was (time in the kernel): that neither ends nor begins a visit. */
static bool is_nowhere(const struct selection *s, uint32_t frame)
{
    return tree_kind(&s->tree, selection_context(s, frame)) == SCOPE_PARTIAL;
}

/* Whether a loop is around the call of what matches. */
static bool comes_from_a_loop(const struct selection *s, uint32_t frame, const uint8_t *matching)
{
    bool found = false;

    for (uint32_t at = selection_context(s, frame); at != HQDB_NONE; at = tree_parent(&s->tree, at)) {
        if (found && tree_kind(&s->tree, at) == SCOPE_LOOP)
            return true;
        found |= matching[at];
    }
    return false;
}

static struct hq_error *look_for_visits(const struct selection *s, int64_t offset, const uint8_t *within,
                                        struct db_trace_reader *reader, struct visiting *v, struct visits *out)
{
    const struct db *db = s->tree.db;
    struct db_trace_record r;
    uint32_t last_frame = HQDB_NONE;
    bool is_within = false, spans = false;
    double time = 0, samples = 0;

    for (uint64_t us; db_trace_next(reader, &r); v->last_us = us) {
        double own = timeline_period_us(db, r.metric) * r.weight;

        us = timeline_shift(offset, r.time_us);
        spans = timeline_spans(db, r.metric);
        if (r.frame != last_frame) {
            is_within = within[selection_context(s, r.frame)];
            v->in_a_loop |= is_within && !v->in_a_loop && comes_from_a_loop(s, r.frame, v->matching);
        }
        last_frame = r.frame;
        if (spans && db->metrics[r.metric].flags & HQDB_METRIC_EXACT)
            out->apart.exact = true;
        if (r.weight || !spans) {
            time += own > 0 && !spans ? own : v->last_us == NEVER ? 0 : (double)(us - v->last_us);
            samples++;
        }
        bool ends = spans && !r.weight && (us == v->last_us || timeline_is_pause(db, &r));

        if (spans)
            take_span(v, us, ends ? is_around(s, r.frame, within) : is_within, out);
        else if (is_within || !is_nowhere(s, r.frame))
            take_sample(v, us, own, is_within, out);
    }
    if (v->inside)
        leave(v, v->last_us + !spans, out);
    if (samples)
        out->apart.period_us = fmax(out->apart.period_us, time / samples);
    return NULL;
}

static int compare_counts(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* How many are below a bound; *least becomes what nine of ten reach, if that is less than what other profiles have. */
static size_t count_short(uint64_t *counts, size_t n, uint64_t bound, uint64_t *least)
{
    size_t low = 0;

    if (n > 1)
        qsort(counts, n, sizeof *counts, compare_counts);
    while (low < n && counts[low] < bound)
        low++;
    if (n && (!*least || counts[n / 10] < *least))
        *least = counts[n / 10];
    return low;
}

static void note_worst(struct apart *a, struct shortness s)
{
    if (s.of && (!a->worst.of || s.few * a->worst.of > a->worst.few * s.of))
        a->worst = s;
}

/* The first and the last visit may be cut by the ends of the run: they count with the others, so of few none may be
 * short.
 */
static void judge_profile(struct visiting *v, struct apart *a)
{
    size_t gaps = v->gaps.len, visits = v->lengths.len;
    size_t short_gaps = count_short(v->gaps.data, gaps, APART_GAP, &a->least_gap);
    size_t short_visits = count_short(v->lengths.data, visits, APART_VISIT, &a->least_visit);

    a->gaps += gaps;
    a->short_gaps += short_gaps;
    a->visits += visits;
    a->short_visits += short_visits;
    a->profiles += visits > 0;
    a->in_a_loop |= v->in_a_loop;
    if (visits && !gaps && v->in_a_loop && !a->gapless++)
        a->gapless_profile = v->now.profile;
    note_worst(a, (struct shortness){short_gaps, gaps, v->now.profile, true});
    note_worst(a, (struct shortness){short_visits, visits, v->now.profile, false});
    a->doubtful |= short_gaps * 10 > gaps || short_visits * 10 > visits;
}

/* ---- by marks ---- */

uint32_t visits_marked_context(const struct selection *s, uint32_t frame)
{
    uint32_t c = selection_context(s, frame), parent;

    while ((tree_kind(&s->tree, c) == SCOPE_LINE || tree_kind(&s->tree, c) == SCOPE_LOOP ||
            tree_kind(&s->tree, c) == SCOPE_INLINE) &&
           (parent = tree_parent(&s->tree, c)) != HQDB_NONE)
        c = parent;
    return c;
}

static bool has_marks(const struct selection *s, uint32_t profile, const uint8_t *matching)
{
    struct db_marks marks = db_marks_of(s->tree.db, profile);
    struct db_mark m;

    while (db_mark_next(&marks, &m))
        if (matching[visits_marked_context(s, m.frame)])
            return true;
    return false;
}

bool visits_are_marked(const struct selection *s, const uint8_t *matching)
{
    for (uint32_t p = 0; p < s->tree.db->profile_count; p++)
        if (selection_has_profile(s, p) && has_marks(s, p, matching))
            return true;
    return false;
}

/* [scope] Whether something of it was marked in a profile of the selection. */
static uint8_t *marked_scopes(const struct selection *s, const uint8_t *matching)
{
    const struct db *db = s->tree.db;
    uint8_t *marked = xcalloc(db->scope_count + 1, 1);

    for (uint32_t p = 0; p < db->profile_count; p++) {
        struct db_marks marks = db_marks_of(db, p);
        struct db_mark m;

        if (!selection_has_profile(s, p))
            continue;
        while (db_mark_next(&marks, &m)) {
            uint32_t c = visits_marked_context(s, m.frame);

            if (matching[c])
                marked[tree_scope_of(&s->tree, c)] = 1;
        }
    }
    return marked;
}

static bool is_unmarked(const struct tree *t, uint32_t c, const uint8_t *matching, const uint8_t *marked)
{
    enum scope_kind kind = tree_kind(t, c);

    if (!matching[c] || (kind != SCOPE_PROCEDURE && kind != SCOPE_INLINE) || marked[tree_scope_of(t, c)])
        return false;
    for (uint32_t at = tree_parent(t, c); at != HQDB_NONE; at = tree_parent(t, at))
        if (matching[at])
            return false; /* it is a part of another visit */
    return true;
}

char *visits_unmarked(const struct selection *s, const uint8_t *matching)
{
    const struct tree *t = &s->tree;
    AUTO_FREE uint8_t *marked = marked_scopes(s, matching);
    bool any = memchr(marked, 1, t->db->scope_count);
    struct arena arena = {0};
    char *told = NULL;

    for (uint32_t c = 0; c < t->context_count && any && !told; c++) {
        uint32_t host = c;

        if (!is_unmarked(t, c, matching, marked))
            continue;
        while (tree_kind(t, host) != SCOPE_PROCEDURE && tree_parent(t, host) != HQDB_NONE)
            host = tree_parent(t, host);
        const char *name = tree_scope_name(t, tree_scope_of(t, c), &arena);

        told = host == c ? xasprintf("%s is not marked as others that match are: its visits are missing", name)
                         : xasprintf("%s is inlined in %s, where its visits are not marked: they are missing", name,
                                     tree_scope_name(t, tree_scope_of(t, host), &arena));
    }
    arena_deinit(&arena);
    return told;
}

/* One of no length lies in the slice that its instant does. */
static bool lies_in(const struct slices *slices, uint64_t from, uint64_t to)
{
    size_t at = 0;

    return from == to ? slices_hold(slices, from, &at) : slices_overlap(slices, from, to, &at) > 0;
}

static void take_marked(struct visiting *v, uint64_t from, uint64_t to, bool whole, struct visits *out)
{
    v->now.number++;
    v->now.from_us = from;
    v->now.cut = !whole;
    v->now.marked = whole;
    if (lies_in(&v->slices, from, to))
        cut_visit(v, v->now, to, out);
}

/* The outermost of nested ones. One that was entered before measuring began is there from the start; what was not left
 * lasts to the end of the thread; such are not whole. */
static void take_marks(const struct selection *s, const struct timeline *time, uint32_t profile,
                       const uint8_t *matching, struct visiting *v, struct visits *out)
{
    int64_t offset = timeline_offset(time, profile);
    struct db_marks marks = db_marks_of(s->tree.db, profile);
    struct db_mark m;
    uint64_t from = 0, depth = 0, us;

    while (db_mark_next(&marks, &m)) {
        if (!matching[visits_marked_context(s, m.frame)])
            continue;
        us = timeline_shift(offset, m.time_us);
        if (!m.leaves && !depth++)
            from = us;
        if (m.leaves && !depth && !v->now.number)
            take_marked(v, timeline_start(time, profile), us, false, out);
        if (m.leaves && depth && !--depth)
            take_marked(v, from, us, true, out);
    }
    if (depth) {
        us = timeline_end(time, profile);
        take_marked(v, from, us > from ? us : from, false, out);
    }
    out->apart.exact = true;
}

void visits_take(const struct selection *s, struct visit stretch, struct visits *out)
{
    struct slice whole;
    struct visiting v = {.slices = slices_of(s, stretch.profile, &whole)};

    if (lies_in(&v.slices, stretch.from_us, stretch.to_us))
        cut_visit(&v, stretch, stretch.to_us, out);
}

struct hq_error *visits_add_own(const struct selection *s, const struct timeline *time, uint32_t profile,
                                const uint8_t *matching, const uint8_t *within, struct visits *out)
{
    struct slice whole;
    struct visiting v = {
        .now = {.profile = profile}, .last_us = NEVER, .matching = matching, .slices = slices_of(s, profile, &whole)};
    struct db_trace_reader *reader;

    if (has_marks(s, profile, matching)) {
        take_marks(s, time, profile, matching, &v, out);
        return NULL;
    }
    HQ_TRY(db_trace_open(s->tree.db, profile, &reader));
    struct hq_error *err = look_for_visits(s, timeline_offset(time, profile), within, reader, &v, out);

    db_trace_close(reader);
    judge_profile(&v, &out->apart);
    vec_deinit(&v.gaps);
    vec_deinit(&v.lengths);
    return err;
}

struct hq_error *visits_add(const struct selection *s, const struct timeline *time, uint32_t profile,
                            const uint8_t *matching, const uint8_t *within, struct visits *out)
{
    if (!out->apart.looked) {
        out->apart.looked = true;
        out->apart.marked = visits_are_marked(s, matching);
    }
    if (out->apart.marked && !has_marks(s, profile, matching))
        return NULL;
    return visits_add_own(s, time, profile, matching, within, out);
}

/* ---- can they be told apart? ---- */

/* The rate at which what was seen to hold so many samples would hold enough. */
static double rate_for(const struct apart *a)
{
    double gap = a->gaps && a->short_gaps ? (double)APART_GAP / (a->least_gap ? (double)a->least_gap : 1) : 1;
    double visit = a->short_visits ? (double)APART_VISIT / (a->least_visit ? (double)a->least_visit : 1) : 1;

    return fmax(gap, visit) * 1e6 / a->period_us;
}

static void tell_where(const struct apart *a, const struct tree *t, uint32_t profile, struct str *out)
{
    int32_t rank = t->db->profiles[profile].rank;

    if (a->profiles > 1 && rank >= 0)
        str_addf(out, "on rank %d, ", rank);
    else if (a->profiles > 1)
        str_addf(out, "in one of %zu threads, ", a->profiles);
}

/* One profile in which they are too short is enough: the others may hide it in a sum. */
static void tell_worst(const struct apart *a, const struct tree *t, struct str *out)
{
    const struct shortness *w = &a->worst;

    tell_where(a, t, w->profile, out);
    str_addf(out, w->gaps ? "%zu of %zu gaps between them hold fewer than %d" : "%zu of %zu visits hold fewer than %d",
             w->few, w->of, w->gaps ? APART_GAP : APART_VISIT);
}

char *visits_doubt(const struct visits *v, const struct tree *t)
{
    const struct apart *a = &v->apart;
    AUTO_STR struct str out = {0};
    char period[UNITS_TEXT], gap[UNITS_TEXT], visit[UNITS_TEXT];
    bool repeats = a->gapless && (!a->gaps || !a->doubtful);

    if (a->exact || !(a->doubtful || repeats))
        return NULL;
    units_format(period, a->period_us / 1e6, DIM_SECONDS);
    units_format(gap, a->period_us * APART_GAP / 1e6, DIM_SECONDS);
    units_format(visit, a->period_us * APART_VISIT / 1e6, DIM_SECONDS);
    str_addf(&out, "visits cannot be told apart by samples %s apart: ", period);
    if (repeats) {
        tell_where(a, t, a->gapless_profile, &out);
        str_add(&out, "it is in a loop and no gap between two visits was seen");
    } else {
        tell_worst(a, t, &out);
    }
    str_addf(&out,
             ", so a row may be several visits and others are missing; a gap of %s and a visit of %s can be told. ",
             gap, visit);
    if (!repeats && a->period_us > 0)
        str_addf(&out, "Record with at least %.0f samples a second (-e REALTIME@%.0f/s), or ask", ceil(rate_for(a)),
                 ceil(rate_for(a)));
    else
        str_add(&out, "Record with a higher rate, or ask");
    str_add(&out, " for a procedure that is called once in each step and is further apart");
    return xstrdup(str_cstr(&out));
}

char *visits_unseen(const struct visits *v)
{
    char text[UNITS_TEXT];

    if (v->apart.exact || !v->apart.in_a_loop)
        return NULL;
    units_format(text, v->apart.period_us / 1e6, DIM_SECONDS);
    return xasprintf("it is called in a loop: visits with no sample between them, %s apart, count as one", text);
}
