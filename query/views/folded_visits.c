/* SPDX-License-Identifier: BSD-3-Clause */
/* Which visits, or stretches of a cluster, are folded (query/views/folded.h). */
#include "common/mem.h"
#include "query/choose/growth.h"
#include "query/grammar/parse.h"
#include "query/views/clustering.h"
#include "query/views/folded.h"
#include "query/views/views.h"
#include <math.h>
#include <string.h>

static struct hq_error *find_cluster(struct folded *f, struct visits *all, char **doubt)
{
    const struct view *view = &f->run->query->view;
    struct clustering c = {.run = f->run};
    struct hq_error *err = trace_init(&c.trace, f->run, 1, 0, false);

    if (!err)
        err = clustering_make(&c);
    if (!err && c.bursts.len && view->cluster > c.count) {
        f->run->doubt = arena_printf(&f->run->table->arena,
                                     "there is no cluster %u: `clusters of phases` finds %u with eps %.2g and at least "
                                     "%u points",
                                     view->cluster, c.count, c.eps, c.least);
        run_note(f->run, "%s", f->run->doubt);
    }
    for (size_t i = 0; i < c.bursts.len && !err; i++)
        if (c.cluster[i] == view->cluster - 1)
            vec_push(all, c.bursts.data[i]);
    *doubt = !err && all->len && c.doubt ? xstrdup(c.doubt) : NULL;
    clustering_deinit(&c);
    return err;
}

static bool is_whole(const struct visit *v)
{
    return !v->cut && v->length_us;
}

/* ---- CPU time ---- */

/* The metric of CPU time, if that was sampled: HQDB_NONE. */
static uint32_t running_metric(const struct folded *f)
{
    const struct db *db = f->run->tree->db;
    uint32_t clock = timeline_metric(db);

    return clock != HQDB_NONE && db->metrics[clock].flags & HQDB_METRIC_COUNTED ? clock : HQDB_NONE;
}

/* Seconds of CPU time that each visit took, NaN where that is not known. */
static double *find_running(struct folded *f, const struct visits *all)
{
    uint32_t clock = running_metric(f), profile = HQDB_NONE;
    AUTO(growth_deinit) struct growth growth = {0};
    double *ran = xcalloc(all->len + 1, sizeof *ran);

    for (size_t i = 0; i < all->len; i++) {
        const struct visit *v = &all->data[i];

        if (v->profile != profile) {
            growth_deinit(&growth);
            growth = growth_of(&f->trace.time, profile = v->profile);
        }
        ran[i] = clock != HQDB_NONE && v->marked && is_whole(v)
                     ? growth_between(&growth, clock, v->from_us, v->to_us) * f->run->tree->db->metrics[clock].scale
                     : NAN;
    }
    return ran;
}

/*
 * Something else may have had the processor: keep of those that were chosen the ones that ran all the time, if that is
 * a quarter of them or more (then the others were held up, which would shift what comes behind), all otherwise. Returns
 * how many did not run for more than HELD_UP of their time.
 */
#define HELD_UP 0.01
static size_t drop_held_up(const struct visits *all, const double *ran, uint8_t *keep, size_t kept, bool *dropped)
{
    AUTO_FREE uint8_t *held = xcalloc(all->len + 1, 1);
    size_t count = 0;

    for (size_t i = 0; i < all->len; i++)
        count += held[i] = keep[i] && ran[i] < (1 - HELD_UP) * (double)all->data[i].length_us / 1e6;
    *dropped = count && 4 * (kept - count) >= kept && kept - count >= 10;
    for (size_t i = 0; i < all->len && *dropped; i++)
        keep[i] &= !held[i];
    return count;
}

static void note_held_up(struct run *run, size_t held, bool dropped)
{
    if (held && dropped)
        run_note(run,
                 "%zu more are left out: for more than 1 %% of their time the thread did not run, as it did in the "
                 "others",
                 held);
    else if (held)
        run_note(run,
                 "in %zu of them the thread did not run for more than 1 %% of the time; `on cputime` folds the time "
                 "that it ran",
                 held);
}

/* ---- which are folded ---- */

/* By the length of those that are whole: keep[visit] = 1 if it is alike enough. Returns how many. */
static size_t keep_alike(enum instances instances, const double *length, size_t count, uint8_t *keep)
{
    AUTO_FREE double *whole = xcalloc(count + 1, sizeof *whole);
    AUTO_FREE uint8_t *alike = xcalloc(count + 1, 1);
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(length[i]))
            whole[n++] = length[i];
    if (instances == INSTANCES_ALL)
        memset(alike, 1, n);
    else
        fold_alike(whole, n, instances == INSTANCES_MAD, alike);
    n = 0;
    for (size_t i = 0; i < count; i++)
        kept += keep[i] = !isnan(length[i]) && alike[n++];
    return kept;
}

