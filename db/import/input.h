/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that is read once from beginning to end, plain or compressed by gzip, with a progress line and the place for
 * errors. */
#ifndef HQ_DB_IMPORT_INPUT_H
#define HQ_DB_IMPORT_INPUT_H

#include "common/err.h"
#include "common/progress.h"
#include "common/str.h"
#include "db/import/gunzip.h"
#include <stdbool.h>
#include <stdint.h>

#define INPUT_LINE_MAX (16u << 20)

struct input {
    const char *path; /* not owned */
    uint64_t line;    /* number of the line that was read last, from 1 */
    uint64_t offset;  /* bytes given out so far */
    bool unended;     /* the line read last ends with the file: what writes whole lines was cut off in it */
    struct gunzip gz; /* private, as all below */
    char *buffer;
    size_t at, len, cap;
    uint64_t reported;
    struct progress progress;
    char *what;
    bool started, ended;
    struct hq_error *error;
};

/* "-" is standard input. The input is to be closed in any case. */
struct hq_error *input_open(struct input *in, const char *path);
void input_close(struct input *in);

/*
 * The next line without its line end, NUL-terminated; it may be changed and lives until the next call. False at the
 * end, and when the file cannot be read or is no text: input_error.
 */
bool input_line(struct input *in, char **line, size_t *len);
/* Up to n bytes; 0 at the end or on an error. Not to be mixed with lines. */
size_t input_read(struct input *in, void *data, size_t n);
/* Everything that is left, at most `limit` bytes. */
struct hq_error *input_whole(struct input *in, struct str *out, size_t limit);

/* The error that ended reading, NULL if it was the end of the file; to be taken once. */
struct hq_error *input_error(struct input *in);
/* HQ_DATA "PATH:LINE: ..." of the line read last. */
struct hq_error *input_bad_line(const struct input *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define AUTO_INPUT __attribute__((cleanup(input_close)))

#endif
