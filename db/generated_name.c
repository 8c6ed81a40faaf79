/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes apart the names that just-in-time compilers give their code: those of V8 and CPython hold file and line. */
#include "db/generated.h"

#include "common/file.h"
#include "common/mem.h"
#include "common/str.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Takes ":NUMBER" off the end. */
static bool take_number(const char *text, const char **end, uint32_t *number)
{
    const char *at = *end;

    while (at > text && isdigit((unsigned char)at[-1]))
        at--;
    if (at == *end || at == text || at[-1] != ':' || *end - at > 9)
        return false;
    *number = (uint32_t)strtoul(at, NULL, 10);
    *end = at - 1;
    return true;
}

/* The space before the file. Names have spaces ("get size") and paths too: a file begins with what looks like the
 * beginning of one. */
static const char *before_file(const char *text, const char *end)
{
    static const char *const beginnings[] = {" /", " node:", " file:"};
    const char *last = NULL;

    for (const char *at = text; at < end; at++) {
        if (*at != ' ')
            continue;
        last = at;
        for (size_t b = 0; b < sizeof beginnings / sizeof *beginnings; b++) {
            if (str_begins(at, beginnings[b]))
                return at;
        }
    }
    return last;
}

/* V8: KIND:[~^+*]NAME FILE:LINE:COLUMN. How well it is compiled makes no difference: a function is one row. */
static bool of_v8(const char *text, struct generated_name *out)
{
    const char *colon = strchr(text, ':'), *end = text + strlen(text), *space;
    uint32_t line, column;

    if (!colon || !colon[1] || !strchr("~^+*", colon[1]) || !take_number(text, &end, &column) ||
        !take_number(text, &end, &line))
        return false;
    text = colon + 2;
    space = before_file(text, end);
    if (!space)
        return false;
    out->file = xstrndup(space + 1, (size_t)(end - space - 1));
    out->line = line;
    /* Anonymous ones of one line differ. */
    out->name = space > text ? xstrndup(text, (size_t)(space - text))
                             : xasprintf("(anonymous %s:%u:%u)", file_basename(out->file), line, column);
    if (str_begins(out->file, "file://"))
        memmove(out->file, out->file + 7, strlen(out->file + 7) + 1);
    return true;
}

/* CPython: py::NAME:FILE */
static bool of_python(const char *text, struct generated_name *out)
{
    const char *colon;

    if (!str_begins(text, "py::"))
        return false;
    text += 4;
    colon = strchr(text, ':');
    if (!colon || colon == text || !colon[1])
        return false;
    out->name = xstrndup(text, (size_t)(colon - text));
    out->file = xstrdup(colon + 1);
    return true;
}

struct generated_name generated_name(const char *text)
{
    struct generated_name out = {0};

    if (!of_v8(text, &out) && !of_python(text, &out))
        out.name = xstrdup(text);
    return out;
}
