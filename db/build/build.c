/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The build: two passes over the measurement files, both parallel over files. The first collects call paths into
 * one tree per worker; the trees are merged, attributed, and put in their final order. The second turns each file
 * into coded values and traces, which are put together in the order of profiles. So the memory that is needed depends
 * on the tree, and the result on nothing but the measurements.
 */
#include "db/build/builder.h"

#include "common/file.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/parallel.h"
#include "db/build/attribute.h"
#include "db/build/clocks.h"
#include "db/build/devices.h"
#include "db/facts.h"
#include "db/measurement.h"
#include "db/model/model_data.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- first pass ---- */

static void scan_one(size_t index, unsigned worker, void *arg)
{
    struct builder *b = arg;

    b->slots[index].worker = worker;
    b->slots[index].error = process_scan(b->files->data[b->first_file + index], &b->trees[worker],
                                         &b->processes[index]);
    progress_add(&b->progress, 1);
}

/* A file that cannot be read must not keep the others from being seen. */
static void drop_unreadable(struct builder *b)
{
    for (size_t i = 0; i < b->file_count; i++) {
        struct hq_error *err = b->slots[i].error;

        if (!err) {
            b->slots[b->process_count].worker = b->slots[i].worker;
            b->processes[b->process_count++] = b->processes[i];
            continue;
        }
        process_deinit(&b->processes[i]);
        b->unreadable += measurement_has_begun(b->files->data[b->first_file + i]);
        log_warn("%s; the database is made without it", err->message);
        hq_error_free(b->last_error);
        b->last_error = err;
    }
}

static void merge_trees(struct builder *b)
{
    b->remaps = xcalloc(b->threads, sizeof *b->remaps);
    calltree_init(&b->tree);
    for (unsigned w = 0; w < b->threads; w++) {
        b->remaps[w] = calltree_merge(&b->tree, &b->trees[w]);
        calltree_deinit(&b->trees[w]);
    }
    for (size_t i = 0; i < b->process_count; i++)
        process_move_frames(&b->processes[i], b->remaps[b->slots[i].worker]);
}

static int compare_processes(const void *pa, const void *pb)
{
    const struct process *a = pa, *b = pb;
    int c = strcmp(a->host, b->host);

    if (c)
        return c;
    if (a->header.rank != b->header.rank)
        return a->header.rank < b->header.rank ? -1 : 1;
    if (a->header.pid != b->header.pid)
        return a->header.pid < b->header.pid ? -1 : 1;
    if (a->header.serial != b->header.serial)
        return a->header.serial < b->header.serial ? -1 : 1;
    if (a->header.start_realtime_ns != b->header.start_realtime_ns)
        return a->header.start_realtime_ns < b->header.start_realtime_ns ? -1 : 1;
    c = strcmp(file_basename(a->path), file_basename(b->path));
    return c ? c : strcmp(a->path, b->path);
}

/* A file that was copied to two places would count twice. */
static void drop_twins(struct builder *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->process_count; i++) {
        struct process *p = &b->processes[i], *before = n ? &b->processes[n - 1] : NULL;

        if (before && !strcmp(before->host, p->host) && before->header.rank == p->header.rank &&
            before->header.pid == p->header.pid && before->header.serial == p->header.serial &&
            before->header.start_realtime_ns == p->header.start_realtime_ns) {
            log_warn("%s and %s are the same measurement; it is counted once", before->path, p->path);
            process_deinit(p);
        } else {
            b->processes[n++] = *p;
        }
    }
    b->process_count = n;
}

static void first_pass(struct builder *b)
{
    size_t n = b->file_count;

    b->processes = xcalloc(n + 1, sizeof *b->processes);
    b->slots = xcalloc(n + 1, sizeof *b->slots);
    b->trees = xcalloc(b->threads, sizeof *b->trees);
    for (unsigned w = 0; w < b->threads; w++)
        calltree_init(&b->trees[w]);
    progress_start(&b->progress, "reading measurements", n, false);
    parallel_for(n, b->threads, scan_one, b);
    progress_finish(&b->progress);
    drop_unreadable(b);
    merge_trees(b);
}

/* Fails if nothing is left of any. */
static struct hq_error *tell_damage(const struct builder *b)
{
    uint64_t samples = 0, threads = 0;

