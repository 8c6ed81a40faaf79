/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/pack.h"

#include "common/mem.h"
#include <string.h>

static void put_number(struct bytes *b, uint64_t x)
{
    vec_append(b, (const uint8_t *)&x, sizeof x);
}

void pack_array(struct bytes *b, const void *data, size_t count, size_t size)
{
    put_number(b, count);
    vec_append(b, (const uint8_t *)data, count * size);
}

void *unpack_array(struct cursor *c, size_t *count, size_t size)
{
    uint64_t n = cursor_u64(c);
    const void *p = cursor_array(c, n, size);
    void *copy;

    *count = p ? (size_t)n : 0;
    copy = xcalloc(*count + 1, size);
    if (*count)
        memcpy(copy, p, *count * size);
    return copy;
}

#define PACK(b, array, count)   pack_array(b, array, count, sizeof *(array))
#define UNPACK(c, array, count) ((array) = unpack_array(c, &(count), sizeof *(array)))

static void pack_text(struct bytes *b, const char *s)
{
    vec_append(b, (const uint8_t *)s, strlen(s) + 1);
}

static const char *unpack_text(struct cursor *c)
{
    const char *s = cursor_str(c);

    return s ? s : "";
}

/* ---- trees ---- */

void pack_tree(struct bytes *b, const struct calltree *t)
{
    put_number(b, intern_count(&t->strings));
    for (uint32_t i = 1; i < intern_count(&t->strings); i++)
        pack_text(b, intern_str(&t->strings, i));
    PACK(b, t->modules.data, t->modules.len);
    pack_array(b, t->creators.len ? keymap_key(&t->creators, 0) : NULL, t->creators.len, sizeof(struct tree_creator));
    pack_array(b, t->openings.len ? keymap_key(&t->openings, 0) : NULL, t->openings.len, sizeof(struct tree_opening));
    pack_array(b, t->frames.len ? keymap_key(&t->frames, 0) : NULL, t->frames.len, sizeof(struct tree_frame));
    PACK(b, t->sampled.data, t->sampled.len);
}

void unpack_tree(struct cursor *c, struct calltree *out)
{
    uint64_t texts = cursor_u64(c);
    size_t creators, openings, frames;
    AUTO_FREE struct tree_creator *creator = NULL;
    AUTO_FREE struct tree_opening *opening = NULL;
    AUTO_FREE struct tree_frame *frame = NULL;

    calltree_init(out);
    for (uint64_t i = 1; i < texts && cursor_ok(c); i++)
        intern_add(&out->strings, unpack_text(c));
    UNPACK(c, out->modules.data, out->modules.len);
    out->modules.cap = out->modules.len;
    for (size_t i = 0; i < out->modules.len; i++)
        keymap_add(&out->module_keys, (uint32_t[]){out->modules.data[i].path, out->modules.data[i].build_id}, NULL);
    UNPACK(c, creator, creators);
    for (size_t i = 0; i < creators; i++)
        keymap_add(&out->creators, &creator[i], NULL);
    UNPACK(c, opening, openings);
    for (size_t i = 0; i < openings; i++)
        keymap_add(&out->openings, &opening[i], NULL);
    UNPACK(c, frame, frames);
    for (size_t i = 0; i < frames; i++)
        keymap_add(&out->frames, &frame[i], NULL);
    UNPACK(c, out->sampled.data, out->sampled.len);
    out->sampled.cap = out->sampled.len;
}

/* ---- processes ---- */

void pack_process(struct bytes *b, const struct process *p)
{
    const char *texts[] = {p->path,     p->directory, p->host,   p->command, p->executable, p->working_directory,
                           p->launcher, p->collector, p->machine};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        pack_text(b, texts[i]);
    pack_array(b, &p->header, 1, sizeof p->header);
    put_number(b, p->warning_count);
    for (size_t i = 0; i < p->warning_count; i++)
        pack_text(b, p->warnings[i]);
    PACK(b, p->events, p->event_count);
    for (size_t i = 0; i < p->event_count; i++) {
        pack_text(b, p->events[i].name ? p->events[i].name : "");
        pack_text(b, p->events[i].name ? p->events[i].description : "");
    }
    PACK(b, p->threads, p->thread_count);
    PACK(b, p->regions, p->region_count);
    PACK(b, p->messages, p->message_count);
    for (size_t i = 0; i < p->message_count; i++)
        pack_text(b, p->messages[i].group);
    PACK(b, p->queues, p->queue_count);
    for (size_t i = 0; i < p->queue_count; i++)
        pack_text(b, p->queues[i].device);
    PACK(b, p->commands, p->command_count);
    PACK(b, p->command_sums, p->command_sum_count);
    PACK(b, p->host_waits, p->host_wait_count);
    put_number(b, p->damaged);
    put_number(b, p->missing);
}

