/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/perf/live.h"

#include "common/mem.h"
#include "db/perf/tasks.h"
#include "format/measurement.h"
#include "format/stream.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_WORDS = 8191 }; /* the size of a record is told in 16 bits */

struct waiting {
    uint64_t time, number; /* as they came */
    uint8_t *record;
    size_t size;
};

struct perf_live {
    struct perf_layout layout;
    struct perf_tasks tasks;
    struct perf_path path;
    VEC(struct waiting) waiting;
    uint64_t count;
    uint64_t out[RECORD_WORDS];
};

struct perf_live *perf_live_begin(const struct perf_layout *layout, const char *vdso)
{
    struct perf_live *l = xcalloc(1, sizeof *l);

    l->layout = *layout;
    perf_tasks_init(&l->tasks);
    l->tasks.vdso = vdso ? xstrdup(vdso) : NULL;
    return l;
}

void perf_live_end(struct perf_live *l)
{
    if (!l)
        return;
    vec_foreach(w, &l->waiting)
        free(w->record);
    vec_deinit(&l->waiting);
    vec_deinit(&l->path.kernel);
    perf_tasks_deinit(&l->tasks);
    free(l);
}

void perf_live_add(struct perf_live *l, const uint8_t *record, size_t size)
{
    struct waiting w = {perf_event_time(&l->layout, record, size), l->count++, xmalloc(size), size};

    memcpy(w.record, record, size);
    vec_push(&l->waiting, w);
}

static int by_time(const void *pa, const void *pb)
{
    const struct waiting *a = pa, *b = pb;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* The sample with its path for a chain; whoever reads it takes one from all addresses but the first, for look-up. */
static size_t write_path(struct perf_live *l, const struct perf_event *e)
{
    const struct perf_path *p = &l->path;
    struct perf_event_header *h = (struct perf_event_header *)l->out; /* NOLINT: the first word */
    uint64_t *out = l->out;
    size_t at = 5, most = RECORD_WORDS - 3; /* what stands behind the chain */

    *h = (struct perf_event_header){.type = PERF_RECORD_SAMPLE, .misc = e->misc};
    out[1] = e->ip;
    out[2] = e->pid | (uint64_t)e->tid << 32;
    out[3] = e->time;
    if (p->kernel.len)
        out[at++] = (uint64_t)PERF_CONTEXT_KERNEL;
    for (size_t i = 0; i < p->kernel.len && at < most; i++)
        out[at++] = p->kernel.data[i] + (i > 0);
    if (p->frame_count && at < most)
        out[at++] = (uint64_t)PERF_CONTEXT_USER;
    for (size_t i = 0; i < p->frame_count && at < most; i++)
        out[at++] = p->frames[i].address + (i > 0);
    if (at == most)
        out[at++] = HQS_PARTIAL(HQM_PARTIAL_TOO_DEEP);
    else if (p->partial)
        out[at++] = HQS_PARTIAL(p->partial);
    out[4] = at - 5;
    out[at++] = 0; /* registers */
    out[at++] = 0; /* stack */
    h->size = (uint16_t)(8 * at);
    return h->size;
}

void perf_live_take(struct perf_live *l, uint64_t until, perf_live_put *put, void *arg)
{
    size_t done = 0;

    vec_sort(&l->waiting, by_time);
    for (; done < l->waiting.len && l->waiting.data[done].time <= until; done++) {
        struct waiting *w = &l->waiting.data[done];
        struct perf_event e;
        bool fine = perf_event_read(&l->layout, w->record, w->size, &e);

        if (fine && e.type != PERF_RECORD_SAMPLE) {
            perf_tasks_note(&l->tasks, &e);
        } else if (fine) {
            perf_tasks_unwind(&l->tasks, &e, l->layout.registers, &l->path);
            put(arg, (const uint8_t *)l->out, write_path(l, &e));
        }
        free(w->record);
    }
    if (!done)
        return;
    memmove(l->waiting.data, l->waiting.data + done, (l->waiting.len - done) * sizeof *l->waiting.data);
    l->waiting.len -= done;
}
