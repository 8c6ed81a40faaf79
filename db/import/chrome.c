/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chrome's trace event format as JSON: an array of events, or an object with one under "traceEvents". Complete events
 * (X) and pairs of begin and end (B, E) become a calling context tree of exact times and a trace; the names of
 * processes and threads are taken from metadata (M). All other events (counters, instants, flows, asynchronous ones)
 * are counted and left out.
 *
 * Streams of devices, as PyTorch's profiler and rocprof write them, become queues of devices (chrome_devices.c).
 */
#include "db/import/chrome.h"
#include "common/str.h"
#include "db/import/formats.h"
#include "db/import/json.h"
#include "db/import/slices.h"
#include "db/import/target.h"
#include <math.h>
#include <string.h>

enum { TICK_NS = 1000 }; /* what a weight of one stands for in the trace */
enum { SLICES_DEEP = 10000 };
#define TEXT_ID (1ull << 32)

static const char *const field_names[] = {"ph", "name", "cat", "ts", "dur", "pid", "tid"};
enum field { PHASE, NAME, CATEGORY, TIME, DURATION, PROCESS, THREAD, FIELDS };

struct event { /* while it is being read */
    struct slice slice;
    uint64_t pid, tid; /* see struct chrome_thread */
    uint32_t args_name;
    unsigned fields; /* that it has: bits of enum field */
    enum chrome_category category;
    bool is_sum; /* clang adds "Total X" of all X to -ftime-trace, each in a thread of its own */
};

/* An id that is a text and no number is TEXT_ID and the text's number; it tells threads apart and names them. */
struct chrome_thread {
    uint64_t pid, tid;
    uint32_t name;
    bool is_stream;
};

struct open_slice {
    uint32_t frame;
    int64_t end;
    char phase;
};

struct chrome {
    struct import *im;
    const char *file;
    struct event event;
    struct slices slices;
    struct keymap thread_keys; /* pid, tid */
    VEC(struct chrome_thread) threads;
    struct map process_names; /* pid -> text */
    struct map places;        /* text -> place + 1 */
    long double origin;
    uint64_t ignored, sums, unmatched, unfinished, clipped, timeless, endless;
    uint64_t placed[2]; /* events without a process or thread, and with both */
    uint32_t metric, next_number, queues;
    struct chrome_devices devices;
    /* of the thread at work */
    uint32_t profile;
    bool on_device;
    VEC(struct open_slice) open;
    int64_t now;         /* ns since the origin */
    int64_t told;        /* tick of the last trace record; -1: there is none */
    uint32_t told_frame; /* and its frame */
};

bool chrome_sniff(const struct import_probe *p)
{
    char first = p->text[strspn(p->text, " \t\r\n")];

    if (p->is_dir || p->binary)
        return false;
    return (first == '{' && strstr(p->text, "\"traceEvents\"")) ||
           (first == '[' && strstr(p->text, "\"ph\"") && strstr(p->text, "\"ts\""));
}

/* ---- reading ---- */

/* How many steps lead to an event: [i] or traceEvents, [i]; 0: not within one. */
static size_t event_depth(const struct json_path *p)
{
    if (p->depth && p->steps[0].in_array)
        return 1;
    return p->depth >= 2 && json_key(p, 0, "traceEvents") && p->steps[1].in_array ? 2 : 0;
}

static uint64_t id_of(struct chrome *c, const struct json_value *v)
{
    if (v->kind == JSON_NUMBER)
        return v->number >= 0 && v->number <= UINT32_MAX ? (uint32_t)v->number : 0;
    char *end;
    unsigned long number = strtoul(v->text, &end, 10);

    return v->len && !*end && number <= UINT32_MAX ? number : TEXT_ID | intern_addn(&c->im->names, v->text, v->len);
}

static struct hq_error *take_field(struct chrome *c, enum field field, const struct json_value *v)
{
    struct event *e = &c->event;

