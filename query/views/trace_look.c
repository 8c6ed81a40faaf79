/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the profiles and instants that a picture shows, and what ran there (trace.h). */
#include "query/views/trace.h"
#include "common/parallel.h"
#include "query/grammar/parse.h"
#include <math.h>
#include <stdatomic.h>

static int compare_profiles(const void *a, const void *b, void *arg)
{
    const struct hqdb_profile *all = arg, *x = &all[*(const uint32_t *)a], *y = &all[*(const uint32_t *)b];

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->serial != y->serial)
        return x->serial < y->serial ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static bool has_trace(const struct db *db, uint32_t profile)
{
    struct db_marks marks = db_marks_of(db, profile);
    struct db_trace_reader *r;
    struct db_mark mark;
    uint64_t records, first, last;
    AUTO_ERROR struct hq_error *err = db_trace_open(db, profile, &r);

    if (err)
        return false;
    bool has = db_trace_extent(r, &records, &first, &last);
    db_trace_close(r);
    return has || db_mark_next(&marks, &mark);
}

static void find_profiles(struct trace *t, bool queues)
{
    const struct selection *s = &t->run->selection;
    const struct db *db = s->tree.db;
    bool ranked = false, chosen = t->run->query->samples.threads.len > 0;

    selection_find_helpers(&t->run->selection);

    for (uint32_t p = 0; p < db->profile_count; p++)
        ranked = ranked || (selection_has_profile(s, p) && db->profiles[p].rank >= 0);
    t->profiles = xcalloc(db->profile_count + 1, sizeof *t->profiles);
    for (uint32_t p = 0; p < db->profile_count; p++) {
        struct slice whole;
        if (!queues && db_is_queue(db, p))
            continue;
        if (!selection_has_profile(s, p) || (ranked && db->profiles[p].rank < 0) || !slices_of(s, p, &whole).len)
            continue;
        if (s->helpers.of && s->helpers.of[p] != STANDS_IN && !chosen)
            continue;
        t->profiles[t->profile_count++] = p;
    }
    for (uint32_t i = 1; i < t->profile_count; i++) {
        const struct hqdb_profile *p = &db->profiles[t->profiles[i]], *first = &db->profiles[t->profiles[0]];
        t->threads = t->threads || p->thread != first->thread;
        t->processes = t->processes || p->pid != first->pid || p->serial != first->serial;
    }
    qsort_r(t->profiles, t->profile_count, sizeof *t->profiles, compare_profiles, (void *)db->profiles);
}

/* Sets the interval of time that is shown: the slices, and no more than from the first start to the last end of the
 * profiles. */
static void find_extent(struct trace *t)
{
    uint64_t from = UINT64_MAX, to = 0;

    for (uint32_t i = 0; i < t->profile_count; i++) {
        struct slice whole;
        struct slices slices = slices_of(&t->run->selection, t->profiles[i], &whole);
        uint64_t start = timeline_start(&t->time, t->profiles[i]), end = timeline_end(&t->time, t->profiles[i]);
        uint64_t first = slices.data[0].from_us, last = slices.data[slices.len - 1].to_us;
        start = first > start ? first : start;
        end = last < end ? last : end;
        from = start < from ? start : from;
        to = end > to ? end : to;
    }
    t->from_us = from == UINT64_MAX ? 0 : from;
    t->to_us = to > t->from_us ? to : t->from_us + 1;
}

struct hq_error *trace_init(struct trace *t, struct run *run, uint32_t width, uint32_t most, bool queues)
{
    *t = (struct trace){.run = run, .time = timeline_of(run->selection.tree.db), .width = width};
    find_profiles(t, queues);
    bool any = false;
    for (uint32_t i = 0; i < t->profile_count && !any; i++)
        any = has_trace(t->time.db, t->profiles[i]);
    const char *hint = any || !t->profile_count ? NULL : trace_device_hint(run);
    if (!any && t->profile_count)
        return place_error(&run->query->view.place, NULL, "%s",
                           hint ? hint : "there are no traces of these profiles: record with a trace");
    find_extent(t);
    if (!most)
        selection_index(&run->selection);
    t->shown_count = most && most < t->profile_count ? most : t->profile_count;
    t->shown = xcalloc(t->shown_count + 1, sizeof *t->shown);
    for (uint32_t i = 0; i < t->shown_count; i++)
        t->shown[i] = t->profiles[(uint64_t)((i + 0.5) * t->profile_count / t->shown_count)];
    return NULL;
}

