/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `perf script` text, read line by line: what is kept grows with the number of different call paths, and by one trace
 * record a sample. A thread is a profile, and its command the profile's; ranks are not known. Without periods (-F
 * period) a sample counts one, under the event's name with `_samples`.
 *
 * All samples of a file have the same fields, so the first head tells what the others must have. Then a line that is no
 * head and no frame is a field that is of no use here, if it stands behind the frames of a sample and is indented;
 * otherwise the file is damaged.
 */
#include "db/import/perf.h"
#include "common/str.h"
#include "db/import/formats.h"
#include "db/import/input.h"
#include "db/import/target.h"
#include <string.h>
#include <strings.h>

enum { PIECES_MAX = 64 };  /* of a sample whose period is more than a weight can be */
enum { DEPTH_MAX = 4096 }; /* frames of a sample; the kernel's own limit is far below it */

struct perf_part {
    uint32_t name, file, line;
};

/* The form of the samples' heads: fields (a set of bits), only a command, or no heads at all (-F ip,sym); or not known
 * yet. */
enum perf_style { STYLE_UNKNOWN, STYLE_COMMAND, STYLE_NONE, STYLE_FIELDS = 4, STYLE_IDS = 8, STYLE_EVENT = 16 };

struct perf {
    struct import *im;
    struct input *in;
    struct perf_header sample; /* its texts are gone: only the numbers count */
    unsigned style;            /* of bits of perf_style */
    bool open;                 /* in a sample */
    bool tabs;                 /* frames begin with a tab, as perf prints them; not if an editor made spaces of it */
    bool from_head;            /* its frame stood behind the event: perhaps it is the address of data */
    uint32_t metric, thread;
    VEC(uint32_t) places; /* of the sample, innermost first */
    /* The frames seen last that share one address: inlined ones, then their host. Texts in im->names. */
    VEC(struct perf_part) parts;
    uint32_t module;
    bool host_seen;
    struct keymap part_keys; /* (text of the frame's lines) -> place */
    VEC(uint32_t) part_places;
    struct keymap thread_keys; /* pid, tid */
    VEC(uint32_t) threads;     /* profile */
    struct map metrics;        /* event's text -> metric + 1 */
    struct map event_fields;   /* event's text -> fields_of of its heads */
    bool modules;              /* a frame has named its own: all do */
    double start;              /* time of the first sample; negative: none yet */
    uint64_t samples, without_path;
};

/* Whether a line is one that --show-mmap-events and the like print. */
static bool is_record(const char *line)
{
    return line[0] != '\t' && strstr(line, ": PERF_RECORD_") != NULL;
}

/* The head that -F comm,ip,sym leaves. */
static bool is_command(const char *line, size_t len)
{
    return line[0] != '\t' && len >= 2 && len <= 17 && line[len - 1] == ' ' && line[len - 2] != ' ';
}

bool perf_sniff(const struct import_probe *p)
{
    const char *line;
    size_t at = 0, len;
    struct perf_header header;
    struct perf_frame frame;
    bool after_header = false;

    if (p->is_dir || p->binary)
        return false;
    while (probe_line(p, &at, &line, &len)) {
        AUTO_FREE char *copy = xstrndup(line, len);

        if (!len || copy[0] == '#' || is_record(copy))
            continue;
        if (after_header || copy[0] == '\t')
            return (copy[0] == ' ' || copy[0] == '\t') && perf_parse_frame(copy, &frame);
        bool fields = perf_parse_header(copy, &header);

        if (fields && *header.rest && perf_parse_last_frame(header.rest, &frame))
            return true;
        if (!fields && !is_command(copy, len))
            return false;
        after_header = true;
    }
    return false;
}

/* ---- events and threads ---- */

