/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `as callgrind`: the rows as a graph of functions, for callgrind_annotate and KCachegrind. Every inclusive column is
 * an event, in whole nanoseconds, bytes or counts. Inlined procedures count as called. The number of calls is not known
 * and given as 1.
 */
#include "common/intern.h"
#include "common/log.h"
#include "common/map.h"
#include "common/mem.h"
#include "query/output/formats.h"
#include "query/output/stacks.h"
#include "query/output/weights.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { EVENTS_MAX = 16 };

struct cost_key {
    uint32_t function, line, callee;
}; /* callee: + 1, 0 for own cost */
struct function_key {
    uint32_t name, file, module;
};

struct callgrind_writer {
    const struct table *t;
    size_t events;
    size_t column[EVENTS_MAX];
    double unit[EVENTS_MAX];
    double *own[EVENTS_MAX];
    struct intern texts;
    struct keymap functions, costs;
    VEC(int64_t) numbers; /* [costs][events] */
    double total[EVENTS_MAX];
    bool overflow; /* a sum does not fit */
};

static uint32_t function_id(struct callgrind_writer *w, const struct stack_frame *f)
{
    struct function_key key = {intern_add(&w->texts, f->name), intern_add(&w->texts, f->file),
                               intern_add(&w->texts, f->module)};

    return keymap_add(&w->functions, &key, NULL);
}

static int64_t *numbers_of(struct callgrind_writer *w, uint32_t function, uint32_t line, uint32_t callee)
{
    struct cost_key key = {function, line, callee};
    bool is_new;
    uint32_t i = keymap_add(&w->costs, &key, &is_new);

    for (size_t e = 0; is_new && e < w->events; e++)
        vec_push(&w->numbers, 0);
    return &w->numbers.data[i * w->events];
}

static bool is_same_call(struct callgrind_writer *w, const struct stack_frame *stack, size_t at, uint32_t caller,
                         uint32_t callee)
{
    return function_id(w, &stack[at]) == caller && function_id(w, &stack[at + 1]) == callee;
}

static void add_numbers(struct callgrind_writer *w, int64_t *numbers, const int64_t *x)
{
    for (size_t e = 0; e < w->events; e++)
        w->overflow |= __builtin_add_overflow(numbers[e], x[e], &numbers[e]);
}

/* The own cost of a row is own cost of its function, and inclusive cost of all calls on the way; of one that recurs
 * only once. */
static void add_row(void *arg, size_t row, const struct stack_frame *stack, size_t depth)
{
    struct callgrind_writer *w = arg;
    int64_t x[EVENTS_MAX];
    bool any = false;

    for (size_t e = 0; e < w->events; e++) {
        double own = w->own[e][row] * w->unit[e];

        w->overflow |= !(fabs(own) < 0x1p63);
        x[e] = w->overflow ? 0 : llround(own);
        any |= x[e] != 0;
        w->total[e] += (double)x[e];
    }
    if (!any || !depth)
        return;
    int64_t *numbers = numbers_of(w, function_id(w, &stack[depth - 1]), stack[depth - 1].line, 0);

    add_numbers(w, numbers, x);
    for (size_t i = 0; i + 1 < depth; i++) {
        uint32_t caller = function_id(w, &stack[i]), callee = function_id(w, &stack[i + 1]);
        bool recurs = false;

        for (size_t k = 0; k < i && !recurs; k++)
            recurs = is_same_call(w, stack, k, caller, callee);
        if (recurs)
            continue;
        numbers = numbers_of(w, caller, stack[i].line, callee + 1);
        add_numbers(w, numbers, x);
    }
}

/* Names end at the line. */
static void put_name(const struct callgrind_writer *w, const char *key, uint32_t text, FILE *out)
{
    const char *s = intern_str(&w->texts, text);

    fprintf(out, "%s=", key);
    if (!*s)
        fputs("???", out);
    for (; *s; s++)
        fputc((unsigned char)*s < 0x20 ? ' ' : *s, out);
    fputc('\n', out);
}

static void put_numbers(const struct callgrind_writer *w, uint32_t line, const int64_t *numbers, FILE *out)
{
    fprintf(out, "%u", line);
    for (size_t e = 0; e < w->events; e++)
        fprintf(out, " %" PRId64, numbers[e]);
    fputc('\n', out);
}

