/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/perf/convert.h"

#include "common/file.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/progress.h"
#include "common/str.h"
#include "db/perf/measure.h"
#include "db/perf/stream.h"
#include "db/perf/tasks.h"
#include "structure/elf.h"
#include <dirent.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define VERSION \
    2 /* of what is made of a stream, which changes with what db/perf/ and unwind/ find: others are made again */

struct convert {
    struct perf_stream stream;
    struct perf_tasks tasks;
    char *directory, *prefix; /* of measurement files: HOST */
    const char *host;
    uint8_t vdso_id[PERF_BUILD_ID];
    size_t vdso_id_len;
    uint64_t lost, throttled;
};

static uint64_t micros(const struct convert *c, uint64_t time)
{
    uint64_t start = c->stream.header.start_monotonic_ns;

    return time > start ? (time - start) / 1000 : 0;
}

/* ---- one process ---- */

struct host { /* perf_process.user */
    struct measure measure;
    VEC(uint32_t) modules; /* [module of tasks] number in the file, 0: not there yet */
};

static struct host *host_of(struct perf_process *p)
{
    if (!p->user) {
        struct host *h = xcalloc(1, sizeof *h);

        measure_init(&h->measure);
        p->user = h;
    }
    return p->user;
}

static void begin_thread(void *user, struct perf_process *p, uint32_t number, uint32_t tid, uint32_t creator)
{
    const struct convert *c = user;

    measure_begin_thread(&host_of(p)->measure, number, tid, creator, micros(c, c->tasks.now));
}

static void end_thread(void *user, struct perf_process *p, uint32_t number)
{
    const struct convert *c = user;

    measure_end_thread(&host_of(p)->measure, number, micros(c, c->tasks.now));
}

/* The mapping of a module that lies lowest tells where it begins. */
static const struct perf_mapping *first_mapping(const struct perf_process *p, uint32_t module)
{
    vec_foreach(m, &p->mappings)
        if (m->module == module)
            return m;
    return NULL;
}

static size_t parse_id(const char *text, uint8_t *out)
{
    size_t n = 0;
    unsigned byte;

    for (; text && n < PERF_BUILD_ID && sscanf(text + 2 * n, "%2x", &byte) == 1; n++)
        out[n] = (uint8_t)byte;
    return n;
}

static uint32_t module_number(struct convert *c, struct perf_process *p, uint32_t module)
{
    struct host *h = host_of(p);
    const struct perf_module *of = &c->tasks.modules.data[module];
    const struct perf_mapping *at = first_mapping(p, module);
    struct hqm_module record = {.flags = module ? 0 : HQM_MODULE_KERNEL};

    while (h->modules.len <= module)
        vec_push(&h->modules, 0);
    if (h->modules.data[module])
        return h->modules.data[module];
    record.path = measure_string(&h->measure, of->path);
    if (!module) {
        record.end = UINT64_MAX;
        record.build_id_len = (uint8_t)parse_id(perf_stream_text(&c->stream, c->stream.header.pid, "kernel"),
                                                record.build_id);
        vec_push(&h->measure.modules, record);
        return h->modules.data[module] = (uint32_t)h->measure.modules.len;
    }
    record.flags |= (module == p->executable ? HQM_MODULE_MAIN : 0) | (of->is_vdso ? HQM_MODULE_VDSO : 0);
    record.build_id_len = of->is_vdso ? (uint8_t)c->vdso_id_len : of->build_id_len;
    memcpy(record.build_id, of->is_vdso ? c->vdso_id : of->build_id, PERF_BUILD_ID);
    if (at) {
        record.base = at->placed ? at->bias : at->start - at->offset;
        record.start = at->start;
        record.end = at->end;
        vec_foreach(other, &p->mappings)
            record.end = other->module == module ? other->end : record.end;
    }
    vec_push(&h->measure.modules, record);
    return h->modules.data[module] = (uint32_t)h->measure.modules.len;
}

