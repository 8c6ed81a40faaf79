/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/facts.h"
#include "common/mem.h"
#include "common/opt.h"
#include "common/str.h"
#include "query/output/paint.h"
#include "query/output/text.h"
#include <string.h>

struct facts {
    const struct table *t;
    const struct output_options *o;
    FILE *out;
    int name_width;
};

static void put_spaces(int n, FILE *out)
{
    if (n > 0)
        fprintf(out, "%*s", n, "");
}

static int wider(int width, const char *text)
{
    int w = text ? (int)utf8_width(text) : 0;

    return w > width ? w : width;
}

static void put_fact_cell(const struct facts *s, const char *text, int width, bool last)
{
    text_put(text ? text : "", s->o->utf8, s->out);
    if (!last)
        put_spaces(width - (int)utf8_width(text ? text : "") + 2, s->out);
}

/* Facts with several columns: names first, each column under its heading. */
static void put_fact_table(const struct facts *s)
{
    size_t n = s->t->columns.len;
    AUTO_FREE int *widths = xcalloc(n + 1, sizeof *widths);
    int name_width = wider(s->name_width, "name");

    for (size_t c = 0; c < n; c++) {
        widths[c] = wider(0, s->t->columns.data[c].name);
        for (size_t i = 0; i < s->t->rows.len; i++)
            widths[c] = wider(widths[c], s->t->rows.data[i].cells[c].text);
    }
    paint_on(PAINT_HEADING, s->o, s->out);
    put_fact_cell(s, "name", name_width, false);
    for (size_t c = 0; c < n; c++)
        put_fact_cell(s, s->t->columns.data[c].name, widths[c], c + 1 == n);
    paint_off(PAINT_HEADING, s->o, s->out);
    for (size_t i = 0; i < s->t->rows.len; i++) {
        fputc('\n', s->out);
        put_fact_cell(s, s->t->rows.data[i].name, name_width, false);
        for (size_t c = 0; c < n; c++)
            put_fact_cell(s, s->t->rows.data[i].cells[c].text, widths[c], c + 1 == n);
    }
    fputc('\n', s->out);
}

enum {
    COMMAND_SHOWN = 300,
    WRAPPED_LEAST = 24,
};

/* A command is written as a shell needs it, so what would break the line is, too: in 'this' as $'that', where \n stands
 * for the end of a line. */
static char *in_one_line(const char *text)
{
    struct str out = {0};

    for (const char *s = text; *s;) {
        const char *close = *s == '\'' ? strchr(s + 1, '\'') : NULL, *control = s + strcspn(s, "\n\t\r\33");

        if (*s == '\\' && s[1]) {
            str_addn(&out, s, 2);
            s += 2;
            continue;
        }
        if (!close || control > close) {
            const char *end = close ? close + 1 : s + 1;

            str_addn(&out, s, (size_t)(end - s));
            s = end;
            continue;
        }
        str_add(&out, "$'");
        for (s++; s < close; s++) {
            static const char controls[] = "\n\t\r\33", letters[] = "ntre";
            const char *at = strchr(controls, *s);

            if (at)
                str_addf(&out, "\\%c", letters[at - controls]);
            else if (*s == '\\')
                str_add(&out, "\\\\");
            else
                str_addc(&out, *s);
        }
        str_addc(&out, '\'');
        s = close + 1;
    }
    return str_steal(&out);
}

/* A command may have thousands of arguments: people see its beginning, cut between two words if there is a place, and
 * how many there are; a recording keeps the first 2,000 bytes of them. */
static void put_command(const struct facts *s, const char *text)
{
    AUTO_FREE char *line = in_one_line(text);
    size_t words = 1, len = COMMAND_SHOWN, all = strlen(line);
    bool cut = all > 4 && !strcmp(line + all - 4, " ...");

    if (all <= COMMAND_SHOWN) {
        text_put(line, s->o->utf8, s->out);
        return;
    }
    for (const char *c = line; *c; c++)
        words += *c == ' ' && c[1] != ' ' && c[1];
    while (len > COMMAND_SHOWN / 2 && line[len] != ' ')
        len--;
    AUTO_FREE char *start = xstrndup(line, len);

    text_put(start, s->o->utf8, s->out);
    words -= cut;
    fprintf(s->out, " ... (%s%zu word%s)", cut ? "at least " : "", words, words == 1 ? "" : "s");
}

/* Texts that one pastes stay in one piece: a terminal breaks them without an end of line. */
static bool is_pasted(const char *name)
{
    return !strcmp(name, "ask next") || !strcmp(name, "directory") || !strcmp(name, "executables");
}

/* A text that begins in a column goes on below its beginning, where the line is too short for it. */
static void put_wrapped(const struct facts *s, const char *text, size_t column)
{
    AUTO_STR struct str lines = {0};
    size_t width = s->o->width;

    if (!width || column + utf8_width(text) <= width || column + WRAPPED_LEAST > width) {
        text_put(text, s->o->utf8, s->out);
        return;
    }
    opt_wrap(&lines, text, column, column, width);
    for (char *line = lines.s, *end;; line = end + 1) {
        end = strchr(line, '\n');
        if (end)
            *end = '\0';
        text_put(line, s->o->utf8, s->out);
        if (!end)
            break;
        fputc('\n', s->out);
    }
}

/* Facts with one column: the name, then what is said of it. */
static void put_facts(const struct facts *s)
{
    for (size_t i = 0; i < s->t->rows.len; i++) {
        const struct row *r = &s->t->rows.data[i];
        const char *text = s->t->columns.len ? r->cells[0].text : NULL;
        put_spaces(2 * r->depth, s->out);
        text_put(r->name, s->o->utf8, s->out);
        if (text && text[0]) {
            int pad = s->name_width - 2 * r->depth - (int)utf8_width(r->name);
            put_spaces(2 + (pad > 0 ? pad : 0), s->out);
            if (!strcmp(r->name, "command"))
                put_command(s, text);
            else if (is_pasted(r->name))
                text_put(text, s->o->utf8, s->out);
            else
                put_wrapped(s, text, (size_t)(s->name_width + 2));
        }
        fputc('\n', s->out);
    }
}

void facts_put(const struct table *t, const struct output_options *o, FILE *out)
{
    struct facts f = {.t = t, .o = o, .out = out};

    for (size_t i = 0; i < t->rows.len; i++)
        f.name_width = wider(f.name_width, t->rows.data[i].name);
    size_t texts = 0;

    /* Numbers beside one text are in it for people already: they are for programs. */
    vec_foreach(c, &t->columns)
        texts += c->type == COLUMN_TEXT;
    if (texts > 1)
        put_fact_table(&f);
    else
        put_facts(&f);
}