void trace_deinit(struct trace *t)
{
    free(t->profiles);
    free(t->shown);
    free(t->contexts);
    map_deinit(&t->items);
}

static struct hq_error *look_at_profile(size_t row, unsigned worker, void *arg)
{
    struct trace *t = arg;
    const struct selection *s = &t->run->selection;
    struct slice whole;
    struct slices slices = slices_of(s, t->shown[row], &whole);
    struct db_trace_record r = {.frame = HQDB_NONE};
    uint32_t last_frame = HQDB_NONE, last_context = 0;
    struct sampler sampler;
    size_t slice = 0;

    (void)worker;
    if (s->interrupted && *s->interrupted)
        return hq_error_new(QUERY_INTERRUPTED, "interrupted");
    HQ_TRY(sampler_open(&sampler, &t->time, t->shown[row]));
    for (uint32_t x = 0; x < t->width; x++) {
        uint64_t us = trace_instant(t, x);
        while (slice < slices.len && slices.data[slice].to_us <= us)
            slice++;
        if (slice == slices.len || us < slices.data[slice].from_us || !sampler_at(&sampler, us, &r))
            continue;
        if (r.frame != last_frame)
            last_context = selection_context(s, r.frame) + 1;
        last_frame = r.frame;
        t->contexts[row * t->width + x] = last_context;
    }
    sampler_close(&sampler);
    return NULL;
}

struct hq_error *trace_look(struct trace *t)
{
    t->contexts = xcalloc((size_t)t->shown_count * t->width + 1, sizeof *t->contexts);
    return parallel_try(t->shown_count, 0, look_at_profile, t);
}

void trace_note_filled(const struct trace *t)
{
    const struct db *db = t->time.db;
    uint32_t metric = timeline_metric(db);
    size_t cells = 0, filled = 0;
    double ran = 0;

    if (t->run->selection.sliced || metric == HQDB_NONE || timeline_period_us(db, metric) <= 0 ||
        timeline_is_elapsed(db, metric) || timeline_spans(db, metric))
        return;
    for (uint32_t y = 0; y < t->shown_count; y++) {
        if (db_is_queue(db, t->shown[y])) /* its spans are exact, and it has no processor time */
            continue;
        cells += t->width;
        for (size_t i = (size_t)y * t->width; i < ((size_t)y + 1) * t->width; i++)
            filled += t->contexts[i] != 0;
        ran += scaled_value(db_profile_total(db, t->shown[y], metric).sum, db->metrics[metric].scale) * 1e6;
    }
    if (!cells)
        return;
    double share = (double)filled / (double)cells;
    double true_share = ran / ((double)cells / t->width * (double)(t->to_us - t->from_us));

    /* So many instants tell a share to about half of that. */
    if (share - true_share > 1 / sqrt(t->width))
        run_note(t->run,
                 "%.1f%% of the cells are filled, and the profiles ran %.1f%% of the time: gaps of up to %d periods "
                 "are taken for delays",
                 100 * share, 100 * true_share, TIMELINE_GAP);
}

void trace_note_clock(const struct trace *t)
{
    const struct db *db = t->time.db;
    uint64_t error = 0;
    char text[UNITS_TEXT];

    for (size_t i = 0; i < db->queue_count; i++)
        for (uint32_t y = 0; y < t->profile_count; y++)
            if (t->profiles[y] == db->queues[i].profile && db->queues[i].error_ns > error)
                error = db->queues[i].error_ns;
    if (!error)
        return;
    units_format(text, (double)error / 1e9, DIM_SECONDS);
    run_note(t->run, "starts and ends in queues of devices may be off by %s on the clock of the host", text);
}
