/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `as pprof`: a compressed profile.proto (github.com/google/pprof), one sample per row with a cost of its own. Every
 * inclusive column is a sample type, in whole nanoseconds, bytes or counts. Inlined procedures are lines of the
 * location of their host.
 */
#include "common/intern.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/str.h"
#include "query/output/formats.h"
#include "query/output/stacks.h"
#include "query/output/weights.h"
#include <math.h>
#include <string.h>
#include <zlib.h>

enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_DEFAULT_TYPE = 14
};

struct value_column {
    size_t column;
    double unit;
    double *own;
};
struct function_key {
    uint32_t name, file, start_line;
};

struct pprof_writer {
    const struct table *t;
    struct str out;
    struct intern strings;   /* number 0 is "", as the format wants it */
    struct intern locations; /* their messages, without the id */
    struct keymap functions; /* struct function_key */
    struct intern modules;   /* their numbers are the ids of mappings */
    VEC(struct value_column) columns;
    bool overflow; /* a value does not fit */
};

/* ---- fields ---- */

static void put_number(struct str *out, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        str_addc(out, (char)(x | 0x80));
    str_addc(out, (char)x);
}

static void put_field(struct str *out, unsigned field, uint64_t x)
{
    put_number(out, field << 3);
    put_number(out, x);
}

static void put_bytes(struct str *out, unsigned field, const char *data, size_t n)
{
    put_number(out, field << 3 | 2);
    put_number(out, n);
    str_addn(out, data, n);
}

static void put_message(struct str *out, unsigned field, const struct str *message)
{
    put_bytes(out, field, str_cstr(message), message->len);
}

/* ---- tables ---- */

static void put_types(struct pprof_writer *w)
{
    vec_foreach(v, &w->columns) {
        AUTO_STR struct str type = {0};
        const char *unit;

        v->unit = stacks_unit(&w->t->columns.data[v->column], &unit);
        put_field(&type, 1, intern_add(&w->strings, w->t->columns.data[v->column].name));
        put_field(&type, 2, intern_add(&w->strings, unit));
        put_message(&w->out, PROFILE_SAMPLE_TYPE, &type);
    }
    /* Without it readers begin with the last one. */
    if (w->columns.len)
        put_field(&w->out, PROFILE_DEFAULT_TYPE,
                  intern_add(&w->strings, w->t->columns.data[w->columns.data[0].column].name));
}

static uint64_t function_id(struct pprof_writer *w, const struct stack_frame *f)
{
    struct function_key key = {intern_add(&w->strings, f->name), intern_add(&w->strings, f->file), f->start_line};

    return (uint64_t)keymap_add(&w->functions, &key, NULL) + 1;
}

static uint64_t mapping_id(struct pprof_writer *w, const char *module)
{
    return intern_add(&w->modules, module);
}

/* The location of frames [first, last], the first being the procedure and the others inlined in it. */
static uint64_t location_id(struct pprof_writer *w, const struct stack_frame *first, const struct stack_frame *last)
{
    AUTO_STR struct str message = {0};
    uint64_t mapping = mapping_id(w, first->module);

    if (mapping)
        put_field(&message, 2, mapping);
    for (const struct stack_frame *f = last; f >= first; f--) {
        AUTO_STR struct str line = {0};

        put_field(&line, 1, function_id(w, f));
        if (f->line)
            put_field(&line, 2, f->line);
        put_message(&message, 4, &line);
    }
    return intern_addn(&w->locations, message.s, message.len);
}

static void put_sample(void *arg, size_t row, const struct stack_frame *stack, size_t depth)
{
    struct pprof_writer *w = arg;
    AUTO_STR struct str sample = {0};
    AUTO_STR struct str ids = {0};
    AUTO_STR struct str values = {0};
    bool any = false;

    vec_foreach(v, &w->columns) {
        double own = v->own[row] * v->unit;
        int64_t x = fabs(own) < 0x1p63 ? llround(own) : 0;

        w->overflow |= !(fabs(own) < 0x1p63);
        put_number(&values, (uint64_t)x);
        any |= x != 0;
    }
    if (!any)
        return;
    for (size_t end = depth; end > 0;) {
        size_t start = end - 1;

        while (start > 0 && stack[start].inlined)
            start--;
        put_number(&ids, location_id(w, &stack[start], &stack[end - 1]));
        end = start;
    }
    put_message(&sample, 1, &ids);
    put_message(&sample, 2, &values);
    put_message(&w->out, PROFILE_SAMPLE, &sample);
}