static void take(struct folded *f, const struct visits *all, const double *length, const uint8_t *keep)
{
    f->found = all->len;
    f->length = ARENA_ARRAY(&f->run->arena, all->len + 1, double);
    for (size_t i = 0; i < all->len; i++)
        if (keep[i]) {
            f->length[f->visits.len] = length[i];
            vec_push(&f->visits, all->data[i]);
        }
    for (size_t i = 0; i < f->visits.len; i++)
        f->mean += f->length[i] / (double)f->visits.len;
}

/* Those that are whole and alike. */
static struct hq_error *choose(struct folded *f, const struct visits *all)
{
    const struct view *view = &f->run->query->view;
    AUTO_FREE double *ran = find_running(f, all), *length = xcalloc(all->len + 1, sizeof *length);
    AUTO_FREE uint8_t *keep = xcalloc(all->len + 1, 1);
    size_t kept, held = 0, known = 0, unknown = 0;
    bool dropped = false;

    for (size_t i = 0; i < all->len; i++) {
        bool whole = is_whole(&all->data[i]);

        known += whole && ran[i] > 0;
        unknown += whole && !(ran[i] > 0);
        length[i] = !whole ? NAN : !view->on_running ? (double)all->data[i].length_us / 1e6 : ran[i] > 0 ? ran[i] : NAN;
    }
    if (view->on_running && unknown && !known)
        return place_error(&view->on_place, NULL,
                           "the CPU time of %s is not known: record with -e CPUTIME, and mark it by --mark or "
                           "hq_phase_begin (hq.h)",
                           f->of);
    kept = keep_alike(view->instances, length, all->len, keep);
    if (kept && !view->on_running && view->instances != INSTANCES_ALL)
        held = drop_held_up(all, ran, keep, kept, &dropped);
    take(f, all, length, keep);
    if (!all->len)
        return NULL;
    run_note(f->run, "%zu of %zu %s%s", f->visits.len, all->len, view->cluster ? "stretches" : "visits",
             view->instances == INSTANCES_ALL ? ", all that are whole"
             : view->instances == INSTANCES_MAD
                 ? ", whole and within two median absolute deviations of the median length"
                 : ", whole and within two standard deviations of the mean length");
    note_held_up(f->run, held, dropped);
    if (view->on_running && unknown)
        run_note(f->run, "%zu %s left out, whose CPU time is not known, since their marks came faster than it is noted",
                 unknown, unknown == 1 ? "is" : "are");
    if (view->on_running)
        run_note(f->run, "times and rates are of CPU time");
    return NULL;
}

static const char *what_is_folded(struct folded *f)
{
    const struct view *v = &f->run->query->view;

    return v->cluster ? arena_printf(&f->run->arena, "cluster %u", v->cluster) : print_pattern(&f->run->arena, v->of);
}

struct hq_error *folded_choose(struct folded *f)
{
    const struct view *view = &f->run->query->view;
    struct visits all = {0};
    char *doubt = NULL;
    struct hq_error *err = trace_init(&f->trace, f->run, 1, 0, false);

    f->of = what_is_folded(f);
    f->mark = view->of ? matches_mark(&f->run->of, f->run->tree) : NULL;
    if (!err)
        err = view->cluster ? find_cluster(f, &all, &doubt) : stretches_of(f->run, &f->trace, f->mark, &all, &doubt);
    if (!err && doubt)
        err = place_error(view->cluster ? &view->cluster_place : &view->of->place, NULL,
                          view->cluster ? "its stretches cannot be folded: %s"
                                        : "its visits cannot be folded: %s; or mark them by --mark or "
                                          "hq_phase_begin (hq.h)",
                          doubt);
    f->metrics = stretches_metrics(f->run, &all, &f->metric_count);
    f->events = xcalloc(f->metric_count + 1, sizeof *f->events);
    f->counted = xcalloc(f->metric_count + 1, sizeof *f->counted);
    f->totals = xcalloc(f->metric_count + 1, sizeof *f->totals);
    if (!err)
        err = choose(f, &all);
    const char *hint = !err && !f->visits.len ? trace_device_hint(f->run) : NULL;

    if (hint)
        run_note(f->run, "%s", hint);
    else if (!err && !f->visits.len && !f->run->doubt && (!view->of || !matches_nothing(&f->run->of)))
        run_note(f->run,
                 "there is no whole visit to %s to fold: record a run in which it is entered and left, with a trace, "
                 "or mark it in the program by hq_phase_begin (hq.h)",
                 f->of);
    free(doubt);
    vec_deinit(&all);
    return err;
}
