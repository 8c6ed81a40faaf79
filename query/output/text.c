/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/text.h"
#include "common/brackets.h"
#include "common/file.h"
#include "common/fit.h"
#include "common/shorten.h"
#include "common/str.h"
#include <string.h>

size_t text_next(const char *s, uint32_t *c)
{
    return utf8_next(s, 4, c); /* the NUL ends it */
}

/* A terminal without UTF-8 gets as many question marks as the character has columns. */
static void put_char(const char *s, size_t len, uint32_t c, size_t width, bool utf8, FILE *out)
{
    if (utf8_controls(c) || (c >= 0x80 && !utf8))
        fprintf(out, "%.*s", (int)width, "??");
    else if (c == TEXT_BAD)
        fputs("\xef\xbf\xbd", out);
    else
        fwrite(s, 1, len, out);
}

/* How many characters follow that are one byte, one column, and harmless. */
static size_t plain_run(const char *s)
{
    size_t n = 0;

    while (s[n] >= ' ' && s[n] <= '~')
        n++;
    return n;
}

/* Writes the characters of s that lie in the columns from .. to. */
static void put_columns(const char *s, size_t from, size_t to, bool utf8, FILE *out)
{
    size_t at = 0, width;
    uint32_t c;

    for (size_t len; *s; s += len, at += width) {
        len = width = plain_run(s);
        if (len) {
            size_t first = from > at ? from - at : 0, end = to - at < len ? to - at : len;

            if (at < to && first < end)
                fwrite(s + first, 1, end - first, out);
            continue;
        }
        len = text_next(s, &c);
        width = utf8_width_n(s, len);
        if (at >= from && at + width <= to)
            put_char(s, len, c, width, utf8, out);
    }
}

void text_put(const char *s, bool utf8, FILE *out)
{
    put_columns(s, 0, SIZE_MAX, utf8, out);
}

const char *text_dots(bool utf8)
{
    return utf8 ? "\xe2\x80\xa6" : "...";
}

void text_put_cut(const char *s, size_t width, bool utf8, FILE *out)
{
    const char *dots = text_dots(utf8);
    size_t gap = utf8_width(dots);

    if (utf8_width(s) <= width) {
        text_put(s, utf8, out);
        return;
    }
    put_columns(s, 0, width > gap ? width - gap : 0, utf8, out);
    fputs(dots, out);
}

/* Where the name at the start of a path ends: at a ` > ` that closes no template. */
static size_t first_name(const char *path)
{
    const char *s = path;

    for (; *s && !str_begins(s, " > "); s++) {
        const char *close = name_bracket_end(path, s);

        s = close ? close : s;
    }
    return (size_t)(s - path);
}

enum { NAME_IN_PATH = 30 };

void text_put_path(const char *s, size_t width, bool utf8, FILE *out)
{
    const char *dots = text_dots(utf8);
    size_t gap = utf8_width(dots), whole = utf8_width(s);
    struct str path AUTO_STR = {0};

    while (whole > width && *s) {
        size_t len = first_name(s);
        AUTO_FREE char *name = xstrndup(s, len);

        name_shorten(&path, name, NAME_IN_PATH, dots);
        s += len;
        if (*s) {
            str_add(&path, " > ");
            s += 3;
        }
    }
    s = path.len ? str_cstr(&path) : s;
    whole = utf8_width(s);
    if (whole <= width) {
        text_put(s, utf8, out);
        return;
    }
    fputs(dots, out);
    put_columns(s, whole - (width > gap ? width - gap : 0), SIZE_MAX, utf8, out);
}

size_t text_put_short(const char *s, size_t width, bool utf8, FILE *out)
{
    AUTO_STR struct str text = {0};

    text_fit(&text, s, width, text_dots(utf8));
    text_put(str_cstr(&text), utf8, out);
    return utf8_width(str_cstr(&text));
}

void text_put_with(const char *s, text_instead instead, FILE *out)
{
    uint32_t c;

    for (size_t len; *s; s += len) {
        len = text_next(s, &c);
        if (c < 128 && instead[c])
            fputs(instead[c], out);
        else if (c == TEXT_BAD)
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(s, 1, len, out);
    }
}