static uint32_t metric_of(struct perf *f, const struct perf_header *h)
{
    static const char *const clocks[] = {"cpu-clock", "task-clock"};
    AUTO_STR struct str name = {0};
    bool clock = false;

    if (h->event)
        str_addn(&name, h->event, h->event_len);
    for (size_t i = 0; i < 2; i++)
        clock |= str_begins(str_cstr(&name), clocks[i]);
    if (!h->has_period)
        str_add(&name, h->event ? "_samples" : "samples");
    else if (!h->event)
        str_add(&name, "events");
    uint64_t *known = map_insert(&f->metrics, intern_add(&f->im->names, str_cstr(&name)), 0, NULL);

    if (!*known) {
        enum hqm_dimension dimension = clock && h->has_period ? HQM_DIM_SECONDS : HQM_DIM_EVENTS;
        unsigned traced = HQDB_METRIC_TRACED | (h->has_period ? HQDB_METRIC_WEIGHED : 0);

        *known = (uint64_t)import_metric(f->im, str_cstr(&name),
                                         h->has_period ? "sampled by perf" : "samples of perf, periods unknown",
                                         dimension, HQDB_METRIC_SAMPLED | (h->time >= 0 ? traced : 0), h->time >= 0,
                                         dimension == HQM_DIM_SECONDS ? 1e-9 : 1) +
                 1;
    }
    return (uint32_t)*known - 1;
}

/* Never 0. */
static uint64_t fields_of(const struct perf_header *h)
{
    return 1 | (h->has_period ? 2 : 0) | (h->time >= 0 ? 4 : 0);
}

/* perf leaves fields out by the kind of event (tracepoints have no period), so that those of one event agree. */
static bool fits_event(struct perf *f, const struct perf_header *h)
{
    if (!h->event)
        return true;
    uint64_t *known = map_insert(&f->event_fields, intern_addn(&f->im->names, h->event, h->event_len), 0, NULL);

    if (!*known)
        *known = fields_of(h);
    return *known == fields_of(h);
}

/* A thread may get another name: before exec it has that of what started it. The last one is taken. */
static uint32_t thread_of(struct perf *f, const struct perf_header *h)
{
    uint32_t key[2] = {h->pid, h->tid};
    bool is_new;
    uint32_t i = keymap_add(&f->thread_keys, key, &is_new);

    if (is_new)
        vec_push(&f->threads, import_profile(f->im, h->pid, h->tid, h->tid == h->pid ? 0 : h->tid, ""));
    struct model_profile *profile = import_profile_at(f->im, f->threads.data[i]);

    if (strncmp(profile->command, h->command, h->command_len) || profile->command[h->command_len])
        profile->command = intern_str(&f->im->names, intern_addn(&f->im->names, h->command, h->command_len));
    return i;
}

/* ---- frames ---- */

/* Makes the place of a frame. Frames that perf cannot name become one procedure for each module, because their
 * addresses differ from run to run. */
static uint32_t make_place(struct perf *f)
{
    AUTO_FREE struct import_step *steps = xcalloc(f->parts.len, sizeof *steps);
    const struct intern *names = &f->im->names;
    size_t n = f->parts.len;

    for (size_t i = 0; i < n; i++) {
        const struct perf_part *part = &f->parts.data[n - 1 - i];

        steps[i] = (struct import_step){.kind = i ? SCOPE_INLINE : SCOPE_PROCEDURE,
                                        .name = intern_str(names, part->name)};
        if (i) {
            const struct perf_part *host = &f->parts.data[n - i];

            steps[i].at_file = intern_str(names, host->file);
            steps[i].at_line = host->line;
        }
    }
    return import_place(f->im, &(struct import_place){.module = intern_str(names, f->module),
                                                      .steps = steps,
                                                      .count = n,
                                                      .file = intern_str(names, f->parts.data[0].file),
                                                      .line = f->parts.data[0].line});
}

/* Ends the frames of one address. */
static void end_part(struct perf *f)
{
    AUTO_STR struct str key = {0};
    uint32_t text[2] = {0};
    bool is_new;

    if (!f->parts.len)
        return;
    str_addn(&key, (const char *)&f->module, sizeof f->module);
    str_addn(&key, (const char *)f->parts.data, f->parts.len * sizeof *f->parts.data);
    text[0] = intern_addn(&f->im->names, key.s, key.len);
    uint32_t i = keymap_add(&f->part_keys, text, &is_new);

    if (is_new)
        vec_push(&f->part_places, make_place(f));
    vec_push(&f->places, f->part_places.data[i]);
    vec_clear(&f->parts);
    f->host_seen = false;
}