    if (e->fields & 1u << field)
        return hq_error_new(HQ_DATA, "an event has its \"%s\" twice", field_names[field]);
    e->fields |= 1u << field;
    if (field == PHASE && v->kind == JSON_STRING && v->len == 1) {
        e->slice.phase = v->text[0];
    } else if (field == NAME && v->kind == JSON_STRING) {
        e->slice.name = intern_addn(&c->im->names, v->text, v->len);
    } else if (field == CATEGORY && v->kind == JSON_STRING) {
        e->category = chrome_category(v->text, v->len);
    } else if (field == TIME || field == DURATION) {
        /* Nanoseconds can count that far, with room to add; points in time are also told since 1970. */
        long double x = v->kind == JSON_STRING || v->kind == JSON_NUMBER ? strtold(v->text, NULL)
                                                                         : (long double)v->number;

        if (!(fabsl(x) < (field == TIME ? 3e15L : 1e15L)))
            return hq_error_new(HQ_DATA, "the time %s is out of range", v->text);
        *(field == TIME ? &e->slice.ts : &e->slice.dur) = x;
    } else if (field == PROCESS) {
        e->pid = id_of(c, v);
    } else if (field == THREAD) {
        e->tid = id_of(c, v);
    }
    return NULL;
}

static struct hq_error *take_value(void *arg, const struct json_path *p, const struct json_value *v)
{
    struct chrome *c = arg;
    size_t d = event_depth(p);

    if (d && p->depth == d + 2 && json_key(p, d, "args") && json_key(p, d + 1, "name") && v->kind == JSON_STRING)
        c->event.args_name = intern_addn(&c->im->names, v->text, v->len);
    if (d && p->depth == d + 2 && json_key(p, d, "args") && json_key(p, d + 1, "avg ms"))
        c->event.is_sum = true;
    for (enum field field = 0; d && p->depth == d + 1 && field < FIELDS; field++)
        if (json_key(p, d, field_names[field]))
            return take_field(c, field, v);
    return NULL;
}

static uint32_t thread_of(struct chrome *c, uint64_t pid, uint64_t tid)
{
    uint64_t key[2] = {pid, tid};
    bool is_new;
    uint32_t i = keymap_add(&c->thread_keys, key, &is_new);

    if (is_new)
        vec_push(&c->threads, (struct chrome_thread){.pid = pid, .tid = tid});
    return i;
}

static void take_metadata(struct chrome *c, const struct event *e)
{
    const char *what = intern_str(&c->im->names, e->slice.name);

    if (!strcmp(what, "process_name"))
        map_put(&c->process_names, e->pid, e->args_name);
    if (strcmp(what, "thread_name"))
        return;
    uint32_t thread = thread_of(c, e->pid, e->tid);

    c->threads.data[thread].name = e->args_name;
}

static struct hq_error *take_end(void *arg, const struct json_path *p)
{
    struct chrome *c = arg;
    struct event e = c->event;
    size_t d = event_depth(p);
    const char *name = intern_str(&c->im->names, e.slice.name);

    if (!d || p->depth != d)
        return NULL;
    c->event = (struct event){0};
    if (e.is_sum && str_begins(name, "Total ")) {
        c->sums++;
    } else if (e.slice.phase == 'M') {
        take_metadata(c, &e);
    } else if (e.category == CHROME_ABOUT_DEVICE ||
               (e.category == CHROME_WHOLE && str_begins(name, "PyTorch Profiler ("))) {
        c->ignored++;
    } else if (!e.slice.phase || !strchr("BEX", (int)e.slice.phase)) {
        c->ignored++;
    } else if (!(e.fields & 1u << TIME)) {
        c->timeless++;
    } else {
        c->endless += e.slice.phase == 'X' && !(e.fields & 1u << DURATION);
        c->placed[e.fields >> PROCESS == 3]++;
        e.slice.thread = thread_of(c, e.pid, e.tid);
        c->threads.data[e.slice.thread].is_stream |= e.category == CHROME_ON_DEVICE;
        e.slice.dur = e.slice.dur > 0 ? e.slice.dur : 0;
        c->origin = fminl(c->origin, e.slice.ts);
        HQ_TRY(slices_add(&c->slices, &e.slice));
    }
    return NULL;
}

/* ---- nesting ---- */

static int64_t ns_of(const struct chrome *c, long double us)
{
    return llroundl((us - c->origin) * 1000);
}

