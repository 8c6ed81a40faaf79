/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/perf/event.h"

#include <linux/perf_event.h>
#include <string.h>

/* The part of a record that has not been read yet. */
struct rest {
    const uint8_t *at, *end;
    bool bad;
};

static const uint8_t *take(struct rest *r, uint64_t bytes)
{
    const uint8_t *at = r->at;

    if (bytes > (uint64_t)(r->end - r->at)) {
        r->bad = true;
        r->at = r->end;
        return NULL;
    }
    r->at += bytes;
    return at;
}

static uint64_t word(struct rest *r)
{
    const uint8_t *at = take(r, 8);

    return at ? perf_word(at, 0) : 0;
}

static uint32_t half(struct rest *r)
{
    const uint8_t *at = take(r, 4);
    uint32_t value = 0;

    if (at)
        memcpy(&value, at, 4);
    return value;
}

/* A text that ends within the record. */
static const char *text(struct rest *r)
{
    const uint8_t *at = r->at, *nul = memchr(at, 0, (size_t)(r->end - at));

    if (!nul) {
        r->bad = true;
        return "";
    }
    r->at = nul + 1;
    return (const char *)at;
}

static const uint8_t *words(struct rest *r, uint64_t count)
{
    if (count > (uint64_t)(r->end - r->at) / 8) {
        r->bad = true;
        return NULL;
    }
    return take(r, 8 * count);
}

static void skip_read(struct rest *r, uint64_t format)
{
    bool group = format & PERF_FORMAT_GROUP;
    uint64_t values = group ? word(r) : 1, each = 1;

    each += (format & PERF_FORMAT_ID) != 0;
    each += (format & PERF_READ_LOST) != 0;
    take(r, (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 8 : 0) + (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 8 : 0));
    words(r, values < 4096 ? values * each : UINT64_MAX);
}

static void read_stack(struct rest *r, struct perf_event *out)
{
    out->stack_size = word(r);
    out->stack = take(r, out->stack_size);
    if (!out->stack_size)
        return;
    out->stack_used = word(r);
    if (out->stack_used > out->stack_size)
        r->bad = true;
}

static void read_sample(const struct perf_layout *layout, struct rest *r, struct perf_event *out)
{
    uint64_t type = layout->sample_type;

    if (type & PERF_SAMPLE_IDENTIFIER)
        out->id = word(r);
    if (type & PERF_SAMPLE_IP)
        out->ip = word(r);
    if (type & PERF_SAMPLE_TID)
        out->pid = half(r), out->tid = half(r);
    if (type & PERF_SAMPLE_TIME)
        out->time = word(r);
    if (type & PERF_SAMPLE_ADDR)
        word(r);
    if (type & PERF_SAMPLE_ID)
        out->id = word(r);
    if (type & PERF_SAMPLE_STREAM_ID)
        word(r);
    if (type & PERF_SAMPLE_CPU)
        word(r);
    if (type & PERF_SAMPLE_PERIOD)
        out->period = word(r);
    if (type & PERF_SAMPLE_READ)
        skip_read(r, layout->read_format);
    if (type & PERF_SAMPLE_CALLCHAIN) {
        out->chain_len = word(r);
        out->chain = words(r, out->chain_len);
    }
    if (type & PERF_SAMPLE_RAW)
        take(r, half(r));
    if (type & PERF_SAMPLE_BRANCH_STACK) {
        uint64_t count = word(r);

        if (layout->branches & PERF_SAMPLE_BRANCH_HW_INDEX)
            word(r);
        words(r, count < 4096 ? 3 * count : UINT64_MAX);
    }
    if (type & PERF_SAMPLE_REGS_USER) {
        out->abi = word(r);
        if (out->abi)
            out->registers = words(r, (uint64_t)__builtin_popcountll(layout->registers));
    }
    if (type & PERF_SAMPLE_STACK_USER)
        read_stack(r, out);
}

/* Returns the size in bytes of the fields that end every record but a sample. */
static uint64_t end_bytes(const struct perf_layout *layout)
{
    static const uint64_t parts = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                                  PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

    return layout->sample_id_all ? 8 * (uint64_t)__builtin_popcountll(layout->sample_type & parts) : 0;
}