/* The kernel has one name in all formats. */
static uint32_t module_of(struct perf *f, const struct perf_frame *frame)
{
    static const char *const kernel[] = {"[kernel.kallsyms]", "[guest.kernel.kallsyms]", "[kernel.vmlinux]"};
    size_t n = frame->module_len;

    if (!n || (n == 9 && !memcmp(frame->module, "[unknown]", n)))
        return 0;
    for (size_t i = 0; *frame->module == '[' && i < sizeof kernel / sizeof *kernel; i++)
        if (n == strlen(kernel[i]) && !memcmp(frame->module, kernel[i], n))
            return intern_add(&f->im->names, "[kernel]");
    return intern_addn(&f->im->names, frame->module, n);
}

static struct hq_error *take_frame(struct perf *f, const struct perf_frame *frame)
{
    struct intern *names = &f->im->names;
    uint32_t name = intern_addn(names, frame->name, frame->name_len);

    if (f->host_seen)
        end_part(f);
    if (f->places.len + f->parts.len >= DEPTH_MAX)
        return input_bad_line(f->in, "a sample has more than %d frames", DEPTH_MAX);
    vec_push(&f->parts, (struct perf_part){.name = name});
    if (!frame->inlined) {
        f->module = module_of(f, frame);
        f->host_seen = true;
    }
    return NULL;
}

/* ---- samples ---- */

/* Periods differ from sample to sample where perf was asked for a frequency: each weighs its own. */
static void trace_sample(struct perf *f, uint32_t profile, uint64_t us, uint32_t frame)
{
    uint64_t weight = f->sample.has_period ? f->sample.period : 1;

    for (int pieces = 0; weight > UINT32_MAX && pieces < PIECES_MAX; pieces++, weight -= UINT32_MAX)
        import_trace(f->im, profile, us, frame, f->metric, UINT32_MAX);
    if (weight > UINT32_MAX) {
        weight = UINT32_MAX;
        import_fact(f->im, "trace", "samples with periods beyond all measure: slices of time have less of them");
    }
    import_trace(f->im, profile, us, frame, f->metric, (uint32_t)weight);
}

static void end_sample(struct perf *f)
{
    if (!f->open)
        return;
    f->open = f->from_head = false;
    end_part(f);
    import_reverse(f->places.data, f->places.len);
    uint32_t profile = f->threads.data[f->thread];
    uint32_t frame = import_path(f->im, f->places.data, f->places.len);

    if (frame == HQDB_NONE) {
        frame = model_root_frame(f->im->model, SCOPE_PARTIAL, "partial: no call path");
        f->without_path++;
    }
    import_value(f->im, profile, f->metric, frame, f->sample.has_period ? (int64_t)f->sample.period : 1, 1);
    f->samples++;
    vec_clear(&f->places);
    if (f->sample.time < 0)
        return;
    if (f->start < 0)
        f->start = f->sample.time;
    double since = (f->sample.time - f->start) * 1e6;
    uint64_t us = since > 0 && since < 0x1p52 ? (uint64_t)(since + 0.5) : 0;

    trace_sample(f, profile, us, frame);
}

static struct hq_error *begin_sample(struct perf *f, const struct perf_header *h)
{
    struct perf_frame frame;

    if (h->period >> 60)
        return input_bad_line(f->in, "the period of the sample is out of range");
    if (!fits_event(f, h))
        return input_bad_line(f->in, "the head has other fields (time, period) than those of its event before it");
    f->sample = *h;
    f->metric = metric_of(f, h);
    f->thread = thread_of(f, h);
    f->open = true;
    if (!*h->rest || !perf_parse_last_frame(h->rest, &frame))
        return NULL;
    f->from_head = true;
    return take_frame(f, &frame);
}

static struct hq_error *neither(const struct perf *f)
{
    return input_bad_line(f->in, "neither the head of a sample (COMMAND PID/TID TIME: EVENT:) nor a frame of one");
}