static void set_event(struct measure *m, const struct hqs_header *s)
{
    struct hqm_event event = {.dimension = HQM_DIM_SECONDS,
                              .flags = HQM_EVENT_SAMPLED | HQM_EVENT_TRACED,
                              .period = s->period_ns,
                              .scale = 1e-9};

    event.name = measure_string(m, "CPUTIME");
    event.description = measure_string(m, "CPU time, sampled by the kernel");
    vec_push(&m->events, event);
}

static void take_sample(struct convert *c, const struct perf_event *e, struct perf_path *path)
{
    perf_tasks_unwind(&c->tasks, e, c->stream.layout.registers, path);

    struct perf_process *p = path->thread.process;
    struct measure *m = &host_of(p)->measure;
    uint32_t thread = path->thread.number, node = 0, kernel;

    if (!m->events.len)
        set_event(m, &c->stream.header);
    if (path->partial || (!path->frame_count && !path->kernel.len)) {
        node = measure_child(m, thread, 0, HQM_NODE_PARTIAL, 0, path->partial);
        m->header.partial++;
        m->header.partial_by_reason[path->partial]++;
    }
    for (size_t i = path->frame_count; i-- > 0;) {
        const struct perf_frame *f = &path->frames[i];
        uint32_t module = f->module == UINT32_MAX ? 0 : module_number(c, p, f->module);

        node = measure_child(m, thread, node, HQM_NODE_FRAME, module, f->offset);
    }
    if (path->kernel.len) {
        kernel = module_number(c, p, 0);
        node = measure_child(m, thread, node, HQM_NODE_FRAME, kernel, 0);
        for (size_t i = path->kernel.len; i-- > 0;)
            node = measure_child(m, thread, node, HQM_NODE_FRAME, kernel, path->kernel.data[i]);
    }
    measure_sample(m, thread, node, micros(c, e->time));
}

/* ---- the files ---- */

static void describe(struct convert *c, struct perf_process *p, bool first)
{
    struct host *h = p->user;
    struct measure *m = &h->measure;
    const struct hqs_header *s = &c->stream.header;
    const char *executable = p->executable == UINT32_MAX ? "" : c->tasks.modules.data[p->executable].path;
    const char *command = perf_stream_text(&c->stream, p->pid, "command"), *directory;

    /* The command that the stream names at its start is that of the first program, not of a program that replaced
     * it. */
    if (p->serial > (s->attached ? 0 : 1))
        command = NULL;
    measure_info(m, "command", command ? command : *executable ? executable : p->name);
    measure_info(m, "host",
                 perf_stream_text(&c->stream, s->pid, "host") ? perf_stream_text(&c->stream, s->pid, "host")
                                                              : c->prefix);
    if (perf_stream_text(&c->stream, s->pid, "machine"))
        measure_info(m, "machine", perf_stream_text(&c->stream, s->pid, "machine"));
    directory = perf_stream_text(&c->stream, s->pid, "directory");
    if (directory)
        measure_info(m, "directory", directory);
    if (*executable)
        measure_info(m, "executable", executable);
    measure_info(m, "collector", HQ_VERSION ", by perf_event");
    if (first && !s->stack_bytes)
        measure_info(m, "warning",
                     "call paths are those of frame pointers: callers whose code keeps none are missing "
                     "in them, which nothing shows");
    if (first && s->state == HQS_RUNNING)
        measure_info(m, "warning",
                     "hq record had not ended when this was read, or was killed: what it had not written "
                     "by then is not there");
    if (first && c->throttled) {
        AUTO_FREE char *text = xasprintf("the kernel stopped the clock %llu times because samples took too long; what "
                                         "ran then is not counted",
                                         (unsigned long long)c->throttled);

        measure_info(m, "warning", text);
    }
}

static struct hq_error *write_process(struct convert *c, struct perf_process *p, bool first)
{
    struct host *h = p->user;
    struct hqm_header *out = &h->measure.header;
    const struct hqs_header *s = &c->stream.header;
    AUTO_FREE char *path = xasprintf("%s/%s-%u-%u" HQM_SUFFIX, c->directory, c->prefix, (unsigned)p->pid,
                                     (unsigned)p->serial);

