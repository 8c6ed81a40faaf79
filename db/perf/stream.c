/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/perf/stream.h"

#include "common/mem.h"
#include <ctype.h>
#include <inttypes.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct hq_error *check_header(const char *path, const struct hqs_header *h, size_t bytes)
{
    if (bytes < sizeof *h || memcmp(h->magic, HQS_MAGIC, sizeof h->magic) != 0)
        return hq_error_new(HQ_DATA, "%s: this is no stream of `hq record --by=perf`", path);
    if (h->major != HQS_MAJOR)
        return hq_error_new(HQ_DATA, "%s: the stream has format version %u and this hq reads %u", path, h->major,
                            HQS_MAJOR);
    if (h->header_bytes < sizeof *h || h->header_bytes % 8 || !h->period_ns)
        return hq_error_new(HQ_DATA, "%s: the stream is damaged in its header", path);
    return NULL;
}

struct hq_error *perf_stream_look(const char *path, struct perf_stream_state *out)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    *out = (struct perf_stream_state){0};
    if (fd < 0 || fstat(fd, &st) != 0)
        return hq_error_errno(HQ_DATA, "%s", path);
    out->bytes = (uint64_t)st.st_size;
    ssize_t bytes = pread(fd, &out->header, sizeof out->header, 0);

    return check_header(path, &out->header, bytes < 0 ? 0 : (size_t)bytes);
}

static int by_time(const void *pa, const void *pb)
{
    const struct perf_stream_at *a = pa, *b = pb;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void add_text(struct perf_stream *s, const uint8_t *record, size_t size)
{
    const char *key = (const char *)record + 16, *end = (const char *)record + size;
    const char *nul = size > 16 ? memchr(key, 0, (size_t)(end - key)) : NULL;
    struct perf_stream_text t = {.key = key, .value = nul ? nul + 1 : NULL};

    if (!nul || nul + 1 >= end || !memchr(nul + 1, 0, (size_t)(end - nul - 1)))
        return;
    memcpy(&t.pid, record + 8, 4);
    vec_push(&s->texts, t);
}

void perf_stream_sort(struct perf_stream *s)
{
    vec_sort(&s->records, by_time);
}

/* Emptying a buffer that a processor still writes to keeps the order within it. */
static void find_records(struct perf_stream *s)
{
    const uint8_t *at = s->map.data + s->header.header_bytes, *end = s->map.data + s->map.size;

    for (size_t size; at < end && (size = perf_event_size(at, end)) != 0; at += size) {
        uint32_t type;

        memcpy(&type, at, 4);
        if (type == HQS_TEXT)
            add_text(s, at, size);
        else
            vec_push(&s->records,
                     (struct perf_stream_at){perf_event_time(&s->layout, at, size), (uint64_t)(at - s->map.data)});
    }
    perf_stream_sort(s);
}

struct hq_error *perf_stream_open(const char *path, struct perf_stream *out)
{
    *out = (struct perf_stream){0};
    HQ_TRY(file_map_open(path, &out->map));
    memcpy(&out->header, out->map.data, out->map.size < sizeof out->header ? out->map.size : sizeof out->header);
    struct hq_error *err = check_header(path, &out->header, out->map.size);

    if (err || out->header.header_bytes > out->map.size) {
        perf_stream_close(out);
        return err ? err : hq_error_new(HQ_DATA, "%s: the stream is damaged in its header", path);
    }
    out->layout = (struct perf_layout){
        .sample_type = out->header.sample_type, .registers = out->header.registers, .sample_id_all = true};
    find_records(out);
    return NULL;
}

void perf_stream_close(struct perf_stream *s)
{
    file_map_close(&s->map);
    vec_deinit(&s->records);
    vec_deinit(&s->texts);
    *s = (struct perf_stream){0};
}

bool perf_stream_record(const struct perf_stream *s, size_t i, struct perf_event *out)
{
    const uint8_t *at = s->map.data + s->records.data[i].offset;

    return perf_event_read(&s->layout, at, perf_event_size(at, s->map.data + s->map.size), out);
}

const char *perf_stream_text(const struct perf_stream *s, uint32_t pid, const char *key)
{
    vec_foreach(t, &s->texts)
        if (t->pid == pid && !strcmp(t->key, key))
            return t->value;
    return NULL;
}

/* ---- names of the kernel ---- */

struct symbol {
    uint64_t address;
    char *name;
};

static int by_address(const void *pa, const void *pb)
{
    const struct symbol *a = pa, *b = pb;

    return (a->address > b->address) - (a->address < b->address);
}

void perf_stream_write_names(FILE *symbols, const uint64_t *addresses, size_t count, FILE *out)
{
    VEC(struct symbol) all = {0};
    char name[512], type;
    uint64_t address;
    size_t next = 0;

    while (fscanf(symbols, "%" SCNx64 " %c %511s%*[^\n]", &address, &type, name) == 3)
        if (address && tolower((unsigned char)type) == 't')
            vec_push(&all, (struct symbol){address, xstrdup(name)});
    vec_sort(&all, by_address);
    fprintf(out, "0 1 [kernel]\n");
    for (size_t i = 0; i < all.len && next < count; i++) {
        uint64_t end = i + 1 < all.len ? all.data[i + 1].address : all.data[i].address + 1;
        bool holds = false;

        while (next < count && addresses[next] < all.data[i].address)
            next++;
        for (; next < count && addresses[next] < end; next++)
            holds = true;
        if (holds)
            fprintf(out, "%" PRIx64 " %" PRIx64 " %s\n", all.data[i].address, end - all.data[i].address,
                    all.data[i].name);
    }
    vec_foreach(s, &all)
        free(s->name);
    vec_deinit(&all);
}
