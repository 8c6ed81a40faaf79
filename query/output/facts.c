/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/facts.h"
#include "common/mem.h"
#include "query/output/screen.h"
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

enum { COMMAND_SHOWN = 300 };

/* A command may have thousands of arguments: people see its beginning, cut between two words if there is a place, and
 * how many there are. */
static void put_command(const struct facts *s, const char *text)
{
    size_t words = 1, len = COMMAND_SHOWN;

    if (strlen(text) <= COMMAND_SHOWN) {
        text_put(text, s->o->utf8, s->out);
        return;
    }
    for (const char *c = text; *c; c++)
        words += *c == ' ' && c[1] != ' ' && c[1];
    while (len > COMMAND_SHOWN / 2 && text[len] != ' ')
        len--;
    AUTO_FREE char *start = xstrndup(text, len);

    text_put(start, s->o->utf8, s->out);
    fprintf(s->out, " ... (%zu word%s)", words, words == 1 ? "" : "s");
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
            else
                text_put(text, s->o->utf8, s->out);
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
