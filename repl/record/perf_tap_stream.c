/* SPDX-License-Identifier: BSD-3-Clause */
/* The stream that a tap writes: what is kept of the kernel's records, and records of hq's own. */
#include "repl/record/perf_tap_impl.h"

#include "common/mem.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

void tap_flush(struct tap *s)
{
    for (size_t at = 0; at < s->out_len && !s->sum.error;) {
        ssize_t n = write(s->fd, s->out + at, s->out_len - at);

        if (n < 0 && errno != EINTR)
            s->sum.error = errno;
        at += n > 0 ? (size_t)n : 0;
    }
    s->sum.bytes += s->out_len;
    s->out_len = 0;
}

void tap_append(struct tap *s, const void *data, size_t bytes)
{
    if (s->out_len + bytes > TAP_OUT_BYTES)
        tap_flush(s);
    memcpy(s->out + s->out_len, data, bytes);
    s->out_len += bytes;
}

/* Appends a sample. The kernel fills the copy of a stack as far as there is one, and the rest is left out: one word of
 * it says that the copy is shorter than it might be. */
static void append_sample(struct tap *s, uint8_t *record, size_t size)
{
    struct perf_event_header h;
    uint64_t chain, abi, stack, used, kept;
    size_t at = sizeof h + 24;

    memcpy(&h, record, sizeof h);
    memcpy(&chain, record + at, 8);
    at += 8 + 8 * chain;
    memcpy(&abi, record + at, 8);
    at += 8 + (abi ? 8 * (size_t)__builtin_popcountll(s->header.registers) : 0);
    memcpy(&stack, record + at, 8);
    if (at + 8 + stack + (stack ? 8 : 0) > size || !stack) {
        tap_append(s, record, size);
        return;
    }
    memcpy(&used, record + at + 8 + stack, 8);
    kept = (used + 7) & ~7ull;
    if (kept < stack)
        kept += 8;
    if (kept > stack)
        kept = stack;
    memcpy(record + at, &kept, 8);
    memcpy(record + at + 8 + kept, &used, 8);
    h.size = (uint16_t)(at + 16 + kept);
    memcpy(record, &h, sizeof h);
    tap_append(s, record, h.size);
}

/* All that was said of processes and mappings so far is in the stream. */
static void begin_live(struct tap *s)
{
    const struct perf_layout layout = {
        .sample_type = s->header.sample_type, .registers = s->header.registers, .sample_id_all = true};
    AUTO_FREE uint8_t *record = xmalloc(TAP_RECORD_MOST);
    struct perf_event_header h;

    tap_flush(s);
    s->live = perf_live_begin(&layout, s->options.vdso);
    vec_foreach(at, &s->notes)
        if (pread(s->fd, record, TAP_RECORD_MOST, (off_t)*at) >= (ssize_t)sizeof h) {
            memcpy(&h, record, sizeof h);
            perf_live_add(s->live, record, h.size);
        }
    vec_deinit(&s->notes);
}

void tap_put_path(void *arg, const uint8_t *record, size_t size)
{
    struct tap *s = arg;

    tap_append(s, record, size);
    s->sum.samples++;
    s->sum.unwound++;
}

static void take_other(struct tap *s, const uint8_t *record, const struct perf_event_header *h)
{
    uint64_t lost;

    if (h->type == PERF_RECORD_LOST) {
        memcpy(&lost, record + sizeof *h + 8, 8);
        s->sum.lost += lost;
    }
    if (s->live)
        perf_live_add(s->live, record, h->size);
    else if (s->options.stack_bytes)
        vec_push(&s->notes, s->sum.bytes + s->out_len);
    tap_append(s, record, h->size);
}

void tap_take(struct tap *s, uint8_t *record, const struct perf_event_header *h)
{
    if (h->type != PERF_RECORD_SAMPLE) {
        take_other(s, record, h);
    } else if (s->sum.error) {
        s->sum.dropped++;
    } else if (!s->options.stack_bytes) {
        s->sum.samples++;
        tap_append(s, record, h->size);
    } else if (!s->live && s->sum.bytes + s->out_len + h->size <= s->options.max_bytes) {
        s->sum.samples++;
        append_sample(s, record, h->size);
    } else {
        if (!s->live)
            begin_live(s);
        perf_live_add(s->live, record, h->size);
    }
}

/* ---- records of our own ---- */

/* Writes the end of a record that is no sample: pid, tid, time. The time is that of the start, so the kernel's own
 * records are later. */
static void put_end(const struct tap *s, uint8_t *at, pid_t pid, pid_t tid)
{
    uint32_t ids[2] = {(uint32_t)pid, (uint32_t)tid};

    memcpy(at, ids, 8);
    memcpy(at + 8, &s->header.start_monotonic_ns, 8);
}

static void put(struct tap *s, uint32_t type, uint16_t misc, size_t size)
{
    struct perf_event_header h = {.type = type, .misc = misc, .size = (uint16_t)size};

    memcpy(s->record, &h, sizeof h);
    if (type == HQS_TEXT)
        tap_append(s, s->record, size);
    else
        take_other(s, s->record, &h);
}

void tap_text(struct tap *s, pid_t pid, const char *key, const char *value)
{
    size_t k = strlen(key) + 1, v = strlen(value) + 1, size = (16 + k + v + 7) & ~(size_t)7;
    uint32_t id = (uint32_t)pid;

    if (size > TAP_RECORD_MOST / 2)
        return;
    memset(s->record, 0, size);
    memcpy(s->record + 8, &id, 4);
    memcpy(s->record + 16, key, k);
    memcpy(s->record + 16 + k, value, v);
    put(s, HQS_TEXT, 0, size);
}

void tap_thread(struct tap *s, pid_t pid, pid_t tid)
{
    uint32_t ids[4] = {(uint32_t)pid, (uint32_t)pid, (uint32_t)tid, (uint32_t)pid};
    size_t size = 8 + 24 + 16;

    memset(s->record, 0, size);
    memcpy(s->record + 8, ids, sizeof ids);
    put_end(s, s->record + 32, pid, tid);
    put(s, PERF_RECORD_FORK, 0, size);
}

void tap_mapping(struct tap *s, pid_t pid, uint64_t start, uint64_t end, uint64_t offset, const char *path,
                 const uint8_t *build_id, size_t build_id_len)
{
    size_t name = (strlen(path) + 8) & ~(size_t)7, size = 8 + 8 + 24 + 24 + 8 + name + 16;
    uint32_t ids[2] = {(uint32_t)pid, (uint32_t)pid}, protection[2] = {5, 2};
    uint64_t range[3] = {start, end - start, offset};
    uint16_t misc = PERF_RECORD_MISC_USER;

    if (size > TAP_RECORD_MOST / 2)
        return;
    memset(s->record, 0, size);
    memcpy(s->record + 8, ids, 8);
    memcpy(s->record + 16, range, 24);
    if (build_id_len && build_id_len <= 20) {
        s->record[40] = (uint8_t)build_id_len;
        memcpy(s->record + 44, build_id, build_id_len);
        misc |= PERF_MISC_BUILD_ID;
    }
    memcpy(s->record + 64, protection, 8);
    memcpy(s->record + 72, path, strlen(path));
    put_end(s, s->record + 72 + name, pid, pid);
    put(s, PERF_RECORD_MMAP2, misc, size);
}
