/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/err.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char no_memory_text[] = "there is not enough memory; free some or work on less data";

struct hq_error hq_error_no_memory = {HQ_DATA, no_memory_text};

static struct hq_error *wrap(int status, char *message)
{
    struct hq_error *err = malloc(sizeof *err);

    if (!err) {
        free(message);
        return &hq_error_no_memory;
    }
    err->status = status;
    err->message = message;
    return err;
}

struct hq_error *hq_error_new(int status, const char *fmt, ...)
{
    va_list ap;
    char *message;

    va_start(ap, fmt);
    int n = vasprintf(&message, fmt, ap);
    va_end(ap);
    return n < 0 ? &hq_error_no_memory : wrap(status, message);
}

struct hq_error *hq_error_errno(int status, const char *fmt, ...)
{
    int saved = errno;
    va_list ap;
    char *what, *message, text[256];

    va_start(ap, fmt);
    int n = vasprintf(&what, fmt, ap);
    va_end(ap);
    if (n < 0)
        return &hq_error_no_memory;
    n = asprintf(&message, "%s: %s", what, strerror_r(saved, text, sizeof text));
    free(what);
    return n < 0 ? &hq_error_no_memory : wrap(status, message);
}

struct hq_error *hq_error_prefix(struct hq_error *err, const char *fmt, ...)
{
    va_list ap;
    char *prefix, *message;

    if (!err || err == &hq_error_no_memory)
        return err;
    va_start(ap, fmt);
    int n = vasprintf(&prefix, fmt, ap);
    va_end(ap);
    if (n < 0)
        return err;
    n = asprintf(&message, "%s: %s", prefix, err->message);
    free(prefix);
    if (n < 0)
        return err;
    free(err->message);
    err->message = message;
    return err;
}

void hq_error_free(struct hq_error *err)
{
    if (!err || err == &hq_error_no_memory)
        return;
    free(err->message);
    free(err);
}