static void tell(struct chrome *c, int64_t tick, uint32_t frame, int64_t weight)
{
    import_trace(c->im, c->profile, (uint64_t)tick, frame, c->on_device ? c->devices.time : c->metric,
                 weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX);
    c->told = tick;
    c->told_frame = frame;
}

/* A span begins with the record before it: so a pause ends with a record of nothing, and what follows the same at once
 * is told apart from it by one. */
static void begin_span(struct chrome *c, uint32_t frame)
{
    if (!c->open.len ? c->told < c->now / TICK_NS || c->told_frame == frame : c->told_frame == frame)
        tell(c, c->now / TICK_NS, frame, 0);
}

static void charge(struct chrome *c, int64_t until)
{
    uint32_t metric = c->on_device ? c->devices.time : c->metric;
    int64_t spent = until - c->now, ticks = until / TICK_NS - c->now / TICK_NS;

    if (c->open.len && spent > 0) {
        uint32_t frame = vec_last(&c->open).frame;

        import_value(c->im, c->profile, metric, frame, spent, 0);
        if (ticks > 0)
            tell(c, until / TICK_NS, frame, ticks);
    }
    c->now = until > c->now ? until : c->now;
}

/* Ends the complete events that are over by then. */
static void advance(struct chrome *c, int64_t until)
{
    while (c->open.len && vec_last(&c->open).end <= until) {
        charge(c, vec_last(&c->open).end);
        c->open.len--;
    }
    charge(c, until);
}

/* A command: those of one stream follow each other. */
static struct hq_error *open_command(struct chrome *c, const struct slice *s, int64_t end)
{
    int64_t begin = c->open.len && vec_last(&c->open).end > c->now ? vec_last(&c->open).end : c->now;

    advance(c, begin);
    uint32_t frame = chrome_command(&c->devices, c->im, c->profile, intern_str(&c->im->names, s->name), begin,
                                    end > begin ? end - begin : 0);

    begin_span(c, frame);
    vec_push(&c->open, (struct open_slice){frame, end > begin ? end : begin, (char)s->phase});
    return NULL;
}

static struct hq_error *open_slice(struct chrome *c, const struct slice *s, int64_t end)
{
    uint32_t parent = c->open.len ? vec_last(&c->open).frame : HQDB_NONE;
    uint64_t *place = map_insert(&c->places, s->name, 0, NULL);
    const char *name = intern_str(&c->im->names, s->name);

    if (c->open.len >= SLICES_DEEP)
        return hq_error_new(HQ_DATA, "%s: more than %d events are open at the time %.17g", c->file, SLICES_DEEP,
                            (double)s->ts);
    if (!*place)
        *place = (uint64_t)import_named(c->im, *name ? name : "[unnamed]", NULL) + 1;
    /* A complete event cannot outlive the one that it began in. */
    if (c->open.len && end > vec_last(&c->open).end) {
        end = vec_last(&c->open).end;
        c->clipped += s->phase == 'X';
    }
    uint32_t frame = import_frame(c->im, parent, (uint32_t)*place - 1);

    begin_span(c, frame);
    vec_push(&c->open, (struct open_slice){frame, end, (char)s->phase});
    import_value(c->im, c->profile, c->metric, frame, 0, 1);
    if (import_problem(c->im))
        return hq_error_new(HQ_DATA, "%s: the event at the time %.17g: %s", c->file, (double)s->ts,
                            import_problem(c->im));
    return NULL;
}

static struct hq_error *give_slice(struct chrome *c, const struct slice *s)
{
    int64_t at = ns_of(c, s->ts);

    advance(c, at);
    if (c->on_device && s->phase == 'X')
        return open_command(c, s, at + llroundl(s->dur * 1000));
    if (s->phase != 'E')
        return open_slice(c, s, s->phase == 'X' ? at + llroundl(s->dur * 1000) : INT64_MAX);
    if (c->open.len && vec_last(&c->open).phase == 'B')
        c->open.len--;
    else
        c->unmatched++;
    return NULL;
}

static void end_thread(struct chrome *c)
{
    while (c->open.len) {
        struct open_slice last = vec_last(&c->open);

        c->unfinished += last.end == INT64_MAX;
        if (last.end != INT64_MAX)
            charge(c, last.end);
        c->open.len--;
    }
    c->now = 0;
    c->told = -1;
    c->told_frame = HQDB_NONE;
}

