/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON by yajl; json_none.c stands in where there is none. */
#include "db/import/json.h"

#include "common/mem.h"
#include "db/import/input.h"
#include <math.h>
#include <string.h>
#include <yajl/yajl_parse.h>

enum { CHUNK = 64 << 10 };

struct walk {
    const struct json_handler *handler;
    void *arg;
    struct json_path path;
    struct str text;
    struct hq_error *error;
    bool top_is_array, complete;
};

/* Behind a value: the next element of an array has the next number. */
static void advance(struct walk *w)
{
    if (w->path.depth && w->path.steps[w->path.depth - 1].in_array)
        w->path.steps[w->path.depth - 1].index++;
    if (!w->path.depth)
        w->complete = true;
}

static int give(struct walk *w, const struct json_value *value)
{
    w->error = w->handler->value(w->arg, &w->path, value);
    advance(w);
    return !w->error;
}

static int on_null(void *arg)
{
    return give(arg, &(struct json_value){.kind = JSON_NULL, .text = ""});
}

static int on_bool(void *arg, int value)
{
    return give(arg, &(struct json_value){.kind = JSON_BOOL, .number = value, .text = ""});
}

static const char *terminated(struct walk *w, const char *text, size_t len)
{
    str_clear(&w->text);
    str_addn(&w->text, text, len);
    return str_cstr(&w->text);
}

static int on_number(void *arg, const char *text, size_t len)
{
    struct walk *w = arg;
    struct json_value v = {.kind = JSON_NUMBER, .text = terminated(w, text, len), .len = len};

    v.number = strtod(v.text, NULL);
    if (!isfinite(v.number)) {
        w->error = hq_error_new(HQ_DATA, "the number is too large");
        return 0;
    }
    return give(w, &v);
}

static int on_string(void *arg, const unsigned char *text, size_t len)
{
    struct walk *w = arg;

    return give(w,
                &(struct json_value){.kind = JSON_STRING, .text = terminated(w, (const char *)text, len), .len = len});
}

static int open_container(struct walk *w, bool in_array)
{
    if (w->path.depth == JSON_DEPTH_MAX) {
        w->error = hq_error_new(HQ_DATA, "the data is nested deeper than %d levels", JSON_DEPTH_MAX);
        return 0;
    }
    if (!w->path.depth)
        w->top_is_array = in_array;
    struct json_step *s = &w->path.steps[w->path.depth++];

    s->in_array = in_array;
    s->index = 0;
    str_clear(&s->key);
    return 1;
}

static int close_container(struct walk *w)
{
    w->path.depth--;
    if (w->handler->end)
        w->error = w->handler->end(w->arg, &w->path);
    advance(w);
    return !w->error;
}

static int on_object(void *arg)
{
    return open_container(arg, false);
}
static int on_array(void *arg)
{
    return open_container(arg, true);
}
static int on_end(void *arg)
{
    return close_container(arg);
}

static int on_key(void *arg, const unsigned char *text, size_t len)
{
    struct walk *w = arg;
    struct str *key = &w->path.steps[w->path.depth - 1].key;

    str_clear(key);
    str_addn(key, (const char *)text, len);
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_bool,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_array,
    .yajl_end_array = on_end,
};

static void *allocate(void *arg, size_t size)
{
    (void)arg;
    return xmalloc(size);
}

static void *allocate_again(void *arg, void *p, size_t size)
{
    (void)arg;
    return xrealloc(p, size);
}

static void release(void *arg, void *p)
{
    (void)arg;
    free(p);
}

/* yajl writes where its own memory would be without asking whether it has been given any. */
static yajl_alloc_funcs memory = {allocate, allocate_again, release, NULL};

/* yajl's own words, the first line of them, without its habit of naming itself. */
static struct hq_error *syntax_error(yajl_handle yajl, const char *path, uint64_t offset)
{
    unsigned char *text = yajl_get_error(yajl, 0, NULL, 0);
    const char *words = strstr((const char *)text, "error: ") ? strstr((const char *)text, "error: ") + 7
                                                              : (const char *)text;
    struct hq_error *error = hq_error_new(HQ_DATA, "%s: byte %llu: no JSON: %.*s", path, (unsigned long long)offset,
                                          (int)strcspn(words, "\n"), words);

    yajl_free_error(yajl, text);
    return error;
}

static struct hq_error *feed(struct walk *w, yajl_handle yajl, struct input *in, bool open_array)
{
    AUTO_FREE unsigned char *chunk = xmalloc(CHUNK);
    uint64_t before = 0;
    size_t got;

    while ((got = input_read(in, chunk, CHUNK)) > 0) {
        yajl_status status = yajl_parse(yajl, chunk, got);
        uint64_t offset = before + yajl_get_bytes_consumed(yajl);

        if (status == yajl_status_client_canceled)
            return hq_error_prefix(w->error, "%s: byte %llu", in->path, (unsigned long long)offset);
        if (status != yajl_status_ok)
            return syntax_error(yajl, in->path, offset);
        before += got;
    }
    HQ_TRY(input_error(in));
    /* A number at the very end is complete only now. */
    if (yajl_complete_parse(yajl) == yajl_status_ok || w->complete || (open_array && w->top_is_array))
        return NULL;
    return hq_error_new(HQ_DATA, "%s: byte %llu: the data is cut off", in->path, (unsigned long long)before);
}

struct hq_error *json_walk(const char *path, bool open_array, const struct json_handler *handler, void *arg)
{
    AUTO_INPUT struct input in = {0};
    struct walk *w = xcalloc(1, sizeof *w);

    w->handler = handler;
    w->arg = arg;
    yajl_handle yajl = yajl_alloc(&callbacks, &memory, w);
    struct hq_error *error = yajl ? input_open(&in, path) : &hq_error_no_memory;

    if (!error)
        error = feed(w, yajl, &in, open_array);
    if (yajl)
        yajl_free(yajl);
    for (size_t i = 0; i < JSON_DEPTH_MAX; i++)
        str_deinit(&w->path.steps[i].key);
    str_deinit(&w->text);
    free(w);
    return error;
}
