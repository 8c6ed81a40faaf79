/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/log.h"
#include "common/progress.h"
#include "common/str.h"
#include <stdarg.h>
#include <stdio.h>

static void to_stderr(enum log_kind kind, const char *text, void *arg)
{
    AUTO_STR struct str line = {0};

    (void)arg;
    str_addf(&line, "hq: %s%s", log_prefix(kind), text);
    progress_hide();
    fflush(stdout); /* keeps the order of a result and its hints if both go to one place */
    utf8_put_line(str_cstr(&line), stderr);
}

static enum log_level current_level = LEVEL_NORMAL;
static log_hook *current_hook = to_stderr;
static void *current_arg;

void log_set_level(enum log_level level)
{
    current_level = level;
}

enum log_level log_get_level(void)
{
    return current_level;
}

void log_set_hook(log_hook *hook, void *arg)
{
    current_hook = hook ? hook : to_stderr;
    current_arg = hook ? arg : NULL;
}

const char *log_prefix(enum log_kind kind)
{
    return kind == LOG_KIND_WARNING ? "warning: " : kind == LOG_KIND_HINT ? "hint: " : "";
}

static void say(enum log_kind kind, enum log_level least, const char *fmt, va_list ap)
{
    AUTO_STR struct str text = {0};

    if (current_level < least)
        return;
    str_vaddf(&text, fmt, ap);
    for (size_t i = 0; i < text.len; i++)
        if (text.s[i] == '\n') /* of a name, which would begin a line of its own */
            text.s[i] = '?';
    current_hook(kind, str_cstr(&text), current_arg);
}

#define SAY(kind, least) \
    do { \
        va_list ap; \
        va_start(ap, fmt); \
        say(kind, least, fmt, ap); \
        va_end(ap); \
    } while (0)

void log_warn(const char *fmt, ...)
{
    SAY(LOG_KIND_WARNING, LEVEL_QUIET);
}

void log_note(const char *fmt, ...)
{
    SAY(LOG_KIND_NOTE, LEVEL_NORMAL);
}

void log_hint(const char *fmt, ...)
{
    SAY(LOG_KIND_HINT, LEVEL_NORMAL);
}

void log_verbose(const char *fmt, ...)
{
    SAY(LOG_KIND_VERBOSE, LEVEL_VERBOSE);
}
