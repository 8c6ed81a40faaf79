/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/log.h"
#include "common/progress.h"
#include "common/str.h"
#include <stdarg.h>
#include <stdio.h>

static enum log_level current_level = LEVEL_NORMAL;

void log_set_level(enum log_level level)
{
    current_level = level;
}

enum log_level log_get_level(void)
{
    return current_level;
}

static void say(const char *prefix, enum log_level least, const char *fmt, va_list ap)
{
    AUTO_STR struct str line = {0};

    if (current_level < least)
        return;
    str_addf(&line, "hq: %s", prefix);
    str_vaddf(&line, fmt, ap);
    for (size_t i = 0; i < line.len; i++)
        if (line.s[i] == '\n') /* of a name, which would begin a line of its own */
            line.s[i] = '?';
    progress_hide();
    fflush(stdout); /* keeps the order of a result and its hints if both go to one place */
    utf8_put_line(str_cstr(&line), stderr);
}

#define SAY(prefix, least) \
    do { \
        va_list ap; \
        va_start(ap, fmt); \
        say(prefix, least, fmt, ap); \
        va_end(ap); \
    } while (0)

void log_warn(const char *fmt, ...)
{
    SAY("warning: ", LEVEL_QUIET);
}

void log_note(const char *fmt, ...)
{
    SAY("", LEVEL_NORMAL);
}

void log_hint(const char *fmt, ...)
{
    SAY("hint: ", LEVEL_NORMAL);
}

void log_verbose(const char *fmt, ...)
{
    SAY("", LEVEL_VERBOSE);
}
