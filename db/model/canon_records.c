/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of canon.c for what is counted exactly: regions, messages, and the commands of devices. */
#include "db/model/canon.h"

#include "common/compare.h"
#include "common/mem.h"
#include "db/model/model_data.h"
#include <stdlib.h>
#include <string.h>

/* Sorts records, and adds those that compare equal to the first of them: returns how many are left. */
static size_t join(void *records, size_t count, size_t size, int (*compare)(const void *, const void *),
                   void (*add)(void *to, const void *from))
{
    char *at = records;
    size_t n = 0;

    if (count)
        qsort(records, count, size, compare);
    for (size_t i = 0; i < count; i++) {
        if (n && !compare(at + (n - 1) * size, at + i * size))
            add(at + (n - 1) * size, at + i * size);
        else
            memmove(at + n++ * size, at + i * size, size);
    }
    return n;
}

static int compare_regions(const void *pa, const void *pb)
{
    const struct hqdb_region *a = pa, *b = pb;

    COMPARE(a->profile, b->profile);
    COMPARE(a->frame, b->frame);
    return 0;
}

static void add_region(void *to, const void *from)
{
    struct hqdb_region *sum = to;
    const struct hqdb_region *r = from;

    sum->entries += r->entries;
    sum->left += r->left;
    sum->elapsed_ns += r->elapsed_ns;
    sum->threads = sum->largest && r->largest ? sum->threads + r->threads : 0;
    sum->largest = sum->threads ? (r->largest > sum->largest ? r->largest : sum->largest) : 0;
}

/* Of one profile and frame there is one record. */
static void place_regions(const struct model *m, struct canon *c)
{
    c->regions = xcalloc(m->regions.len + 1, sizeof *c->regions);
    for (size_t i = 0; i < m->regions.len; i++) {
        c->regions[i] = m->regions.data[i];
        c->regions[i].frame = c->frame_of[c->regions[i].frame];
        c->regions[i].profile = c->profile_of[c->regions[i].profile];
    }
    c->region_count = join(c->regions, m->regions.len, sizeof *c->regions, compare_regions, add_region);
}

static int compare_messages(const void *pa, const void *pb)
{
    const struct hqdb_message *a = pa, *b = pb;

    COMPARE(a->profile, b->profile);
    COMPARE(a->frame, b->frame);
    COMPARE(a->group, b->group);
    COMPARE(a->peer, b->peer);
    return 0;
}

static void add_message(void *to, const void *from)
{
    struct hqdb_message *sum = to;
    const struct hqdb_message *x = from;

    sum->count += x->count;
    sum->bytes += x->bytes;
    sum->time_ns += x->time_ns;
    sum->received += x->received;
    sum->received_bytes += x->received_bytes;
}

/* Of one profile, frame, group and peer there is one record. */
static void place_messages(const struct model *m, struct canon *c)
{
    c->messages = xcalloc(m->messages.len + 1, sizeof *c->messages);
    for (size_t i = 0; i < m->messages.len; i++) {
        c->messages[i] = m->messages.data[i];
        c->messages[i].frame = c->frame_of[c->messages[i].frame];
        c->messages[i].profile = c->profile_of[c->messages[i].profile];
        c->messages[i].group = c->text_of[c->messages[i].group];
    }
    c->message_count = join(c->messages, m->messages.len, sizeof *c->messages, compare_messages, add_message);
}

static int compare_queues(const void *pa, const void *pb)
{
    const struct hqdb_queue *a = pa, *b = pb;

    COMPARE(a->profile, b->profile);
    return 0;
}

static int compare_commands(const void *pa, const void *pb)
{
    const struct hqdb_command *a = pa, *b = pb;

    COMPARE(a->profile, b->profile);
    COMPARE(a->start_ns, b->start_ns);
    COMPARE(a->called_ns, b->called_ns);
    COMPARE(a->time_ns, b->time_ns);
    COMPARE(a->frame, b->frame);
    return 0;
}

static int compare_host_waits(const void *pa, const void *pb)
{
    const struct hqdb_host_wait *a = pa, *b = pb;

    COMPARE(a->profile, b->profile);
    COMPARE(a->from_ns, b->from_ns);
    COMPARE(a->to_ns, b->to_ns);
    return 0;
}

static void place_devices(const struct model *m, struct canon *c)
{
    c->queue_count = m->queues.len;
    c->queues = xcalloc(c->queue_count + 1, sizeof *c->queues);
    for (size_t i = 0; i < c->queue_count; i++) {
        c->queues[i] = m->queues.data[i];
        c->queues[i].profile = c->profile_of[c->queues[i].profile];
        c->queues[i].device = c->text_of[c->queues[i].device];
    }
    c->command_count = m->commands.len;
    c->commands = xcalloc(c->command_count + 1, sizeof *c->commands);
    for (size_t i = 0; i < c->command_count; i++) {
        struct hqdb_command *x = &c->commands[i];

        *x = m->commands.data[i];
        x->frame = c->frame_of[x->frame];
        x->profile = c->profile_of[x->profile];
        x->host_profile = x->host_profile == HQDB_NONE ? HQDB_NONE : c->profile_of[x->host_profile];
    }
    if (c->queue_count)
        qsort(c->queues, c->queue_count, sizeof *c->queues, compare_queues);
    if (c->command_count)
        qsort(c->commands, c->command_count, sizeof *c->commands, compare_commands);
    c->host_wait_count = m->host_waits.len;
    c->host_waits = xcalloc(c->host_wait_count + 1, sizeof *c->host_waits);
    for (size_t i = 0; i < c->host_wait_count; i++) {
        c->host_waits[i] = m->host_waits.data[i];
        c->host_waits[i].profile = c->profile_of[c->host_waits[i].profile];
    }
    if (c->host_wait_count)
        qsort(c->host_waits, c->host_wait_count, sizeof *c->host_waits, compare_host_waits);
}

void canon_place_records(const struct model *m, struct canon *c)
{
    place_regions(m, c);
    place_messages(m, c);
    place_devices(m, c);
}