    for (size_t i = 0; i < b->process_count; i++) {
        const struct process *p = &b->processes[i];

        samples += p->header.samples;
        threads += p->thread_count;
        if (p->damaged)
            log_warn("%s: the measurement file is damaged: %" PRIu64 " of its %" PRIu64 " samples are there", p->path,
                     p->header.samples - p->missing, p->header.samples);
    }
    if (samples && !threads)
        return hq_error_new(HQ_DATA,
                            "the measurement files are damaged and none of their samples is left; record again");
    return NULL;
}

/* All processes in canonical order. */
static struct hq_error *sort_processes(struct builder *b)
{
    if (!b->process_count && b->last_error)
        return MEM_STEAL(b->last_error);
    if (!b->process_count)
        return hq_error_new(HQ_DATA, "none of the measurement files could be read");
    qsort(b->processes, b->process_count, sizeof *b->processes, compare_processes);
    drop_twins(b);
    HQ_TRY(tell_damage(b));
    return b->options->clock_offsets ? clocks_apply(b->options->clock_offsets, b->processes, b->process_count) : NULL;
}

/* ---- the model ---- */

static uint32_t add_metric(struct model *m, const struct process_event *e)
{
    uint16_t flags = (e->flags & HQM_EVENT_SAMPLED ? HQDB_METRIC_SAMPLED : 0) |
                     (e->flags & HQM_EVENT_EXACT ? HQDB_METRIC_EXACT : 0) |
                     (e->flags & HQM_EVENT_TRACED ? HQDB_METRIC_TRACED : 0) |
                     (e->flags & HQM_EVENT_ELAPSED ? HQDB_METRIC_ELAPSED : 0) |
                     (e->flags & HQM_EVENT_DEVICE ? HQDB_METRIC_DEVICE : 0) |
                     (e->flags & HQM_EVENT_COUNTED ? HQDB_METRIC_COUNTED : 0);
    uint64_t period = e->period;

    if (devices_are_traced(e)) {
        flags |= HQDB_METRIC_TRACED | HQDB_METRIC_SPANS;
        period = DEVICE_TICK_NS;
    }
    return model_metric(m, &(struct model_metric){e->name, e->description, e->dimension, flags, period, e->scale});
}

static void add_profiles(struct builder *b, const struct process *p, uint32_t first)
{
    AUTO_FREE char *called = process_called(p);

    for (size_t i = 0; i < p->thread_count; i++) {
        const struct process_thread *t = &p->threads[i];
        struct model_profile profile = {
            .rank = p->header.rank,
            .host = p->host,
            .pid = p->header.pid,
            .tid = t->tid,
            .thread = t->number,
            .serial = p->header.serial,
            .state = p->header.state,
            .command = called,
            .creator_profile = HQDB_NONE,
            .creator_frame = HQDB_NONE,
            .start_realtime_ns = p->header.start_realtime_ns,
            .start_us = t->start_us,
            .end_us = t->end_us,
        };

        uint32_t creator = t->creator == t->number ? TREE_NONE : process_thread(p, t->creator);

        if (creator != TREE_NONE)
            profile.creator_profile = first + creator;
        if (t->creator_frame != TREE_NONE)
            profile.creator_frame = b->frames[t->creator_frame];
        model_profile(b->model, &profile);
    }
}

static void add_regions(struct builder *b, const struct process *p, uint32_t first)
{
    for (size_t i = 0; i < p->region_count; i++) {
        const struct process_region *r = &p->regions[i];
        uint32_t thread = process_thread(p, r->thread);

        if (thread != TREE_NONE && b->frames[r->frame] != HQDB_NONE)
            model_region(b->model, &(struct hqdb_region){b->frames[r->frame], first + thread, r->entries, r->left,
                                                         r->elapsed_ns, r->threads, r->largest, 0});
    }
}

static void add_messages(struct builder *b, const struct process *p, uint32_t first)
{
    for (size_t i = 0; i < p->message_count; i++) {
        const struct process_message *x = &p->messages[i];
        struct hqdb_message message = x->message;
        uint32_t thread = process_thread(p, x->thread);

        message.frame = b->frames[x->frame];
        if (thread != TREE_NONE && message.frame != HQDB_NONE) {
            message.profile = first + thread;
            model_message(b->model, &message, x->group);
        }
    }
}