static void read_end(const struct perf_layout *layout, struct rest *r, struct perf_event *out)
{
    uint64_t bytes = end_bytes(layout);
    struct rest end = {r->end - bytes, r->end, false};

    if (!bytes)
        return;
    if (bytes > (uint64_t)(r->end - r->at)) {
        r->bad = true;
        return;
    }
    r->end -= bytes;
    if (layout->sample_type & PERF_SAMPLE_TID)
        out->pid = half(&end), out->tid = half(&end);
    if (layout->sample_type & PERF_SAMPLE_TIME)
        out->time = word(&end);
    if (layout->sample_type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
        out->id = perf_word(r->end + bytes - 8, 0);
}

static void read_map(struct rest *r, struct perf_event *out)
{
    out->pid = half(r);
    out->tid = half(r);
    out->start = word(r);
    out->length = word(r);
    out->offset = word(r);
    out->executable = !(out->misc & PERF_RECORD_MISC_MMAP_DATA);
    if (out->type == PERF_RECORD_MMAP2) {
        const uint8_t *identity = take(r, 24);
        uint32_t protection = half(r);

        half(r);
        out->executable = protection & 4;
        if (identity && out->misc & PERF_MISC_BUILD_ID && identity[0] <= PERF_BUILD_ID) {
            out->build_id_len = identity[0];
            memcpy(out->build_id, identity + 4, out->build_id_len);
        }
    }
    out->path = text(r);
}

static void read_other(struct rest *r, struct perf_event *out)
{
    switch (out->type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2: read_map(r, out); break;
    case PERF_RECORD_COMM:
        out->pid = half(r);
        out->tid = half(r);
        out->name = text(r);
        out->exec = out->misc & PERF_RECORD_MISC_COMM_EXEC;
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        out->pid = half(r);
        out->parent_pid = half(r);
        out->tid = half(r);
        out->parent_tid = half(r);
        break;
    case PERF_RECORD_LOST:
        word(r);
        out->lost = word(r);
        break;
    case PERF_RECORD_LOST_SAMPLES: out->lost = word(r); break;
    default: break;
    }
}

size_t perf_event_size(const uint8_t *at, const uint8_t *end)
{
    struct perf_event_header h;

    if ((size_t)(end - at) < sizeof h)
        return 0;
    memcpy(&h, at, sizeof h);
    return h.size >= sizeof h && h.size <= (size_t)(end - at) ? h.size : 0;
}

bool perf_event_read(const struct perf_layout *layout, const uint8_t *record, size_t size, struct perf_event *out)
{
    struct perf_event_header h;
    struct rest r = {record + sizeof h, record + size, false};

    memcpy(&h, record, sizeof h);
    *out = (struct perf_event){.type = h.type, .misc = h.misc};
    if (h.type == PERF_RECORD_SAMPLE) {
        read_sample(layout, &r, out);
    } else if (h.type < 64) { /* from there on they are not the kernel's */
        read_end(layout, &r, out);
        read_other(&r, out);
    }
    return !r.bad;
}

uint64_t perf_event_time(const struct perf_layout *layout, const uint8_t *record, size_t size)
{
    struct perf_event_header h;
    uint64_t before = 0;
    struct perf_event e = {0};

    memcpy(&h, record, sizeof h);
    if (!(layout->sample_type & PERF_SAMPLE_TIME) || h.type >= 64)
        return 0;
    if (h.type != PERF_RECORD_SAMPLE) {
        struct rest r = {record + sizeof h, record + size, false};

        read_end(layout, &r, &e);
        return r.bad ? 0 : e.time;
    }
    before += layout->sample_type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
    before += layout->sample_type & PERF_SAMPLE_IP ? 8 : 0;
    before += layout->sample_type & PERF_SAMPLE_TID ? 8 : 0;
    return size >= sizeof h + before + 8 ? perf_word(record + sizeof h + before, 0) : 0;
}
