/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/separated.h"
#include "query/output/number.h"
#include "query/output/text.h"
#include <math.h>
#include <string.h>

static bool has_ci(const struct table *t, size_t column)
{
    for (size_t i = 0; i < t->rows.len; i++)
        if (t->columns.data[column].type == COLUMN_NUMBER && !isnan(t->rows.data[i].cells[column].ci))
            return true;
    return false;
}

static void put_field(const struct separated *s, const char *text, bool first, FILE *out)
{
    if (!first)
        fputs(s->separator, out);
    s->put(text ? text : "", out);
}

static void put_heading(const struct table *t, const struct separated *s, FILE *out)
{
    static const char *const names[] = {"id", "kind", "name", "module", "file", "line", "callsite", "depth"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_field(s, names[i], i == 0, out);
    for (size_t c = 0; c < t->columns.len; c++) {
        put_field(s, t->columns.data[c].name, false, out);
        if (has_ci(t, c)) {
            AUTO_FREE char *name = xasprintf("%s.ci", t->columns.data[c].name);
            put_field(s, name, false, out);
        }
    }
    fputs(s->newline, out);
}

static void put_number(const struct separated *s, double value, FILE *out)
{
    char text[NUMBER_MAX];
    exact_text(text, value);
    fprintf(out, "%s%s", s->separator, text); /* never quoted, nor guarded */
}

static void put_line(const struct separated *s, uint32_t line, FILE *out)
{
    char text[16] = "";
    if (line)
        snprintf(text, sizeof text, "%u", line);
    fprintf(out, "%s%s", s->separator, text);
}

static void put_call_site(const struct separated *s, const struct row *r, FILE *out)
{
    AUTO_FREE char *text = r->call_file && r->call_line ? xasprintf("%s:%u", r->call_file, r->call_line) : NULL;

    put_field(s, text ? text : r->call_file, false, out);
}

static void put_row(const struct table *t, const struct separated *s, const struct row *r, const bool *ci, FILE *out)
{
    char text[TABLE_ID_TEXT] = "", own[ROW_NAME_MAX];

    if (r->id)
        table_id_text(text, r->id);
    put_field(s, text, true, out);
    put_field(s, scope_kind_name(r->kind), false, out);
    put_field(s, row_name(r, own), false, out);
    put_field(s, r->module, false, out);
    put_field(s, r->file, false, out);
    put_line(s, r->line, out);
    put_call_site(s, r, out);
    snprintf(text, sizeof text, "%d", r->depth);
    put_field(s, text, false, out);
    for (size_t c = 0; c < t->columns.len; c++) {
        if (t->columns.data[c].type == COLUMN_TEXT && isnan(r->cells[c].number))
            put_field(s, r->cells[c].text, false, out);
        else
            put_number(s, r->cells[c].number, out);
        if (ci[c])
            put_number(s, r->cells[c].ci, out);
    }
    fputs(s->newline, out);
}

void separated_texts(const struct table *t, void (*fn)(void *arg, const char *text), void *arg)
{
    for (size_t i = 0; i < t->rows.len; i++) {
        const struct row *r = &t->rows.data[i];
        char own[ROW_NAME_MAX];
        const char *texts[] = {row_name(r, own), r->module, r->file, r->call_file};

        if (r->flags & ROW_FOLDED)
            continue;
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            if (texts[k])
                fn(arg, texts[k]);
        for (size_t c = 0; c < t->columns.len; c++)
            if (t->columns.data[c].type == COLUMN_TEXT && r->cells[c].text)
                fn(arg, r->cells[c].text);
    }
}

struct hq_error *separated_write(const struct table *t, const struct separated *s, FILE *out)
{
    AUTO_FREE bool *ci = xcalloc(t->columns.len + 1, sizeof *ci);

    for (size_t c = 0; c < t->columns.len; c++)
        ci[c] = has_ci(t, c);
    put_heading(t, s, out);
    for (size_t i = 0; i < t->rows.len; i++)
        if (!(t->rows.data[i].flags & ROW_FOLDED))
            put_row(t, s, &t->rows.data[i], ci, out);
    return NULL;
}
