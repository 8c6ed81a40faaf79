/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/export_trace.h"

#include "common/file.h"
#include "common/str.h"
#include "common/vec.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

struct contexts {
    uint32_t *data;
    size_t len, cap;
};

struct chrome_writer {
    const struct db *db;
    FILE *out;
    bool any;
    uint32_t profile, pid;
    double period_us;     /* of samples whose metric does not tell */
    struct contexts open; /* contexts with a begin and no end, outermost first */
    double now;           /* time of the last event */
    uint64_t origin_ns;
};

static void put_text(struct chrome_writer *w, const char *text)
{
    AUTO_STR struct str quoted = {0};

    json_quote(&quoted, text);
    fputs(str_cstr(&quoted), w->out);
}

static void begin_event(struct chrome_writer *w, const char *phase)
{
    fprintf(w->out, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u", w->any ? ",\n" : "\n", phase, w->pid, w->profile);
    w->any = true;
}

static void put_name(struct chrome_writer *w, uint32_t context)
{
    const struct db *db = w->db;
    const struct hqdb_scope *s = db_scope(db, db_context(db, context)->scope);
    AUTO_STR struct str name = {0};

    str_add(&name, db_string(db, s->name));
    if (s->kind == SCOPE_LOOP && s->line)
        str_addf(&name, "loop at %s:%u", file_basename(db_string(db, s->file)), s->line);
    else if (s->kind == SCOPE_LOOP)
        str_add(&name, "loop at unknown line");
    put_text(w, str_cstr(&name));
}

static void close_to(struct chrome_writer *w, size_t depth, double at)
{
    for (; w->open.len > depth; w->open.len--) {
        /* The name may be left out by the format, but speedscope finds the begin by it. */
        begin_event(w, "E");
        fprintf(w->out, ",\"ts\":%.3f,\"name\":", at);
        put_name(w, vec_last(&w->open));
        fputc('}', w->out);
    }
}

/* The contexts above a frame, outermost first, without lines. */
static void path_of(const struct db *db, uint32_t frame, struct contexts *path)
{
    vec_clear(path);
    if (frame == HQDB_NONE)
        return;
    for (uint32_t c = db_frame_context(db, frame); c != HQDB_NONE && c != 0; c = db_parent_context(db, c))
        if (db_scope(db, db_context(db, c)->scope)->kind != SCOPE_LINE)
            vec_push(path, c);
    for (size_t i = 0; i < path->len / 2; i++) {
        uint32_t swapped = path->data[i];

        path->data[i] = path->data[path->len - 1 - i];
        path->data[path->len - 1 - i] = swapped;
    }
}

static void switch_to(struct chrome_writer *w, const struct contexts *path, double at)
{
    size_t common = 0;

    while (common < path->len && common < w->open.len && path->data[common] == w->open.data[common])
        common++;
    close_to(w, common, at);
    for (size_t i = common; i < path->len; i++) {
        begin_event(w, "B");
        fprintf(w->out, ",\"ts\":%.3f,\"name\":", at);
        put_name(w, path->data[i]);
        fputc('}', w->out);
        vec_push(&w->open, path->data[i]);
    }
}

/* Returns the duration that a record of the trace stands for, in microseconds. */
static double duration_of(const struct chrome_writer *w, const struct db_trace_record *r)
{
    if (r->metric < w->db->metric_count) {
        const struct hqdb_metric *m = &w->db->metrics[r->metric];

        /* 1: seconds, as enum hqm_dimension has it */
        if (m->dimension == 1 && m->period)
            return (double)m->period * m->scale * 1e6 * r->weight;
        if (m->flags & HQDB_METRIC_WEIGHED)
            return w->period_us;
    }
    return w->period_us * r->weight;
}

static void put_metadata(struct chrome_writer *w, const char *what, const char *text)
{
    begin_event(w, "M");
    fprintf(w->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    put_text(w, text);
    fputs("}}", w->out);
}

static void put_names(struct chrome_writer *w)
{
    const struct hqdb_profile *p = &w->db->profiles[w->profile];
    AUTO_STR struct str process = {0};
    AUTO_STR struct str thread = {0};

    if (p->rank >= 0)
        str_addf(&process, "rank %d ", p->rank);
    str_add(&process, db_string(w->db, p->command));
    str_addf(&thread, p->thread & HQDB_QUEUE ? "queue %u" : "thread %u", p->thread & ~HQDB_QUEUE);
    put_metadata(w, "process_name", str_cstr(&process));
    put_metadata(w, "thread_name", str_cstr(&thread));
}

static void put_records(struct chrome_writer *w, struct db_trace_reader *reader)
{
    const struct hqdb_profile *p = &w->db->profiles[w->profile];
    double offset = (double)(p->start_realtime_ns - w->origin_ns) / 1e3;
    struct contexts path = {0};
    struct db_trace_record r;

    w->now = -INFINITY;
    while (db_trace_next(reader, &r)) {
        bool spans = r.metric < w->db->metric_count && w->db->metrics[r.metric].flags & HQDB_METRIC_SPANS;
        double end = (double)r.time_us + offset, duration = spans ? fmax(end - w->now, 0) : duration_of(w, &r);
        double start = end - duration;

        if (spans && !r.weight && (duration == 0 || isinf(duration) || db_caller_frame(w->db, r.frame) == HQDB_NONE)) {
            r.frame = db_caller_frame(w->db, r.frame); /* what called it goes on */
            path_of(w->db, r.frame, &path);
            switch_to(w, &path, fmax(w->now, 0));
            w->now = end;
            continue;
        }

        /* Ticks come a little early or late: half a period is no pause. */
        if (start > w->now + duration / 2)
            close_to(w, 0, w->now);
        else
            start = w->now;
        path_of(w->db, r.frame, &path);
        switch_to(w, &path, fmax(start, 0));
        w->now = fmax(end, start);
    }
    close_to(w, 0, fmax(w->now, 0));
    vec_deinit(&path);
}

static struct hq_error *put_profile(struct chrome_writer *w, uint32_t profile, uint64_t *total)
{
    const struct hqdb_profile *p = &w->db->profiles[profile];
    struct db_trace_reader *reader;
    uint64_t records, first, last;

    HQ_TRY(db_trace_open(w->db, profile, &reader));
    if (db_trace_extent(reader, &records, &first, &last)) {
        w->profile = profile;
        w->pid = p->rank >= 0 ? (uint32_t)p->rank : p->pid;
        w->period_us = records > 1 ? (double)(last - first) / (double)(records - 1) : 1;
        *total += records;
        put_names(w);
        put_records(w, reader);
    }
    db_trace_close(reader);
    return NULL;
}

struct hq_error *db_export_chrome(const struct db *db, FILE *out)
{
    struct chrome_writer w = {.db = db, .out = out, .origin_ns = UINT64_MAX};
    struct hq_error *error = NULL;
    uint64_t total = 0;

    for (size_t i = 0; i < db->profile_count; i++)
        w.origin_ns = db->profiles[i].start_realtime_ns < w.origin_ns ? db->profiles[i].start_realtime_ns : w.origin_ns;
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
    for (uint32_t i = 0; i < db->profile_count && !error; i++)
        error = put_profile(&w, i, &total);
    fputs("\n]}\n", out);
    vec_deinit(&w.open);
    if (!error && !total)
        error = hq_error_new(HQ_USAGE, "%s holds no trace; record with `hq record --trace`", db->path);
    return error;
}
