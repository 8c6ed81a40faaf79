/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * speedscope files (file-format-schema.json of speedscope). Each of its profiles is one here, and the unit makes the
 * metric; but in files of hq each of them is a metric. Of sampled profiles the number of samples is known, but of hq's;
 * evented ones give exact values. A frame's line is where the frame is, so it is taken as the statement.
 */
#include "db/import/floats.h"
#include "db/import/formats.h"
#include "db/import/json.h"
#include <math.h>
#include <string.h>

struct speed_frame {
    uint32_t name, file, line;
};

/* A sample, or the opening or closing of a frame. */
struct speed_stack {
    uint32_t first, count;
};
struct speed_event {
    double at;
    uint32_t frame;
    bool opens;
};

struct speed_profile {
    uint32_t name, unit; /* texts */
    bool evented;
    VEC(struct speed_stack) stacks;
    VEC(uint32_t) path; /* frames of all stacks */
    VEC(double) weights;
    VEC(struct speed_event) events;
    struct speed_event event; /* being read */
    double start, end;
};

/* The properties that identify a metric: profiles that agree in all of them share one. */
struct speed_series {
    size_t unit;
    bool evented;
    uint32_t name;
};

struct speedscope {
    struct import *im;
    const char *file;
    VEC(struct speed_frame) frames;
    VEC(struct speed_profile) profiles;
    VEC(uint32_t) places; /* by frame */
    bool ours;            /* exported by hq: a profile is a metric, and has its name */
    VEC(struct speed_series) series;
    struct floats values; /* series: index in `series` */
    uint64_t unfinished;  /* frames that were never closed */
};

bool speedscope_sniff(const struct import_probe *p)
{
    return !p->is_dir && !p->binary && p->text[strspn(p->text, " \t\r\n")] == '{' &&
           (strstr(p->text, "speedscope.app/file-format-schema") ||
            (strstr(p->text, "\"shared\"") && strstr(p->text, "\"frames\"") && !strstr(p->text, "\"traceEvents\"")));
}

/* ---- reading ---- */

static uint32_t text_of(struct speedscope *s, const struct json_value *v)
{
    return v->kind == JSON_STRING ? intern_addn(&s->im->names, v->text, v->len) : 0;
}

static uint32_t whole_of(const struct json_value *v)
{
    return v->kind == JSON_NUMBER && v->number >= 0 && v->number < UINT32_MAX ? (uint32_t)v->number : UINT32_MAX;
}

static void take_frame(struct speedscope *s, const struct json_path *p, const struct json_value *v)
{
    while (s->frames.len <= p->steps[2].index)
        vec_push(&s->frames, (struct speed_frame){0});
    struct speed_frame *f = &s->frames.data[p->steps[2].index];

    if (json_key(p, 3, "name"))
        f->name = text_of(s, v);
    else if (json_key(p, 3, "file"))
        f->file = text_of(s, v);
    else if (json_key(p, 3, "line") && whole_of(v) != UINT32_MAX)
        f->line = whole_of(v);
}

static struct hq_error *take_list(struct speed_profile *x, const struct json_path *p, const struct json_value *v)
{
    if (json_key(p, 2, "samples") && p->depth == 5) {
        uint32_t frame = whole_of(v);

        if (frame == UINT32_MAX)
            return hq_error_new(HQ_DATA, "a sample holds something that is no number of a frame");
        while (x->stacks.len <= p->steps[3].index)
            vec_push(&x->stacks, (struct speed_stack){.first = (uint32_t)x->path.len});
        vec_push(&x->path, frame);
        vec_last(&x->stacks).count++;
    } else if (json_key(p, 2, "weights") && p->depth == 4) {
        if (v->kind != JSON_NUMBER)
            return hq_error_new(HQ_DATA, "a weight is no number");
        vec_push(&x->weights, v->number);
    } else if (json_key(p, 2, "events") && p->depth == 5) {
        if (json_key(p, 4, "type")) {
            if (v->len != 1 || !strchr("OC", v->text[0]))
                return hq_error_new(HQ_DATA, "an event neither opens nor closes a frame");
            x->event.opens = v->text[0] == 'O';
        } else if (json_key(p, 4, "frame"))
            x->event.frame = whole_of(v);
        else if (json_key(p, 4, "at"))
            x->event.at = v->number;
    }
    return NULL;
}

static struct hq_error *take_profile(struct speedscope *s, const struct json_path *p, const struct json_value *v)
{
    while (s->profiles.len <= p->steps[1].index)
        vec_push(&s->profiles, (struct speed_profile){0});
    struct speed_profile *x = &s->profiles.data[p->steps[1].index];