static const char *name_of(const struct chrome *c, uint32_t name, uint64_t id)
{
    return intern_str(&c->im->names, name || !(id & TEXT_ID) ? name : (uint32_t)id);
}

/* Threads whose ids are texts are numbered behind the others. */
static uint32_t thread_number(struct chrome *c, const struct chrome_thread *t)
{
    if (!(t->tid & TEXT_ID))
        return t->tid == t->pid ? 0 : (uint32_t)t->tid;
    if (!c->next_number)
        vec_foreach(other, &c->threads)
            if (!(other->tid & TEXT_ID) && other->tid >= c->next_number)
                c->next_number = (uint32_t)other->tid + 1;
    return c->next_number++;
}

static void make_profile(struct chrome *c, const struct chrome_thread *t)
{
    const char *process = name_of(c, (uint32_t)map_get(&c->process_names, t->pid, 0), t->pid);
    const char *thread = name_of(c, t->name, t->tid);
    AUTO_FREE char *name = xasprintf("%s%s%s", process, *process && *thread ? ": " : "", thread);
    bool numbers = !((t->pid | t->tid) & TEXT_ID);
    uint32_t pid = t->pid & TEXT_ID ? 0 : (uint32_t)t->pid;

    c->on_device = t->is_stream || chrome_is_device(process);
    c->profile = import_profile(c->im, pid, numbers ? (uint32_t)t->tid : 0,
                                c->on_device ? HQDB_QUEUE | c->queues++ : thread_number(c, t), name);
    if (c->on_device)
        chrome_queue(&c->devices, c->im, c->profile, process, pid);
}

static void say(struct chrome *c, uint64_t count, const char *what)
{
    AUTO_FREE char *text = xasprintf("%llu %s", (unsigned long long)count, what);

    if (count)
        import_fact(c->im, "events", text);
}

static struct hq_error *give_all(struct chrome *c)
{
    struct slice slice;
    uint32_t thread = UINT32_MAX;
    bool more;

    c->metric = import_metric(c->im, "walltime", "time between the begin and end of events", HQM_DIM_SECONDS,
                              HQDB_METRIC_EXACT | HQDB_METRIC_TRACED | HQDB_METRIC_SPANS, TICK_NS, 1e-9);
    HQ_TRY(slices_sort(&c->slices));
    for (;;) {
        HQ_TRY(slices_next(&c->slices, &slice, &more));
        if (!more || slice.thread != thread)
            end_thread(c);
        if (!more)
            break;
        if (slice.thread != thread)
            make_profile(c, &c->threads.data[slice.thread]);
        thread = slice.thread;
        HQ_TRY(give_slice(c, &slice));
    }
    say(c, c->ignored, "of other kinds than B, E, X and M were left out");
    say(c, c->sums, "are sums of others and were left out");
    say(c, c->unmatched, "ends without a begin were left out");
    say(c, c->unfinished, "begins without an end: taken to last until the last event of their thread");
    say(c, c->timeless, "without a time were left out");
    say(c, c->endless, "complete events without a duration count as over at once");
    say(c, c->placed[1] ? c->placed[0] : 0,
        "name no process or no thread, as the others do: each of these is number 0");
    say(c, c->clipped, "complete events that outlast the one around them end with it");
    return NULL;
}

struct hq_error *chrome_read(struct import *im, const char *path)
{
    static const struct json_handler handler = {take_value, take_end};
    struct chrome c = {.im = im, .file = path, .origin = INFINITY};

    slices_init(&c.slices, SLICES_RUN, getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    keymap_init(&c.thread_keys, 2 * sizeof(uint64_t));
    struct hq_error *error = json_walk(path, true, &handler, &c);

    if (!error)
        error = give_all(&c);
    keymap_deinit(&c.thread_keys);
    vec_deinit(&c.threads);
    slices_deinit(&c.slices);
    map_deinit(&c.process_names);
    map_deinit(&c.places);
    map_deinit(&c.devices.frames);
    vec_deinit(&c.open);
    return error;
}
