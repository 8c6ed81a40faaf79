/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON as a stream of scalars, each with the path that leads to it: memory does not depend on the size of the file.
 *
 *     {"profiles": [{"name": "x"}]}    gives    "x" at profiles, 0, name
 *
 * A key is a text, an index the number of an element. The end of an object or array is told too.
 */
#ifndef HQ_DB_IMPORT_JSON_H
#define HQ_DB_IMPORT_JSON_H

#include "common/err.h"
#include "common/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { JSON_DEPTH_MAX = 64 };

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING };

struct json_value {
    enum json_kind kind;
    double number;    /* JSON_NUMBER, JSON_BOOL */
    const char *text; /* JSON_STRING, JSON_NUMBER as it is written; NUL-terminated */
    size_t len;
};

struct json_step {
    struct str key;
    uint64_t index;
    bool in_array;
};

struct json_path {
    struct json_step steps[JSON_DEPTH_MAX];
    size_t depth; /* steps in use */
};

struct json_handler {
    /* A scalar at path; an error ends the reading and gets the place in front. */
    struct hq_error *(*value)(void *arg, const struct json_path *path, const struct json_value *value);
    /* The object or array at path is complete; NULL: not of interest. */
    struct hq_error *(*end)(void *arg, const struct json_path *path);
};

/* Is step i this key? */
static inline bool json_key(const struct json_path *path, size_t i, const char *key)
{
    return i < path->depth && !path->steps[i].in_array && !strcmp(str_cstr(&path->steps[i].key), key);
}

/*
 * Reads a file, plain or compressed. HQ_DATA "PATH: byte N: ..." for what is no JSON, is cut off, or is nested deeper
 * than JSON_DEPTH_MAX; HQ_USAGE in an hq that was built without a reader of JSON (json_none.c). open_array: a file that
 * is an array may lack its end, as those of tracers that were killed do.
 */
struct hq_error *json_walk(const char *path, bool open_array, const struct json_handler *handler, void *arg);

#endif