static void put_cost(const struct callgrind_writer *w, uint32_t i, FILE *out)
{
    struct cost_key key;

    memcpy(&key, keymap_key(&w->costs, i), sizeof key);
    if (key.callee) {
        struct function_key callee;

        memcpy(&callee, keymap_key(&w->functions, key.callee - 1), sizeof callee);
        put_name(w, "cob", callee.module, out);
        put_name(w, "cfi", callee.file, out);
        put_name(w, "cfn", callee.name, out);
        fprintf(out, "calls=1 0\n");
    }
    put_numbers(w, key.line, &w->numbers.data[i * w->events], out);
}

/* The costs of a function stand together. */
static void put_functions(const struct callgrind_writer *w, FILE *out)
{
    VEC(uint32_t) *by_function = xcalloc((size_t)w->functions.len + 1, sizeof *by_function);

    for (uint32_t i = 0; i < w->costs.len; i++) {
        struct cost_key key;

        memcpy(&key, keymap_key(&w->costs, i), sizeof key);
        vec_push(&by_function[key.function], i);
    }
    for (uint32_t f = 0; f < w->functions.len; f++) {
        struct function_key key;

        memcpy(&key, keymap_key(&w->functions, f), sizeof key);
        fputc('\n', out);
        put_name(w, "ob", key.module, out);
        put_name(w, "fl", key.file, out);
        put_name(w, "fn", key.name, out);
        vec_foreach(i, &by_function[f])
            put_cost(w, *i, out);
        vec_deinit(&by_function[f]);
    }
    free(by_function);
}

/* Event names are single words. */
static void put_event(const struct column *c, FILE *out)
{
    for (const char *s = c->name; *s; s++)
        fputc(isalnum((unsigned char)*s) && (unsigned char)*s < 0x80 ? *s : '_', out);
}

static void put_header(const struct callgrind_writer *w, FILE *out)
{
    fputs("# callgrind format\nversion: 1\ncreator: hq\npositions: line\n", out);
    for (size_t e = 0; e < w->events; e++) {
        const struct column *c = &w->t->columns.data[w->column[e]];
        const char *unit;

        stacks_unit(c, &unit);
        fputs("event: ", out);
        put_event(c, out);
        fprintf(out, " : %s (%s)\n", c->name, unit);
    }
    fputs("events:", out);
    for (size_t e = 0; e < w->events; e++) {
        fputc(' ', out);
        put_event(&w->t->columns.data[w->column[e]], out);
    }
    fputs("\nsummary:", out);
    for (size_t e = 0; e < w->events; e++)
        fprintf(out, " %.0f", w->total[e]);
    fputc('\n', out);
}

/* The format's numbers have no sign. */
static void take_column(struct callgrind_writer *w, size_t column)
{
    const struct column *c = &w->t->columns.data[column];
    double *own = weights_column(w->t, column);
    const char *unit;

    if (weights_negative(w->t, own)) {
        log_note("%s is left out: callgrind's format has no negative numbers", c->name);
        free(own);
        return;
    }
    w->column[w->events] = column;
    w->unit[w->events] = stacks_unit(c, &unit);
    w->own[w->events++] = own;
}

struct hq_error *callgrind_write(const struct table *t, const struct output_options *o, FILE *out)
{
    struct callgrind_writer w = {.t = t};

    (void)o;
    HQ_TRY(stacks_check(t, "callgrind"));
    keymap_init(&w.functions, sizeof(struct function_key));
    keymap_init(&w.costs, sizeof(struct cost_key));
    for (size_t c = 0; c < t->columns.len && w.events < EVENTS_MAX; c++)
        if (stacks_has(&t->columns.data[c]))
            take_column(&w, c);
    stacks_each(t, add_row, &w);
    if (!w.overflow) {
        put_header(&w, out);
        put_functions(&w, out);
    }
    for (size_t e = 0; e < w.events; e++)
        free(w.own[e]);
    intern_deinit(&w.texts);
    keymap_deinit(&w.functions);
    keymap_deinit(&w.costs);
    vec_deinit(&w.numbers);
    return w.overflow ? hq_error_new(HQ_DATA, "the values are larger than callgrind's format holds") : NULL;
}