    if (p->depth > 3)
        return take_list(x, p, v);
    if (json_key(p, 2, "type"))
        x->evented = !strcmp(v->text, "evented");
    else if (json_key(p, 2, "name"))
        x->name = text_of(s, v);
    else if (json_key(p, 2, "unit"))
        x->unit = text_of(s, v);
    else if (json_key(p, 2, "startValue"))
        x->start = v->number;
    else if (json_key(p, 2, "endValue"))
        x->end = v->number;
    return NULL;
}

static struct hq_error *take_value(void *arg, const struct json_path *p, const struct json_value *v)
{
    struct speedscope *s = arg;

    if (p->depth == 4 && json_key(p, 0, "shared") && json_key(p, 1, "frames") && p->steps[2].in_array)
        take_frame(s, p, v);
    else if (p->depth >= 3 && json_key(p, 0, "profiles") && p->steps[1].in_array)
        return take_profile(s, p, v);
    else if (p->depth == 1 && json_key(p, 0, "exporter"))
        s->ours = !strcmp(v->text, "hq");
    return NULL;
}

/* Empty samples are samples too; an event is complete. */
static struct hq_error *take_end(void *arg, const struct json_path *p)
{
    struct speedscope *s = arg;

    if (p->depth != 4 || !json_key(p, 0, "profiles") || !p->steps[1].in_array || !p->steps[3].in_array ||
        p->steps[1].index >= s->profiles.len)
        return NULL;
    struct speed_profile *x = &s->profiles.data[p->steps[1].index];

    if (json_key(p, 2, "samples")) {
        while (x->stacks.len <= p->steps[3].index)
            vec_push(&x->stacks, (struct speed_stack){.first = (uint32_t)x->path.len});
    } else if (json_key(p, 2, "events")) {
        vec_push(&x->events, x->event);
        x->event = (struct speed_event){0};
    }
    return NULL;
}

/* ---- giving ---- */

static const struct {
    const char *unit, *event;
    enum hqm_dimension dimension;
    double scale;
} units[] = {
    {"nanoseconds", "time", HQM_DIM_SECONDS, 1e-9},
    {"microseconds", "time", HQM_DIM_SECONDS, 1e-6},
    {"milliseconds", "time", HQM_DIM_SECONDS, 1e-3},
    {"seconds", "time", HQM_DIM_SECONDS, 1},
    {"bytes", "bytes", HQM_DIM_BYTES, 1},
    {"none", "weight", HQM_DIM_NONE, 1},
};

static size_t unit_of(const struct speedscope *s, const struct speed_profile *x)
{
    size_t i = 0, none = sizeof units / sizeof *units - 1;

    while (i < none && strcmp(units[i].unit, intern_str(&s->im->names, x->unit)))
        i++;
    return i;
}

static uint32_t series_of(struct speedscope *s, const struct speed_profile *x)
{
    struct speed_series own = {unit_of(s, x), x->evented, s->ours ? x->name : 0};

    vec_foreach(known, &s->series)
        if (known->unit == own.unit && known->evented == own.evented && known->name == own.name)
            return (uint32_t)(known - s->series.data);
    vec_push(&s->series, own);
    return (uint32_t)s->series.len - 1;
}

static void make_places(struct speedscope *s)
{
    vec_foreach(f, &s->frames) {
        const char *name = intern_str(&s->im->names, f->name), *file = intern_str(&s->im->names, f->file);
        struct import_step step = {.kind = SCOPE_PROCEDURE, .name = *name ? name : "[unknown]", .file = file};

        vec_push(&s->places, import_place(s->im, &(struct import_place){.steps = &step,
                                                                        .count = 1,
                                                                        .file = f->line ? file : NULL,
                                                                        .line = *file ? f->line : 0}));
    }
}

static struct hq_error *bad_frame(const struct speedscope *s, size_t profile, uint32_t frame)
{
    return hq_error_new(HQ_DATA, "%s: profile %zu names frame %u, but there are %zu frames", s->file, profile, frame,
                        s->frames.len);
}

static struct hq_error *give_samples(struct speedscope *s, struct speed_profile *x, uint32_t profile)
{
    size_t number = (size_t)(x - s->profiles.data);
    uint32_t series = series_of(s, x);
    double scale = units[s->series.data[series].unit].scale;

    if (x->weights.len && x->weights.len != x->stacks.len)
        return hq_error_new(HQ_DATA, "%s: profile %zu has %zu samples and %zu weights", s->file, number, x->stacks.len,
                            x->weights.len);
    vec_foreach(k, &x->stacks) {
        uint32_t *path = x->path.data + k->first;

        for (uint32_t i = 0; i < k->count; i++) {
            if (path[i] >= s->frames.len)
                return bad_frame(s, number, path[i]);
            path[i] = s->places.data[path[i]];
        }
        uint32_t frame = import_path(s->im, path, k->count);
        double weight = x->weights.len ? x->weights.data[k - x->stacks.data] : 1;

        if (import_problem(s->im))
            return hq_error_new(HQ_DATA, "%s: sample %zu of profile %zu: %s", s->file, (size_t)(k - x->stacks.data),
                                number, import_problem(s->im));
        if (frame != HQDB_NONE)
            floats_add(&s->values, series, profile, frame, weight * scale, s->ours ? 0 : 1);
    }
    return NULL;
}

