/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors about a place in a text: the line with a caret below it (parse.h). */
#include "common/str.h"
#include "query/grammar/parse.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    SHOWN_MAX = 110,   /* columns of a line that are shown; a longer one is cut around the caret */
    SHOWN_BEFORE = 60, /* of them at most before the caret */
    INDENT = 4,
};

struct span {
    size_t start, end;
}; /* bytes of a text */

static struct span line_around(const struct source *s, size_t offset)
{
    struct span line = {offset, offset};

    while (line.start > 0 && s->text[line.start - 1] != '\n')
        line.start--;
    while (line.end < s->length && s->text[line.end] != '\n')
        line.end++;
    if (line.end > line.start && s->text[line.end - 1] == '\r')
        line.end--;
    return line;
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Cuts what is far from the caret, at whole characters. */
static struct span window(const char *text, struct span line, size_t caret)
{
    struct span w = line;

    if (line.end - line.start <= SHOWN_MAX)
        return w;
    if (caret - line.start > SHOWN_BEFORE)
        w.start = caret - SHOWN_BEFORE;
    while (w.start < caret && continues_character(text[w.start]))
        w.start++;
    if (line.end - w.start > SHOWN_MAX)
        w.end = w.start + SHOWN_MAX;
    while (w.end > caret && w.end < line.end && continues_character(text[w.end]))
        w.end--;
    return w;
}

/* Control characters could move the cursor of a terminal. A tab stays: the caret's line repeats it. */
static void add_line(struct str *out, const char *text, struct span w, struct span line)
{
    str_repeat(out, ' ', INDENT);
    str_add(out, w.start > line.start ? "..." : "");
    for (size_t i = w.start; i < w.end; i++) {
        unsigned char c = (unsigned char)text[i];

        str_addc(out, (c < 0x20 && c != '\t') || c == 0x7f ? '?' : (char)c);
    }
    str_add(out, w.end < line.end ? "...\n" : "\n");
}

static void add_caret(struct str *out, const char *text, struct span w, struct span line, struct span place)
{
    size_t before = place.start < w.end ? place.start : w.end;
    size_t end = place.end < w.end ? place.end : w.end, width;

    str_repeat(out, ' ', INDENT + (w.start > line.start ? 3 : 0));
    for (size_t i = w.start, run; i < before; i += run) {
        run = strcspn(text + i, "\t");
        run = run > before - i ? before - i : run;
        str_repeat(out, ' ', utf8_width_n(text + i, run));
        if (run == 0)
            str_addc(out, '\t'), run = 1;
    }
    width = end > before ? utf8_width_n(text + before, end - before) : 0;
    str_addc(out, '^');
    str_repeat(out, '~', width > 1 ? width - 1 : 0);
}

static void add_place(struct str *out, const struct place *p)
{
    const struct source *s = p->source;
    size_t start = p->offset < s->length ? p->offset : s->length;
    struct span line, w;

    line = line_around(s, start);
    w = window(s->text, line, start);
    add_line(out, s->text, w, line);
    add_caret(out, s->text, w, line, (struct span){start, start + p->length});
}

struct hq_error *place_error(const struct place *place, const char *advice, const char *fmt, ...)
{
    AUTO_STR struct str s = {0};
    va_list ap;

    if (place->source)
        str_addf(&s, "%s:%u:%u: ", place->source->name, place->line, place->column);
    va_start(ap, fmt);
    str_vaddf(&s, fmt, ap);
    va_end(ap);
    if (place->source) {
        str_addc(&s, '\n');
        add_place(&s, place);
    }
    if (advice && *advice)
        str_addf(&s, "\n%s", advice);
    return hq_error_new(HQ_USAGE, "%s", str_cstr(&s));
}
