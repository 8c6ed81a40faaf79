/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq record`: what the recording holds, for the line at the end (record.h). */
#include "repl/record/record.h"

#include "common/file.h"
#include "common/mem.h"
#include "db/runtimes.h"
#include "db/sources.h"
#include "format/measurement.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

struct tally {
    uint64_t threads, commands, queues, counted, exact, sum[RECORD_EVENTS];
    unsigned runtimes;
}; /* exact: a bit for each event that is */

const char *const record_device_runtimes[] = {"CUDA", "HIP", "Level Zero", NULL};
enum { OPENCL = 1u << 31 }; /* of the runtimes that were found */

/* Finds the runtimes of devices among texts that end with 0: only texts that are paths of them count, not command
 * lines. */
static unsigned find_runtimes(const char *texts, uint64_t bytes)
{
    unsigned found = 0;

    for (const char *p = texts, *end; p < texts + bytes; p = end + 1) {
        end = memchr(p, 0, (size_t)(texts + bytes - p));
        if (!end)
            break;
        const struct runtime *r = *p == '/' && strstr(p, ".so") && !strpbrk(p, " '") ? runtime_of_module(p) : NULL;

        found |= r && !strcmp(r->name, "OpenCL") ? OPENCL : 0;
        for (int i = 0; r && r->kind == RUNTIME_GPU && record_device_runtimes[i]; i++)
            found |= !strcmp(r->name, record_device_runtimes[i]) ? 1u << i : 0;
    }
    return found;
}

/* A segment lies in the file; its count is not believed. The events are there before they are counted. */
static void tally_segment(const struct hqm_segment *s, struct tally *t)
{
    const char *records = (const char *)(s + 1);
    uint64_t room = s->record_size ? (s->bytes - sizeof *s) / s->record_size : 0;

    if (s->kind == HQM_THREADS)
        t->threads += s->count;
    if (s->kind == HQM_COMMANDS)
        t->commands += s->count;
    if (s->kind == HQM_QUEUES)
        t->queues += s->count;
    if (s->kind == HQM_STRINGS && s->record_size == 1)
        t->runtimes |= find_runtimes(records, s->count < room ? s->count : room);
    for (uint64_t i = 0; i < s->count && i < room; i++, records += s->record_size) {
        if (s->kind == HQM_SUMS && s->record_size >= sizeof(struct hqm_command_sum))
            t->commands += ((const struct hqm_command_sum *)records)->commands;
        if (s->kind == HQM_EVENTS && s->record_size >= sizeof(struct hqm_event) && s->first + i < 64 &&
            ((const struct hqm_event *)records)->flags & HQM_EVENT_EXACT)
            t->exact |= 1ull << (s->first + i);
        if (s->kind != HQM_CELLS || s->record_size < sizeof(struct hqm_cell))
            continue;
        const struct hqm_cell *cell = (const struct hqm_cell *)records;
        if (cell->event < 64 && t->exact >> cell->event & 1)
            t->counted += cell->count;
        if (cell->event < RECORD_EVENTS)
            t->sum[cell->event] += cell->sum;
    }
}

/* The end of the last segment that is in use. Adds up what it passes. */
static uint64_t used_bytes(const char *data, uint64_t size, struct tally *tally)
{
    uint64_t used = HQM_ALIGN;

    for (uint64_t at = HQM_ALIGN; at + HQM_ALIGN <= size;) {
        const struct hqm_segment *segment = (const struct hqm_segment *)(data + at);
        if (segment->magic != HQM_SEGMENT_MAGIC || segment->bytes < HQM_ALIGN || segment->bytes > size - at ||
            segment->bytes % HQM_ALIGN) {
            at += HQM_ALIGN;
            continue;
        }
        tally_segment(segment, tally);
        at += segment->bytes;
        used = at;
    }
    return used;
}

/* Finds the text at `offset` among those of the file, which is not believed; NULL: there is none. */
static const char *text_at(const char *data, uint64_t used, uint64_t offset)
{
    for (uint64_t at = HQM_ALIGN; at + HQM_ALIGN <= used;) {
        const struct hqm_segment *s = (const struct hqm_segment *)(data + at);
        bool is_one = s->magic == HQM_SEGMENT_MAGIC && s->bytes >= HQM_ALIGN && s->bytes <= used - at;
        uint64_t room = is_one ? s->bytes - sizeof *s : 0, from = is_one ? offset - s->first : 0;
        const char *text = (const char *)(s + 1) + from;

        if (is_one && s->kind == HQM_STRINGS && offset >= s->first && from < room)
            return memchr(text, 0, room - from) ? text : NULL;
        at += is_one && s->bytes % HQM_ALIGN == 0 ? s->bytes : HQM_ALIGN;
    }
    return NULL;
}

static void add_told(struct record_sum *sum, const char *text)
{
    vec_foreach(t, &sum->told) {
        if (!strcmp(t->text, text)) {
            t->processes++;
            return;
        }
    }
    vec_push(&sum->told, (struct record_told){xstrdup(text), 1});
}

/* The sentences of a process. Facts stand in few segments, at the beginning of the file. */
static void collect_told(const char *data, uint64_t used, struct record_sum *sum)
{
    for (uint64_t at = HQM_ALIGN; at + HQM_ALIGN <= used;) {
        const struct hqm_segment *s = (const struct hqm_segment *)(data + at);
        bool is_one = s->magic == HQM_SEGMENT_MAGIC && s->bytes >= HQM_ALIGN && s->bytes <= used - at;
        bool has_facts = is_one && s->kind == HQM_INFO && s->record_size >= sizeof(struct hqm_info);
        uint64_t room = has_facts ? (s->bytes - sizeof *s) / s->record_size : 0;

        for (uint64_t i = 0; i < s->count && i < room; i++) {
            const struct hqm_info *fact = (const struct hqm_info *)((const char *)(s + 1) + i * s->record_size);
            const char *key = text_at(data, used, fact->key);
            const char *value = key && !strcmp(key, HQM_TOLD) ? text_at(data, used, fact->value) : NULL;
            if (!key) /* damage: no more of them is looked for in the whole file */
                return;
            if (value)
                add_told(sum, value);
        }
        at += is_one && s->bytes % HQM_ALIGN == 0 ? s->bytes : HQM_ALIGN;
    }
}

static void add(const struct record_place *place, const char *path, int fd, char *data, uint64_t size, pid_t pid,
                int signal, struct record_sum *sum)
{
    struct hqm_header *header = (struct hqm_header *)data;
    bool gone = !sources_is_written(path, header);

    if (memcmp(header->magic, HQM_MAGIC, sizeof header->magic) != 0 || header->launch != place->launch ||
        (place->rank >= 0 && header->rank != place->rank))
        return;
    if ((pid_t)header->pid == pid && header->state == HQM_RUNNING) {
        header->exit_signal = (uint32_t)signal;
        header->state = HQM_ENDED;
    }
    if ((pid_t)header->pid == pid && header->serial == 0)
        header->command_cpu_ns = (uint64_t)(record_cpu_time() * 1e9);
    sum->files++;
    sum->execed += header->state == HQM_EXECED;
    sum->executed += header->cpu_image_ns > 0;
    sum->clock[header->cpu_clock < HQM_CLOCKS ? header->cpu_clock : HQM_CLOCK_UNKNOWN]++;
    sum->timer_threads += header->timer_threads;
    sum->slowed_threads += header->slowed_threads;
    if (!sum->clock_error)
        sum->clock_error = (int)header->cpu_clock_error;
    sum->samples += header->samples;
    sum->partial += header->partial;
    sum->lost_space += header->loss[HQM_LOSS_NO_SPACE];
    for (int i = 0; i < HQM_LOSS_MAX; i++)
        sum->lost += i == HQM_LOSS_TRACE || i == HQM_LOSS_MODULES || i == HQM_LOSS_COMMANDS || i == HQM_LOSS_FAILED
                         ? 0
                         : header->loss[i];
    sum->unended_commands += header->loss[HQM_LOSS_COMMANDS];
    sum->failed_commands += header->loss[HQM_LOSS_FAILED];
    struct tally tally = {0};
    uint64_t used = used_bytes(data, size, &tally);
    collect_told(data, used, sum);
    sum->counted += tally.counted;
    sum->commands += tally.commands;
    sum->queues += tally.queues;
    sum->opencl |= tally.runtimes & OPENCL;
    sum->unmeasured_devices |= tally.runtimes & ~OPENCL;
    for (int i = 0; i < RECORD_EVENTS; i++)
        sum->event_sum[i] += tally.sum[i];
    sum->threads += hqm_thread_count(header, tally.threads);
    if (header->cpu_start_ns > header->cpu_image_ns)
        sum->loading_ns += header->cpu_start_ns - header->cpu_image_ns;
    if (header->cpu_end_ns > header->cpu_start_ns)
        sum->measured_ns += header->cpu_end_ns - header->cpu_start_ns;
    for (int i = 0; i < RECORD_EVENTS && !header->cpu_end_ns; i++)
        sum->unended_sum[i] += tally.sum[i];
    /* A process of this host that is gone writes no more. (On another host the pid says nothing, but then it is rarely
     * gone here.) */
    if (fd >= 0 && gone && header->state != HQM_RUNNING && used < size && ftruncate(fd, (off_t)used) == 0)
        header->allocated = used;
    sum->running += !gone && header->state == HQM_RUNNING;
}

/* Where files cannot be mapped to be written, a copy is looked at: its process has moved it there itself when it ended.
 */
static void add_file(const struct record_place *place, const char *path, pid_t pid, int signal, struct record_sum *sum)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_size >= (off_t)HQM_ALIGN) {
        size_t size = (size_t)st.st_size;
        bool shared = true;
        char *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (data == MAP_FAILED) {
            shared = false;
            data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
        }
        if (data != MAP_FAILED) {
            add(place, path, shared ? fd : -1, data, size, pid, signal, sum);
            munmap(data, size);
        }
    }
    close(fd);
}

static struct hq_error *add_directory(const struct record_place *place, const char *path, pid_t pid, int signal,
                                      struct record_sum *sum)
{
    DIR *directory = opendir(path);
    struct hq_error *err = NULL;
    const struct dirent *entry;

    if (!directory)
        return hq_error_errno(HQ_DATA, "%s", path);
    while ((entry = file_dir_next(directory, path, &err))) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, HQM_SUFFIX))
            continue;
        char *file = file_join(path, entry->d_name);
        add_file(place, file, pid, signal, sum);
        free(file);
    }
    closedir(directory);
    return err;
}

void record_sum_deinit(struct record_sum *sum)
{
    vec_foreach(t, &sum->told)
        free(t->text);
    vec_deinit(&sum->told);
}

struct hq_error *record_sum(const struct record_place *place, pid_t pid, int signal, struct record_sum *sum)
{
    *sum = (struct record_sum){0};
    if (place->buffer)
        HQ_TRY(add_directory(place, place->buffer, pid, signal, sum));
    return add_directory(place, place->measurements, pid, signal, sum);
}