static void add_processes(struct builder *b)
{
    b->metrics = xcalloc(b->process_count + 1, sizeof *b->metrics);
    b->first_profile = xcalloc(b->process_count + 1, sizeof *b->first_profile);
    for (size_t i = 0; i < b->process_count; i++) {
        const struct process *p = &b->processes[i];

        b->metrics[i] = xcalloc(p->event_count + 1, sizeof **b->metrics);
        for (size_t e = 0; e < p->event_count; e++)
            b->metrics[i][e] = p->events[e].name && *p->events[e].name ? add_metric(b->model, &p->events[e])
                                                                       : HQDB_NONE;
        add_profiles(b, p, b->first_profile[i]);
        add_regions(b, p, b->first_profile[i]);
        add_messages(b, p, b->first_profile[i]);
        devices_add(p, b->frames, b->first_profile[i], b->model);
        b->first_profile[i + 1] = b->first_profile[i] + (uint32_t)p->thread_count;
    }
    build_settle_periods(b);
}

static struct hq_error *make_canon(struct builder *b)
{
    AUTO_FREE char *cache = b->options->no_structure_cache ? NULL : file_cache_dir();
    struct attribute_options options = {.threads = b->threads, .cache_dir = cache, .no_loops = b->options->no_loops};

    AUTO(given_close_at) struct given *given = NULL;

    if (b->options->structure_count)
        HQ_TRY(given_open(b->options->structures, b->options->structure_count, b->options->structure_by_name, &given));
    options.given = given;
    b->model = model_create();
    facts_add(b->model, b->processes, b->process_count, b->unreadable);
    HQ_TRY(attribute(&b->tree, &options, b->model, &b->frames));
    if (given)
        facts_add_groups(b->model, given);
    add_processes(b);
    if (b->options->with_source)
        facts_add_sources(b->model);
    HQ_TRY(canon_make(b->model, &b->canon));
    for (uint32_t i = 0; i < b->tree.frames.len; i++)
        b->frames[i] = b->frames[i] == HQDB_NONE ? HQDB_NONE : b->canon.frame_of[b->frames[i]];
    return NULL;
}

/* ---- second pass ---- */

enum { BATCH_PROFILES = 64 };

static void cut_batches(struct builder *b)
{
    uint32_t start = 0;

    b->cuts = xcalloc(b->process_count + 2, sizeof *b->cuts);
    for (size_t i = 0; i < b->process_count; i++) {
        if (!i || b->first_profile[i] - start >= BATCH_PROFILES) {
            start = b->first_profile[i];
            b->cuts[b->batch_count++] = i;
        }
    }
    b->cuts[b->batch_count] = b->process_count;
    b->first_batch = b->batch_count * (size_t)b->ranks->rank / (size_t)b->ranks->size;
    b->end_batch = b->batch_count * ((size_t)b->ranks->rank + 1) / (size_t)b->ranks->size;
    b->next_batch = b->first_batch;
}

static struct hq_error *fill_process(struct builder *b, size_t process, struct batch *batch, struct tally *tally)
{
    struct process_places places = {&b->tree, b->frames, b->metrics[process], b->canon.metrics, b->canon.metric_count};
    AUTO(process_data_deinit) struct process_data data;

    HQ_TRY(process_fill(&b->processes[process], &places, &data));
    for (size_t t = 0; t < data.thread_count; t++) {
        batch_add(batch, &b->canon, tally, data.values + t * data.metric_count);
        batch_trace(batch, data.traces[t].data, data.traces[t].len);
        batch_marks(batch, data.marks[t].data, data.marks[t].len);
        batch_growth(batch, &data.growth[t], &data.marks[t]);
    }
    return NULL;
}

/* Batches are handed out in ascending order, so the one whose turn it is is always being made. */
static struct hq_error *append_in_turn(struct builder *b, size_t index, const struct batch *batch, struct hq_error *err)
{
    pthread_mutex_lock(&b->lock);
    while (b->next_batch != index && !b->failed)
        pthread_cond_wait(&b->turn, &b->lock);
    if (!err && !b->failed)
        err = b->assembly ? assembly_add(b->assembly, batch) : ranks_keep_batch(b, batch);
    b->failed |= err != NULL;
    b->next_batch++;
    pthread_cond_broadcast(&b->turn);
    pthread_mutex_unlock(&b->lock);
    return err;
}

static struct hq_error *fill_batch(size_t number, unsigned worker, void *arg)
{
    struct builder *b = arg;
    struct hq_error *err = NULL;
    struct batch batch;
    size_t index = b->first_batch + number;

    if (!b->tallies[worker])
        b->tallies[worker] = tally_create(&b->canon);
    batch_init(&batch, b->first_profile[b->cuts[index]], b->canon.metric_count);
    for (size_t p = b->cuts[index]; !err && p < b->cuts[index + 1]; p++) {
        err = fill_process(b, p, &batch, b->tallies[worker]);
        progress_add(&b->progress, 1);
    }
    batch_finish(&batch, &b->canon);
    err = append_in_turn(b, index, &batch, err);
    batch_deinit(&batch);
    return err;
}