const struct row **outer_rows(const struct table *t)
{
    const struct row **outer = xcalloc(t->rows.len + 1, sizeof *outer);
    VEC(const struct row *) path = {0};

    for (size_t i = 0; t->tree && i < t->rows.len; i++) {
        const struct row *r = &t->rows.data[i];
        while (path.len && vec_last(&path)->depth >= r->depth)
            path.len--;
        outer[i] = path.len ? vec_last(&path) : NULL;
        vec_push(&path, r);
    }
    vec_deinit(&path);
    return outer;
}

static void place_text(char *text, size_t size, const char *file, uint32_t line)
{
    if (line)
        snprintf(text, size, "%.255s:%u", file_basename(file), line);
    else
        snprintf(text, size, "%.255s", file_basename(file));
}

const char *row_name(const struct row *r, char own[ROW_NAME_MAX])
{
    if (r->shown)
        return r->shown;
    bool unnamed = !r->name[0] || !strcmp(r->name, scope_kind_name(r->kind));

    if (!unnamed || !r->file || (r->kind != SCOPE_LOOP && r->kind != SCOPE_LINE))
        return r->name[0] ? r->name : scope_kind_name(r->kind);
    size_t at = r->kind == SCOPE_LOOP ? 8 : 0;
    memcpy(own, "loop at ", 8);
    place_text(own + at, ROW_NAME_MAX - at, r->file, r->line);
    return own;
}

/* libc.so.6+0x2e1, [generated code] */
static bool named_by_module(const struct row *r)
{
    size_t len = r->module ? strlen(r->module) : 0;

    return len && !strncmp(r->name, r->module, len) && (!r->name[len] || str_begins(r->name + len, "+0x"));
}

static void place_label(const struct table *t, const struct row *r, const struct row *outer, struct label *l)
{
    char place[300];
    size_t len;
    bool told = named_by_module(r) ||
                (r->module && outer &&
                 ((outer->module && !strcmp(outer->module, r->module)) || !strcmp(outer->name, r->module)));

    if (r->call_file) {
        place_text(place, sizeof place, r->call_file, r->call_line);
        snprintf(l->place, sizeof l->place, "[%s]", place);
    } else if (scope_is_called(r->kind) || r->kind == SCOPE_INLINE) {
        if (r->file && !t->tree)
            place_text(l->place, sizeof l->place, r->file, r->line);
        else if (!r->file && r->module && !told && !r->apart)
            snprintf(l->place, sizeof l->place, r->module[0] == '[' ? "%.255s" : "(%.255s)", file_basename(r->module));
    }
    len = strlen(l->place);
    if (r->apart)
        snprintf(l->place + len, sizeof l->place - len, len ? " (%s)" : "(%s)", r->apart);
}

static const char created_by[] = "thread created by ";

void label_of(const struct table *t, const struct row *r, const struct row *outer, struct label *l)
{
    l->prefix = l->suffix = l->mark = "";
    l->place[0] = 0;
    if (r->flags & ROW_FOLDED) {
        l->prefix = !str_begins(r->name, "...") ? "... " : "";
        l->name = r->name;
        return;
    }
    l->name = row_name(r, l->own);
    if (r->kind == SCOPE_INLINE)
        l->prefix = "[I] ";
    if (r->kind == SCOPE_THREAD && !strncmp(l->name, created_by, sizeof created_by - 1)) {
        l->prefix = created_by; /* what is shortened is the procedure's name */
        l->name += sizeof created_by - 1;
    }
    place_label(t, r, outer, l);
    if (r->flags & ROW_ANCESTOR) {
        l->prefix = r->kind == SCOPE_INLINE ? "([I] " : l->prefix == created_by ? "(thread created by " : "(";
        l->suffix = ")";
    }
    snprintf(l->times, sizeof l->times, "x %u", r->times);
    l->mark = r->times > 1               ? l->times
              : r->flags & ROW_NEW       ? "new"
              : r->flags & ROW_GONE      ? "gone"
              : r->flags & ROW_RECURSIVE ? "recursive"
                                         : "";
}

size_t label_width(const struct label *l)
{
    size_t width = strlen(l->prefix) + utf8_width(l->name) + strlen(l->suffix);
    if (l->place[0])
        width += 2 + utf8_width(l->place);
    if (l->mark[0])
        width += 3 + strlen(l->mark);
    return width;
}