static void put_tables(struct pprof_writer *w)
{
    for (uint32_t i = 1; i < intern_count(&w->modules); i++) {
        AUTO_STR struct str m = {0};

        put_field(&m, 1, i);
        put_field(&m, 5, intern_add(&w->strings, intern_str(&w->modules, i)));
        /* Functions, file names, lines and inlined frames are all there: no reader needs the binary. */
        for (unsigned flag = 7; flag <= 10; flag++)
            put_field(&m, flag, 1);
        put_message(&w->out, PROFILE_MAPPING, &m);
    }
    for (uint32_t i = 1; i < intern_count(&w->locations); i++) {
        AUTO_STR struct str m = {0};

        put_field(&m, 1, i);
        str_addn(&m, intern_str(&w->locations, i), intern_strlen(&w->locations, i));
        put_message(&w->out, PROFILE_LOCATION, &m);
    }
    for (uint32_t i = 0; i < w->functions.len; i++) {
        AUTO_STR struct str m = {0};
        const struct function_key *key = keymap_key(&w->functions, i);

        put_field(&m, 1, (uint64_t)i + 1);
        put_field(&m, 2, key->name);
        put_field(&m, 4, key->file);
        if (key->start_line)
            put_field(&m, 5, key->start_line);
        put_message(&w->out, PROFILE_FUNCTION, &m);
    }
    for (uint32_t i = 0; i < intern_count(&w->strings); i++)
        put_bytes(&w->out, PROFILE_STRING, intern_str(&w->strings, i), intern_strlen(&w->strings, i));
}

static struct hq_error *put_compressed(const struct str *data, FILE *out)
{
    z_stream z = {.next_in = (Bytef *)data->s, .avail_in = (uInt)data->len};
    size_t room = compressBound(data->len) + 64;
    AUTO_FREE Bytef *packed = xmalloc(room);

    if (data->len > UINT32_MAX / 2)
        return hq_error_new(HQ_USAGE, "the result is too large for as pprof; ask for less, with `depth` or `through`");
    /* 16: with the header of gzip */
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return &hq_error_no_memory;
    z.next_out = packed;
    z.avail_out = (uInt)room;
    deflate(&z, Z_FINISH);
    fwrite(packed, 1, z.total_out, out);
    deflateEnd(&z);
    return NULL;
}

/* The first mapping is what readers take for the program. */
static void add_main(struct pprof_writer *w)
{
    for (size_t i = 0; i < w->t->rows.len; i++) {
        const struct row *r = &w->t->rows.data[i];

        if (r->kind == SCOPE_PROCEDURE && r->module && !strcmp(r->name, "main")) {
            intern_add(&w->modules, r->module);
            return;
        }
    }
}

struct hq_error *pprof_write(const struct table *t, const struct output_options *o, FILE *out)
{
    struct pprof_writer w = {.t = t};

    HQ_TRY(stacks_check(t, "pprof"));
    if (o->width)
        return hq_error_new(HQ_USAGE, "as pprof writes binary data; send it to a file: as pprof to \"profile.pb.gz\"");
    keymap_init(&w.functions, sizeof(struct function_key));
    for (size_t c = 0; c < t->columns.len; c++)
        if (stacks_has(&t->columns.data[c]))
            vec_push(&w.columns, (struct value_column){.column = c, .own = weights_column(t, c)});
    put_types(&w);
    add_main(&w);
    stacks_each(t, put_sample, &w);
    put_tables(&w);
    struct hq_error *error = w.overflow ? hq_error_new(HQ_DATA, "the values are larger than pprof's format holds")
                                        : put_compressed(&w.out, out);

    vec_foreach(v, &w.columns)
        free(v->own);
    vec_deinit(&w.columns);
    str_deinit(&w.out);
    intern_deinit(&w.strings);
    intern_deinit(&w.locations);
    keymap_deinit(&w.functions);
    intern_deinit(&w.modules);
    return error;
}
