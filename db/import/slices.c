/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/import/slices.h"

#include "common/mem.h"

enum { READ_AHEAD = 2048 }; /* slices of a run */

void slices_init(struct slices *s, size_t run_length, const char *directory)
{
    *s = (struct slices){.run_length = run_length};
    spool_init(&s->spool, directory);
}

void slices_deinit(struct slices *s)
{
    vec_foreach(r, &s->runs)
        free(r->data);
    vec_deinit(&s->runs);
    vec_deinit(&s->last);
    spool_deinit(&s->spool);
}

/* At the same time complete events come first, the longest of them outermost; the others as they are in the file. */
static int compare_slices(const void *pa, const void *pb)
{
    const struct slice *a = pa, *b = pb;
    int c = (a->thread > b->thread) - (a->thread < b->thread);

    c = c ? c : (a->ts > b->ts) - (a->ts < b->ts);
    c = c ? c : (a->phase != 'X') - (b->phase != 'X');
    if (!c && a->phase == 'X')
        c = (a->dur < b->dur) - (a->dur > b->dur);
    return c ? c : (a->order > b->order) - (a->order < b->order);
}

static struct hq_error *end_run(struct slices *s)
{
    struct slice_run run = {.at = s->spool.bytes};

    vec_sort(&s->last, compare_slices);
    for (size_t i = 0; i < s->last.len; i += READ_AHEAD) {
        size_t n = s->last.len - i < READ_AHEAD ? s->last.len - i : READ_AHEAD;

        HQ_TRY(spool_append(&s->spool, &s->last.data[i], n * sizeof *s->last.data));
    }
    run.end = s->spool.bytes;
    vec_clear(&s->last);
    vec_push(&s->runs, run);
    return NULL;
}

struct hq_error *slices_add(struct slices *s, const struct slice *slice)
{
    vec_push(&s->last, *slice);
    vec_last(&s->last).order = (uint32_t)s->count++;
    return s->last.len == s->run_length ? end_run(s) : NULL;
}

/* ---- merging ---- */

static const struct slice *top_of(const struct slice_run *r)
{
    return &r->data[r->next];
}

/* Reads the next part of a run into memory; no records at the end of the run. */
static struct hq_error *refill(struct slices *s, struct slice_run *r)
{
    uint64_t left = (r->end - r->at) / sizeof *r->data;
    size_t n = left < READ_AHEAD ? left : READ_AHEAD;

    HQ_TRY(spool_copy(&s->spool, r->at, r->data, n * sizeof *r->data));
    r->at += n * sizeof *r->data;
    r->next = 0;
    r->len = n;
    return NULL;
}

static void sift_down(struct slices *s, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < s->runs.len; i = child) {
        struct slice_run *runs = s->runs.data, moved = runs[i];

        if (child + 1 < s->runs.len && compare_slices(top_of(&runs[child + 1]), top_of(&runs[child])) < 0)
            child++;
        if (compare_slices(top_of(&moved), top_of(&runs[child])) <= 0)
            return;
        runs[i] = runs[child];
        runs[child] = moved;
    }
}

static struct hq_error *open_runs(struct slices *s)
{
    if (s->last.len)
        HQ_TRY(end_run(s));
    vec_deinit(&s->last);
    vec_foreach(r, &s->runs) {
        r->data = xmalloc(READ_AHEAD * sizeof *r->data);
        HQ_TRY(refill(s, r));
    }
    for (size_t i = s->runs.len; i-- > 0;)
        sift_down(s, i);
    return NULL;
}

struct hq_error *slices_sort(struct slices *s)
{
    if (s->runs.len)
        return open_runs(s);
    vec_sort(&s->last, compare_slices);
    if (s->last.len)
        vec_push(&s->runs, (struct slice_run){.data = s->last.data, .len = s->last.len});
    else
        vec_deinit(&s->last);
    s->last.data = NULL;
    return NULL;
}

struct hq_error *slices_next(struct slices *s, struct slice *out, bool *more)
{
    *more = s->runs.len > 0;
    if (!*more)
        return NULL;
    struct slice_run *r = &s->runs.data[0];

    *out = *top_of(r);
    if (++r->next == r->len)
        HQ_TRY(refill(s, r));
    if (!r->len) {
        free(r->data);
        *r = vec_pop(&s->runs);
    }
    sift_down(s, 0);
    return NULL;
}