static struct tally *merge_tallies(struct builder *b)
{
    struct tally *all = tally_create(&b->canon);

    for (unsigned w = 0; w < b->threads; w++) {
        if (b->tallies[w])
            tally_merge(all, b->tallies[w]);
        tally_destroy(b->tallies[w]);
        b->tallies[w] = NULL;
    }
    return all;
}

/* On every rank; where there is no assembly the batches go to the rank that has it. */
static struct hq_error *second_pass(struct builder *b)
{
    struct hq_error *err;
    struct tally *all;

    cut_batches(b);
    b->tallies = xcalloc(b->threads, sizeof *b->tallies);
    progress_start(&b->progress, "gathering values", b->process_count, false);
    err = parallel_try(b->end_batch - b->first_batch, b->threads, fill_batch, b);
    all = merge_tallies(b);
    if (!err)
        err = ranks_collect(b, all);
    if (!err && b->assembly)
        err = assembly_finish(b->assembly, all);
    progress_finish(&b->progress);
    tally_destroy(all);
    return err;
}

static struct hq_error *write_database(struct builder *b, const char *path, const struct sources_state *state)
{
    AUTO_FREE char *directory = file_dirname(path);
    struct writer *w;
    struct hq_error *err;

    HQ_TRY(writer_open(path, &w));
    canon_write(&b->canon, w);
    model_write_sources(b->model, &b->canon, w);
    model_write_known(b->model, &b->canon, w);
    b->assembly = assembly_create(&b->canon, w, directory);
    err = second_pass(b);
    assembly_destroy(b->assembly);
    if (err) {
        writer_abandon(w);
        return err;
    }
    return writer_commit(w, state->key, state->files_key);
}

/* Does the share of a rank other than 0: its part of the second pass. */
static struct hq_error *help(struct builder *b)
{
    struct spool outgoing;
    struct hq_error *err;
    AUTO_FREE char *directory = xstrdup(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");

    spool_init(&outgoing, directory);
    b->outgoing = &outgoing;
    err = second_pass(b);
    spool_deinit(&outgoing);
    return err;
}

static void deinit(struct builder *b)
{
    for (size_t i = 0; i < b->process_count; i++) {
        process_deinit(&b->processes[i]);
        if (b->metrics)
            free(b->metrics[i]);
    }
    for (unsigned w = 0; b->remaps && w < b->threads; w++)
        free(b->remaps[w]);
    for (unsigned w = 0; !b->remaps && b->trees && w < b->threads; w++)
        calltree_deinit(&b->trees[w]);
    calltree_deinit(&b->tree);
    canon_deinit(&b->canon);
    model_destroy(b->model);
    free(b->processes);
    free(b->slots);
    free(b->trees);
    free(b->remaps);
    free(b->frames);
    free(b->metrics);
    free(b->first_profile);
    free(b->cuts);
    free(b->tallies);
    vec_deinit(&b->outgoing_lengths);
    hq_error_free(b->last_error);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->turn);
}

static struct hq_error *build_all(struct builder *b, const char *path, const struct sources_state *state)
{
    first_pass(b);
    ranks_gather(b);
    if (!b->ranks->rank) {
        HQ_TRY(sort_processes(b));
        HQ_TRY(make_canon(b));
    }
    ranks_share_plan(b);
    return b->ranks->rank ? help(b) : write_database(b, path, state);
}

struct hq_error *build_database(const struct source_files *files, const struct build_options *options,
                                const struct ranks *ranks, const char *path, const struct sources_state *state)
{
    AUTO(deinit) struct builder b = {.options = options, .files = files, .ranks = ranks};
    size_t size = (size_t)ranks->size, rank = (size_t)ranks->rank;

    b.threads = options->threads > 0 ? (unsigned)options->threads : parallel_threads();
    b.first_file = files->len * rank / size;
    b.file_count = files->len * (rank + 1) / size - b.first_file;
    pthread_mutex_init(&b.lock, NULL);
    pthread_cond_init(&b.turn, NULL);
    /* Its steps have lines of their own; this one is seen between them. */
    struct progress whole;

    progress_start(&whole, "building the database", 0, false);
    struct hq_error *error = build_all(&b, path, state);

    progress_finish(&whole);
    return error;
}
