/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folded stacks: "main;solve;axpy 1250", outermost first, one line a call path, the value behind the last space. Values
 * are taken as numbers without a unit, because the format has none; lines that repeat a path add up. Frames marked
 * _[k], _[i] and _[j], as stackcollapse-perf.pl does, keep their names without the mark. "run (app.py:12)", as py-spy
 * writes it, and below austin's header "app.py:run:12" are line 12 of run.
 */
#include "common/log.h"
#include "db/import/floats.h"
#include "common/str.h"
#include "db/import/formats.h"
#include "db/import/input.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct folded {
    struct import *im;
    bool austin;
    struct map places; /* number of the frame's text -> place + 1 */
    VEC(uint32_t) path;
    struct floats values;
};

/* Where the value starts, which may be any number; NULL if the line does not end in a space and a number. */
static char *number_of(char *line, size_t len, long double *value)
{
    char *space = memrchr(line, ' ', len), *end;

    if (!space || space == line || !space[1])
        return NULL;
    *value = strtold(space + 1, &end);
    return *end ? NULL : space;
}

/* "# mode: wall": austin puts such lines before the stacks. */
static bool is_comment(const char *line)
{
    return line[0] == '#' && line[1] == ' ';
}

/* Like number_of, for numbers that can be a value: finite, and written without a sign. */
static char *value_of(char *line, size_t len, long double *value)
{
    char *space = number_of(line, len, value);

    return space && isfinite(*value) && (space[1] == '.' || (space[1] >= '0' && space[1] <= '9')) ? space : NULL;
}

/*
 * A first line with a semicolon is mistaken for nothing else, and what is wrong below it, or with its number, is for
 * the reader to tell. A stack of one frame looks like much other text: then every line must be one.
 */
bool folded_sniff(const struct import_probe *p)
{
    const char *line;
    size_t at = 0, len, lines = 0;

    if (p->is_dir || p->binary)
        return false;
    while (probe_line(p, &at, &line, &len)) {
        long double value;
        AUTO_FREE char *copy = xstrndup(line, len);

        if (!len || is_comment(copy))
            continue;
        if (strchr(" \t#{[", line[0]) || !number_of(copy, len, &value))
            return false;
        if (!lines++ && strchr(copy, ';'))
            return true;
        if (!value_of(copy, len, &value))
            return false;
    }
    return lines > 0;
}

/* FILE:LINE; the colon is replaced by an end. */
static bool split_line(char *text, uint32_t *line)
{
    char *colon = strrchr(text, ':'), *end;

    if (!colon || colon == text || colon[1] < '0' || colon[1] > '9')
        return false;
    *line = (uint32_t)strtoul(colon + 1, &end, 10);
    if (!*end)
        *colon = '\0';
    return !*end;
}

/* The frame of a Python function, if it is one: its texts are within `text`, which is changed. */
static bool python_frame(const struct folded *f, char *text, size_t len, struct import_step *step, uint32_t *line)
{
    char *open = len && text[len - 1] == ')' ? strrchr(text, '(') : NULL;

    *step = (struct import_step){.kind = SCOPE_PROCEDURE};
    if (open && open > text + 1 && open[-1] == ' ') {
        AUTO_FREE char *place = xstrndup(open + 1, strlen(open) - 2);

        if (!split_line(place, line))
            return false;
        open[-1] = '\0';
        open[1 + strlen(place)] = '\0';
        step->name = text;
        step->file = open + 1;
        return true;
    }
    if (!f->austin || !split_line(text, line))
        return false;
    char *name = strrchr(text, ':');

    if (!name || name == text)
        return false;
    *name = '\0';
    step->name = name + 1;
    step->file = text;
    return *step->name;
}

static uint32_t make_place(struct folded *f, const char *name, size_t len)
{
    bool marked = len > 4 && name[len - 1] == ']' && name[len - 4] == '_' && name[len - 3] == '[';
    AUTO_FREE char *own = xstrndup(name, marked ? len - 4 : len);
    AUTO_FREE char *text = xstrdup(own);
    struct import_step step;
    uint32_t line;

    if (!python_frame(f, text, strlen(text), &step, &line))
        return import_named(f->im, own, NULL);
    return import_place(f->im, &(struct import_place){.steps = &step, .count = 1, .file = step.file, .line = line});
}

static uint32_t place_of(struct folded *f, const char *name, size_t len)
{
    uint64_t *known = map_insert(&f->places, intern_addn(&f->im->names, name, len), 0, NULL);

    if (!*known)
        *known = (uint64_t)make_place(f, name, len) + 1;
    return (uint32_t)*known - 1;
}

static void split(struct folded *f, const char *stack, const char *end)
{
    vec_clear(&f->path);
    while (stack < end) {
        const char *semicolon = memchr(stack, ';', (size_t)(end - stack));
        const char *stop = semicolon ? semicolon : end;

        if (stop > stack)
            vec_push(&f->path, place_of(f, stack, (size_t)(stop - stack)));
        stack = stop + 1;
    }
}

static struct hq_error *take(struct folded *f, const char *path, uint32_t profile)
{
    AUTO_INPUT struct input in = {0};
    char *line;
    size_t len, stacks = 0, pairs = 0;

    HQ_TRY(input_open(&in, path));
    while (input_line(&in, &line, &len)) {
        long double value, before;
        char *end = len ? value_of(line, len, &value) : NULL;

        f->austin |= str_begins(line, "# austin:");
        if (!len || is_comment(line))
            continue;
        if (!end)
            return input_bad_line(&in, "not a folded stack: a call path, a space and a number that is not negative");
        *end = '\0';
        stacks++;
        pairs += value_of(line, (size_t)(end - line), &before) != NULL;
        split(f, line, end);
        uint32_t frame = import_path(f->im, f->path.data, f->path.len);

        if (import_problem(f->im))
            return input_bad_line(&in, "%s", import_problem(f->im));
        if (frame == HQDB_NONE)
            return input_bad_line(&in, "there is no call path before the number");
        floats_add(&f->values, 0, profile, frame, value, 0);
    }
    HQ_TRY(input_error(&in));
    if (in.unended && stacks) {
        log_warn("%s: the last line has no end: if the file was cut off there, its number is cut off too", path);
        import_fact(f->im, "cut off", "perhaps: the last line has no end");
    }
    if (stacks > 1 && pairs == stacks)
        return hq_error_new(
            HQ_DATA,
            "%s: every line has two numbers: these are the stacks of a comparison; import those of each side and use "
            "`compare with`",
            in.path);
    return NULL;
}

static struct hq_error *give(struct folded *f, const char *path)
{
    double scale;

    HQ_TRY(floats_scale(&f->values, 0, path, &scale));
    uint32_t metric = import_metric(f->im, "samples", "values of folded stacks, whose unit is not known", HQM_DIM_NONE,
                                    HQDB_METRIC_EXACT | HQDB_METRIC_NO_COUNTS, 0, scale);

    floats_give(&f->values, 0, f->im, metric, scale);
    return NULL;
}

struct hq_error *folded_read(struct import *im, const char *path)
{
    struct folded f = {.im = im};

    floats_init(&f.values);
    struct hq_error *error = take(&f, path, import_profile(im, 0, 0, 0, NULL));

    if (!error)
        error = give(&f, path);
    map_deinit(&f.places);
    vec_deinit(&f.path);
    floats_deinit(&f.values);
    return error;
}
