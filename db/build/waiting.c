/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/waiting.h"

#include "db/build/process.h"
#include "db/sources.h"
#include <time.h>

struct map waiting_find(const struct measurement *m)
{
    struct measured records = measured_records(m, HQM_THREADS, 0);
    struct map waits = {0};

    for (const struct hqm_thread *t; (t = measured_next(&records));)
        if (t->wait_event && !t->end_us)
            map_put(&waits, t->lane, (uint64_t)(uintptr_t)t);
    return waits;
}

static uint64_t open_us(const struct hqm_header *h)
{
    uint64_t shut = h->closed_us;

    if (h->closed_since_us && h->end_us > h->closed_since_us)
        shut += h->end_us - h->closed_since_us;
    return h->end_us > shut ? h->end_us - shut : 0;
}

/* The collector sets the event to 0, writes the rest, and sets the event. */
static bool read_wait(const struct hqm_thread *t, struct hqm_thread *out)
{
    uint32_t event = __atomic_load_n(&t->wait_event, __ATOMIC_ACQUIRE);

    *out = (struct hqm_thread){.number = t->number,
                               .wait_node = __atomic_load_n(&t->wait_node, __ATOMIC_RELAXED),
                               .wait_event = event,
                               .wait_us = __atomic_load_n(&t->wait_us, __ATOMIC_ACQUIRE)};
    return event && __atomic_load_n(&t->wait_event, __ATOMIC_RELAXED) == event;
}

bool waiting_of(const struct map *waits, const struct process *p, uint32_t lane, struct waiting *out)
{
    const struct hqm_thread *t = (const void *)(uintptr_t)map_get(waits, lane, 0);
    struct hqm_thread wait;
    uint64_t until = open_us(&p->header), period, weight;

    if (!t || !read_wait(t, &wait) || wait.wait_event > p->event_count || until <= wait.wait_us)
        return false;
    period = p->events[wait.wait_event - 1].period;
    if (!period || until - wait.wait_us > INT64_MAX / 1000)
        return false;
    weight = (until - wait.wait_us) * 1000 / period;
    *out = (struct waiting){wait.number, wait.wait_node, wait.wait_event - 1, (uint32_t)weight};
    return weight && weight <= UINT32_MAX && weight <= INT64_MAX / period;
}

uint64_t waiting_until(const char *path, const struct hqm_header *header)
{
    struct timespec t;

    if (header->state != HQM_RUNNING || !sources_is_here(path) || !sources_is_written(path, header))
        return header->end_us;
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000, start = header->start_realtime_ns / 1000;
    return now > start && now - start > header->end_us ? now - start : header->end_us;
}