/* The frames that are open, outermost first. */
struct open_frames {
    struct {
        uint32_t frame, reached;
    } * data;
    size_t len, cap;
};

static struct hq_error *give_event(struct speedscope *s, struct open_frames *open, const struct speed_event *e,
                                   size_t number)
{
    if (e->frame >= s->frames.len)
        return bad_frame(s, number, e->frame);
    if (e->opens) {
        uint32_t parent = open->len ? vec_last(open).reached : HQDB_NONE;

        vec_push(open, (__typeof__(*open->data)){e->frame, import_frame(s->im, parent, s->places.data[e->frame])});
        if (import_problem(s->im))
            return hq_error_new(HQ_DATA, "%s: the event of profile %zu at %g: %s", s->file, number, e->at,
                                import_problem(s->im));
    } else if (!open->len || vec_last(open).frame != e->frame) {
        return hq_error_new(HQ_DATA, "%s: profile %zu closes frame %u at %g, which is not the one opened last", s->file,
                            number, e->frame, e->at);
    } else {
        open->len--;
    }
    return NULL;
}

static struct hq_error *give_events(struct speedscope *s, struct speed_profile *x, uint32_t profile)
{
    size_t number = (size_t)(x - s->profiles.data);
    uint32_t series = series_of(s, x);
    double scale = units[s->series.data[series].unit].scale;
    struct open_frames open = {0};
    struct hq_error *error = NULL;
    double last = x->start;

    for (size_t i = 0; i < x->events.len && !error; i++) {
        const struct speed_event *e = &x->events.data[i];

        if (e->at < last && i)
            error = hq_error_new(HQ_DATA, "%s: the events of profile %zu go back from %g to %g", s->file, number, last,
                                 e->at);
        else if (open.len && e->at > last)
            floats_add(&s->values, series, profile, vec_last(&open).reached, (e->at - last) * scale, 0);
        last = e->at;
        if (!error)
            error = give_event(s, &open, e, number);
    }
    /* As a tracer leaves it that is killed. */
    if (open.len && x->end > last)
        floats_add(&s->values, series, profile, vec_last(&open).reached, (x->end - last) * scale, 0);
    s->unfinished += open.len;
    vec_deinit(&open);
    return error;
}

static struct hq_error *give_series(struct speedscope *s, uint32_t number)
{
    const struct speed_series *x = &s->series.data[number];
    unsigned flags = (x->evented ? HQDB_METRIC_EXACT : HQDB_METRIC_SAMPLED) |
                     (x->evented || s->ours ? HQDB_METRIC_NO_COUNTS : 0);
    double scale;

    HQ_TRY(floats_scale(&s->values, number, s->file, &scale));
    uint32_t metric = import_metric(s->im, x->name ? intern_str(&s->im->names, x->name) : units[x->unit].event,
                                    "from a speedscope profile", units[x->unit].dimension, flags, 0, scale);

    floats_give(&s->values, number, s->im, metric, scale);
    return NULL;
}

static struct hq_error *give_all(struct speedscope *s)
{
    uint32_t profile = s->ours ? import_profile(s->im, 0, 0, 0, "") : HQDB_NONE;

    make_places(s);
    vec_foreach(x, &s->profiles) {
        if (!s->ours)
            profile = import_profile(s->im, 0, 0, (uint32_t)(x - s->profiles.data), intern_str(&s->im->names, x->name));
        HQ_TRY(x->evented ? give_events(s, x, profile) : give_samples(s, x, profile));
    }
    for (uint32_t i = 0; i < s->series.len; i++)
        HQ_TRY(give_series(s, i));
    AUTO_FREE char *text = xasprintf("%llu frames that are never closed: taken to last until the end of their profile",
                                     (unsigned long long)s->unfinished);
    if (s->unfinished)
        import_fact(s->im, "events", text);
    return NULL;
}

struct hq_error *speedscope_read(struct import *im, const char *path)
{
    static const struct json_handler handler = {take_value, take_end};
    struct speedscope s = {.im = im, .file = path};

    floats_init(&s.values);
    struct hq_error *error = json_walk(path, false, &handler, &s);

    if (!error)
        error = give_all(&s);
    vec_foreach(x, &s.profiles) {
        vec_deinit(&x->stacks);
        vec_deinit(&x->path);
        vec_deinit(&x->weights);
        vec_deinit(&x->events);
    }
    vec_deinit(&s.profiles);
    vec_deinit(&s.frames);
    vec_deinit(&s.places);
    vec_deinit(&s.series);
    floats_deinit(&s.values);
    return error;
}