static void *keep(struct arena *a, struct cursor *c, size_t *count, size_t size)
{
    AUTO_FREE void *p = unpack_array(c, count, size);
    void *copy = arena_array(a, *count, size);

    memcpy(copy, p, *count * size);
    return copy;
}

void unpack_process(struct cursor *c, struct process *out)
{
    const char **texts[] = {&out->path,     &out->directory,  &out->host,
                            &out->command,  &out->executable, &out->working_directory,
                            &out->launcher, &out->collector,  &out->machine};
    struct hqm_header *header;
    size_t one;

    *out = (struct process){0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_strdup(&out->arena, unpack_text(c));
    header = keep(&out->arena, c, &one, sizeof *header);
    if (one)
        out->header = *header;
    out->warning_count = cursor_u64(c);
    out->warnings = ARENA_ARRAY(&out->arena, out->warning_count, const char *);
    for (size_t i = 0; i < out->warning_count; i++)
        out->warnings[i] = arena_strdup(&out->arena, unpack_text(c));
    out->events = keep(&out->arena, c, &out->event_count, sizeof *out->events);
    for (size_t i = 0; i < out->event_count; i++) {
        const char *name = arena_strdup(&out->arena, unpack_text(c));

        out->events[i].name = *name ? name : NULL;
        out->events[i].description = arena_strdup(&out->arena, unpack_text(c));
    }
    out->threads = keep(&out->arena, c, &out->thread_count, sizeof *out->threads);
    out->regions = keep(&out->arena, c, &out->region_count, sizeof *out->regions);
    out->messages = keep(&out->arena, c, &out->message_count, sizeof *out->messages);
    for (size_t i = 0; i < out->message_count; i++)
        out->messages[i].group = arena_strdup(&out->arena, unpack_text(c));
    out->queues = keep(&out->arena, c, &out->queue_count, sizeof *out->queues);
    for (size_t i = 0; i < out->queue_count; i++)
        out->queues[i].device = arena_strdup(&out->arena, unpack_text(c));
    out->commands = keep(&out->arena, c, &out->command_count, sizeof *out->commands);
    out->command_sums = keep(&out->arena, c, &out->command_sum_count, sizeof *out->command_sums);
    out->host_waits = keep(&out->arena, c, &out->host_wait_count, sizeof *out->host_waits);
    out->damaged = cursor_u64(c) != 0;
    out->missing = cursor_u64(c);
}

/* ---- canonical tables ---- */

void pack_canon(struct bytes *b, const struct canon *canon)
{
    PACK(b, canon->metrics, canon->metric_count);
    PACK(b, canon->scopes, canon->scope_count);
    PACK(b, canon->contexts, canon->context_count);
    PACK(b, canon->profiles, canon->profile_count);
    PACK(b, canon->frame_context, canon->frame_count);
    put_number(b, canon->ranked);
}

void unpack_canon(struct cursor *c, struct canon *out)
{
    *out = (struct canon){0};
    UNPACK(c, out->metrics, out->metric_count);
    UNPACK(c, out->scopes, out->scope_count);
    UNPACK(c, out->contexts, out->context_count);
    UNPACK(c, out->profiles, out->profile_count);
    UNPACK(c, out->frame_context, out->frame_count);
    out->ranked = cursor_u64(c) != 0;
}

/* ---- batches ---- */

void pack_batch(struct bytes *b, const struct batch *batch)
{
    put_number(b, batch->first);
    put_number(b, batch->count);
    put_number(b, batch->metric_count);
    PACK(b, batch->values.data, batch->values.len);
    PACK(b, batch->trace.data, batch->trace.len);
    PACK(b, batch->index.data, batch->index.len);
    PACK(b, batch->blocks.data, batch->blocks.len);
    PACK(b, batch->marks.data, batch->marks.len);
    PACK(b, batch->mark_index.data, batch->mark_index.len);
    PACK(b, batch->growth.data, batch->growth.len);
    PACK(b, batch->growth_index.data, batch->growth_index.len);
    for (size_t m = 0; m < batch->metric_count; m++)
        PACK(b, batch->runs[m].data, batch->runs[m].len);
}

void unpack_batch(struct cursor *c, struct batch *out)
{
    uint64_t first = cursor_u64(c), count = cursor_u64(c), metrics = cursor_u64(c);

    batch_init(out, (uint32_t)first, metrics);
    out->count = (uint32_t)count;
    UNPACK(c, out->values.data, out->values.len);
    UNPACK(c, out->trace.data, out->trace.len);
    UNPACK(c, out->index.data, out->index.len);
    UNPACK(c, out->blocks.data, out->blocks.len);
    UNPACK(c, out->marks.data, out->marks.len);
    UNPACK(c, out->mark_index.data, out->mark_index.len);
    UNPACK(c, out->growth.data, out->growth.len);
    UNPACK(c, out->growth_index.data, out->growth_index.len);
    for (size_t m = 0; m < metrics; m++)
        UNPACK(c, out->runs[m].data, out->runs[m].len);
}