    describe(c, p, first);
    if (!h->measure.events.len)
        set_event(&h->measure, s);
    out->pid = p->pid;
    out->ppid = p->parent;
    out->serial = p->serial;
    out->rank = s->rank;
    out->launch = s->launch;
    out->state = p->execed ? HQM_EXECED : HQM_ENDED;
    out->start_realtime_ns = s->start_realtime_ns;
    out->start_monotonic_ns = s->start_monotonic_ns;
    out->pid_namespace = s->pid_namespace;
    out->cpu_clock = s->kernel ? HQM_CLOCK_PERF : HQM_CLOCK_PERF_USER;
    out->end_us = micros(c, p->ended ? p->ended : c->tasks.now);
    if (first) {
        out->loss[HQM_LOSS_BUFFER] = c->lost;
        out->loss[HQM_LOSS_NO_SPACE] = s->dropped;
    }
    return measure_write(&h->measure, path);
}

/* Writes the files of all processes. Of those without a sample only the one that the user named has a file. */
static struct hq_error *write_all(struct convert *c)
{
    bool first = true, any = false;

    vec_foreach(p, &c->tasks.processes)
        any |= (*p)->user && host_of(*p)->measure.header.samples;
    vec_foreach(p, &c->tasks.processes) {
        bool named = (*p)->pid == c->stream.header.pid && !(*p)->execed;

        if (!(*p)->user || !(host_of(*p)->measure.header.samples || (!any && named)))
            continue;
        HQ_TRY(write_process(c, *p, first));
        first = false;
    }
    return NULL;
}

/* ---- a stream ---- */

static struct hq_error *find_vdso(struct convert *c)
{
    struct hq_error *unlisted = NULL;
    DIR *dir = file_dir_open(c->directory, &unlisted);

    for (const struct dirent *e; dir && (e = file_dir_next(dir, c->directory, &unlisted));)
        if (str_begins(e->d_name, "vdso-") && !c->tasks.vdso)
            c->tasks.vdso = file_join(c->directory, e->d_name);
    if (dir)
        closedir(dir);
    HQ_TRY(unlisted);
    struct elf *elf;
    struct hq_error *err = c->tasks.vdso ? elf_open(c->tasks.vdso, &elf) : NULL;

    if (c->tasks.vdso && !err) {
        c->vdso_id_len = elf->build_id_size < PERF_BUILD_ID ? elf->build_id_size : PERF_BUILD_ID;
        if (c->vdso_id_len)
            memcpy(c->vdso_id, elf->build_id, c->vdso_id_len);
        elf_close(elf);
    }
    hq_error_free(err);
    return NULL;
}

static void take_record(struct convert *c, const struct perf_event *e, struct perf_path *path)
{
    if (e->type == PERF_RECORD_SAMPLE)
        take_sample(c, e, path);
    else if (e->type == PERF_RECORD_LOST || e->type == PERF_RECORD_LOST_SAMPLES)
        c->lost += e->lost;
    else if (e->type == PERF_RECORD_THROTTLE)
        c->throttled++;
    else
        perf_tasks_note(&c->tasks, e);
}

static void deinit(struct convert *c)
{
    vec_foreach(p, &c->tasks.processes) {
        struct host *h = (*p)->user;

        if (!h)
            continue;
        measure_deinit(&h->measure);
        vec_deinit(&h->modules);
        free(h);
    }
    perf_tasks_deinit(&c->tasks);
    perf_stream_close(&c->stream);
    free(c->directory);
    free(c->prefix);
}

/* A file that samples lie in and that is not there as it was: what is found without it is less. NULL: all are. */
static const char *missing_file(const struct perf_tasks *t)
{
    for (size_t i = 0; i < t->modules.len; i++) {
        const struct perf_module *m = &t->modules.data[i];

        if (m->looked_for && !m->image && !m->is_vdso && m->path[0] == '/')
            return m->path;
    }
    return NULL;
}

