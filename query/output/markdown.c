/* SPDX-License-Identifier: BSD-3-Clause */
/* `as markdown`: a GitHub table; nesting is indentation with no-break spaces. */
#include "query/output/columns.h"
#include "query/output/formats.h"
#include "query/output/number.h"
#include "query/output/text.h"
#include "common/mem.h"
#include <math.h>
#include <string.h>

/* Backslashes before what Markdown would read as markup; a tag's < as an entity. */
static void put_escaped(const char *text, FILE *out)
{
    static text_instead instead = {
        [1 ... 0x1f] = " ", [0x7f] = " ",  ['<'] = "&lt;", ['\\'] = "\\\\", ['|'] = "\\|", ['*'] = "\\*",
        ['_'] = "\\_",      ['`'] = "\\`", ['['] = "\\[",  [']'] = "\\]",   ['~'] = "\\~", ['#'] = "\\#",
    };

    text_put_with(text, instead, out);
}

static void put_cell(const struct table *t, size_t c, const struct number_style *style, const struct cell *cell,
                     FILE *out)
{
    char text[NUMBER_MAX];
    const struct column *column = &t->columns.data[c];

    fputs(" ", out);
    if (column->type == COLUMN_TEXT) {
        put_escaped(cell->text ? cell->text : "", out);
    } else {
        const char *unit = number_text(text, style, cell->number);
        fputs(text, out);
        if (unit[0])
            fprintf(out, " %s", unit);
        if (text[0] && isfinite(cell->ci) && cell->ci > 0) {
            struct number_style plain = *style;
            plain.sign = false;
            number_text(text, &plain, cell->ci);
            fprintf(out, " \xc2\xb1%s", text);
        }
        percent_text(text, cell->number, percent_base(column, cell), column->marks_sign);
        if (text[0])
            fprintf(out, " (%s)", text);
    }
    fputs(" |", out);
}

static void put_label(const struct table *t, const struct row *r, const struct row *outer, FILE *out)
{
    struct label l;

    label_of(t, r, outer, &l);
    fputc(' ', out);
    for (int i = 0; i < r->depth; i++)
        fputs("&nbsp;&nbsp;", out);
    if (r->flags & ROW_HOT)
        fputs("**", out);
    put_escaped(l.prefix, out);
    put_escaped(l.name, out);
    fputs(l.suffix, out);
    if (r->flags & ROW_HOT)
        fputs("**", out);
    if (l.mark[0])
        fprintf(out, " (%s)", l.mark);
    if (l.place[0]) {
        fputc(' ', out);
        put_escaped(l.place, out);
    }
    fputs(" |\n", out);
}

struct hq_error *markdown_write(const struct table *t, const struct output_options *o, FILE *out)
{
    AUTO_FREE const struct row **outer = outer_rows(t);
    AUTO_FREE struct number_style *styles = xcalloc(t->columns.len + 1, sizeof *styles);
    AUTO_FREE bool *silent = xcalloc(t->columns.len + 1, sizeof *silent);

    (void)o;
    fputc('|', out);
    for (size_t c = 0; c < t->columns.len; c++) {
        silent[c] = column_is_silent(t, c);
        if (silent[c])
            continue;
        if (t->columns.data[c].type == COLUMN_NUMBER)
            styles[c] = number_style_of(t, c);
        fputc(' ', out);
        put_escaped(t->columns.data[c].name, out);
        fputs(" |", out);
    }
    fputs(t->tree ? " scope |\n|" : " name |\n|", out);
    for (size_t c = 0; c < t->columns.len; c++)
        fputs(silent[c] ? "" : t->columns.data[c].type == COLUMN_NUMBER ? "---:|" : "---|", out);
    fputs("---|\n", out);
    for (size_t i = 0; i < t->rows.len; i++) {
        const struct row *r = &t->rows.data[i];
        fputc('|', out);
        for (size_t c = 0; c < t->columns.len; c++)
            if (!silent[c])
                put_cell(t, c, &styles[c], &r->cells[c], out);
        put_label(t, r, outer[i], out);
    }
    return NULL;
}