/* Does the line begin a sample of the style that this file has? */
static bool is_head(struct perf *f, const char *line, size_t len, struct perf_header *h)
{
    unsigned style = STYLE_UNKNOWN;

    if (perf_parse_header(line, h)) {
        style = STYLE_FIELDS | (h->has_ids ? STYLE_IDS : 0) | (h->event ? STYLE_EVENT : 0);
    } else if (is_command(line, len)) {
        *h = (struct perf_header){.command = line, .command_len = len - 1, .time = -1, .rest = ""};
        style = STYLE_COMMAND;
    }
    if (!f->style)
        f->style = style;
    return style && style == f->style;
}

static bool is_frame(struct perf *f, const char *line, struct perf_frame *frame)
{
    bool indented = line[0] == '\t' || (f->open && line[0] == ' ' && !f->tabs);

    f->tabs |= line[0] == '\t';
    return indented && perf_parse_frame(line, frame);
}

static struct hq_error *take_frame_line(struct perf *f, const struct perf_frame *frame)
{
    if (!f->open) {
        if (f->style && f->style != STYLE_NONE)
            return neither(f);
        f->style = STYLE_NONE;
        HQ_TRY(begin_sample(f, &(struct perf_header){.command = "", .time = -1, .rest = ""}));
    }
    if (perf_frame_torn(frame, f->modules))
        return input_bad_line(f->in, "the frame is not whole: its module is missing or is that of another one");
    f->modules |= frame->module && (*frame->module == '/' || *frame->module == '[');
    /* The address behind the event was not the place of the sample, because frames follow. */
    if (f->from_head) {
        vec_clear(&f->places);
        vec_clear(&f->parts);
        f->from_head = f->host_seen = false;
    }
    return take_frame(f, frame);
}

static struct hq_error *take_line(struct perf *f, const char *line, size_t len)
{
    struct perf_frame frame;
    struct perf_header head;
    const char *file;
    size_t file_len;
    uint32_t number;

    if (line[0] == '#' || is_record(line))
        return NULL;
    if (!line[strspn(line, " \t")]) {
        end_sample(f);
        return NULL;
    }
    if (is_frame(f, line, &frame))
        return take_frame_line(f, &frame);
    bool behind_frames = f->open && line[0] != '\t' && (f->parts.len || f->places.len);

    if (behind_frames && line[0] == ' ' && f->parts.len && perf_parse_source(line, &file, &file_len, &number)) {
        struct perf_part *part = &vec_last(&f->parts);

        part->file = intern_addn(&f->im->names, file, file_len);
        part->line = number;
        return NULL;
    }
    if (line[0] != '\t' && is_head(f, line, len, &head)) {
        end_sample(f);
        return begin_sample(f, &head);
    }
    /* `|12    text of the line` of -F +srccode stands behind the empty line that ends a sample. */
    return (behind_frames && line[0] == ' ') || (f->style && line[0] == '|') ? NULL : neither(f);
}

static struct hq_error *take_all(struct perf *f)
{
    char *line;
    size_t len;

    while (input_line(f->in, &line, &len) && !f->in->unended) {
        HQ_TRY(take_line(f, line, len));
        if (import_problem(f->im))
            return input_bad_line(f->in, "the sample before this line: %s", import_problem(f->im));
    }
    HQ_TRY(input_error(f->in));
    if (f->in->unended) /* its end is no loss that anybody could see: half a name, and no more samples */
        return input_bad_line(f->in, "the file is cut off in this line (if it is whole, add the end of the line)");
    end_sample(f);
    return NULL;
}

struct hq_error *perf_read(struct import *im, const char *path)
{
    AUTO_INPUT struct input in = {0};
    struct perf f = {.im = im, .in = &in, .start = -1};
    struct hq_error *error = input_open(&in, path);

    keymap_init(&f.part_keys, 2 * sizeof(uint32_t));
    keymap_init(&f.thread_keys, 2 * sizeof(uint32_t));
    if (!error)
        error = take_all(&f);
    if (!error && f.without_path)
        model_loss(im->model, "no call path", true, f.without_path);
    vec_deinit(&f.places);
    vec_deinit(&f.parts);
    keymap_deinit(&f.part_keys);
    vec_deinit(&f.part_places);
    keymap_deinit(&f.thread_keys);
    vec_deinit(&f.threads);
    map_deinit(&f.metrics);
    map_deinit(&f.event_fields);
    return error;
}