/* has_old: another version has done it. *kept: that stays, since this one would find less; then nothing is written. */
static struct hq_error *convert(const char *path, bool has_old, bool *kept)
{
    AUTO(deinit) struct convert c = {.directory = file_dirname(path)};
    struct perf_path sample = {0};
    struct perf_event e;
    struct progress progress;
    const char *name = file_basename(path), *dash = strrchr(name, '-');

    c.prefix = dash ? xstrndup(name, (size_t)(dash - name)) : xstrdup("host");
    HQ_TRY(perf_stream_open(path, &c.stream));
    perf_tasks_init(&c.tasks);
    HQ_TRY(find_vdso(&c));
    c.tasks.begin = begin_thread;
    c.tasks.end = end_thread;
    c.tasks.user = &c;
    progress_start(&progress, "unwinding stacks", c.stream.records.len, false);
    for (size_t i = 0; i < c.stream.records.len && !c.tasks.crowded; i++) {
        if (perf_stream_record(&c.stream, i, &e))
            take_record(&c, &e, &sample);
        progress_add(&progress, 1);
    }
    progress_finish(&progress);
    vec_deinit(&sample.kernel);
    if (c.tasks.crowded)
        return hq_error_new(HQ_DATA, "%s: " PERF_TASKS_CROWDED, path);
    *kept = has_old && missing_file(&c.tasks);
    return *kept ? NULL : write_all(&c);
}

/* ---- which ---- */

static char *done_path(const char *stream)
{
    return xasprintf("%.*s" HQS_DONE, (int)(strlen(stream) - strlen(HQS_SUFFIX)), stream);
}

static struct hq_error *convert_if_needed(const char *path)
{
    AUTO_FREE char *done = done_path(path);
    AUTO_STR struct str old = {0}, now = {0};
    struct perf_stream_state state;
    unsigned made = 0, tried = 0;
    unsigned long long bytes = 0;

    HQ_TRY(perf_stream_look(path, &state));
    hq_error_free(file_read_regular(done, &old, 256));
    bool is_same = sscanf(str_cstr(&old), "%u %llu %u", &made, &bytes, &tried) >= 2 && bytes == state.bytes;
    bool is_known = is_same && tried == VERSION; /* that this version cannot do better */
    bool kept = is_known;

    if (is_same && made == VERSION)
        return NULL;
    if (!is_known)
        HQ_TRY(hq_error_prefix(convert(path, is_same, &kept), "its stacks cannot be unwound"));
    if (kept)
        log_note(
            "%s: the call paths are those of an earlier version, since a file that samples lie in is no longer there",
            path);
    if (is_known)
        return NULL;
    str_addf(&now, "%u %llu", kept ? made : VERSION, (unsigned long long)state.bytes);
    if (kept)
        str_addf(&now, " %u", VERSION);
    str_add(&now, "\n");
    struct file_writer w;

    HQ_TRY(file_writer_open(&w, done));
    file_writer_write(&w, str_cstr(&now), now.len);
    return file_writer_commit(&w);
}

static bool is_stream(const char *name)
{
    size_t n = strlen(name), m = strlen(HQS_SUFFIX);

    return n > m && !strcmp(name + n - m, HQS_SUFFIX);
}

struct hq_error *perf_convert(const char *input)
{
    AUTO_FREE char *below = file_join(input, HQM_DIRECTORY);
    const char *directory = file_is_dir(below) ? below : input;
    DIR *dir = file_is_dir(directory) ? opendir(directory) : NULL;
    struct hq_error *err = NULL;

    if (!dir && file_is_dir(directory))
        return hq_error_errno(HQ_DATA, "%s: could not list the measurements", directory);
    for (const struct dirent *e; dir && !err && (e = file_dir_next(dir, directory, &err));) {
        AUTO_FREE char *path = is_stream(e->d_name) ? file_join(directory, e->d_name) : NULL;

        if (path)
            err = convert_if_needed(path);
    }
    if (dir)
        closedir(dir);
    return err;
}
