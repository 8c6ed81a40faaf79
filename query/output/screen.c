/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/screen.h"
#include "common/mem.h"
#include "query/output/blocks.h"
#include "query/output/columns.h"
#include "query/output/facts.h"
#include "query/output/paint.h"
#include "query/output/screen_layout.h"
#include "query/output/text.h"
#include <math.h>
#include <string.h>

static void spaces(int n, FILE *out)
{
    if (n > 0)
        fprintf(out, "%*s", n, "");
}

/* ---- cells ---- */

static enum paint paint_of_share(double value, double base)
{
    double share = fabs(value / base);
    return share >= 0.2 ? PAINT_HIGH : share >= 0.05 ? PAINT_SOME : PAINT_PLAIN;
}

static void put_number_cell(struct screen *s, const struct screen_column *l, const struct cell *cell, bool dim)
{
    char text[NUMBER_MAX];
    const char *unit = number_text(text, &l->style, cell->number);

    if (!text[0]) {
        spaces(l->width, s->out);
        return;
    }
    spaces(l->width - screen_parts_width(l), s->out);
    fprintf(s->out, "%*s", l->number, text);
    if (l->unit)
        fprintf(s->out, " %-*s", l->unit, unit);
    if (l->ci) {
        screen_ci_text(text, &l->style, cell);
        if (text[0])
            fprintf(s->out, " %s%-*s", s->o->utf8 ? "\xc2\xb1" : "~", l->ci, text);
        else
            spaces(l->ci + 2, s->out);
    }
    if (l->percent) {
        double base = percent_base(l->column, cell);
        percent_text(text, cell->number, base, l->style.sign);
        enum paint p = dim ? PAINT_PLAIN : paint_of_share(cell->number, base);
        spaces(2 + l->percent - (int)strlen(text), s->out);
        paint_on(p, s->o, s->out);
        fputs(text, s->out);
        paint_off(p, s->o, s->out);
    }
}

static void put_cell(struct screen *s, const struct screen_column *l, const struct cell *cell, bool dim)
{
    if (l->column->type == COLUMN_NUMBER) {
        put_number_cell(s, l, cell, dim);
    } else {
        const char *text = cell->text ? cell->text : "";
        text_put(text, s->o->utf8, s->out);
        spaces(l->width - (int)utf8_width(text), s->out);
    }
    fputs("  ", s->out);
}

/* ---- lines ---- */

static void put_heading(struct screen *s)
{
    paint_on(PAINT_HEADING, s->o, s->out);
    if (s->number_width)
        fprintf(s->out, "%*s  ", s->number_width, "#");
    for (size_t c = 0; c < s->column_count; c++) {
        const struct screen_column *l = &s->columns[c];
        int pad = l->width - (int)utf8_width(l->column->name);
        if (l == s->beside)
            continue;
        spaces(l->column->type == COLUMN_NUMBER ? pad : 0, s->out);
        text_put(l->column->name, s->o->utf8, s->out);
        spaces(l->column->type == COLUMN_NUMBER ? 2 : pad + 2, s->out);
    }
    if (s->has_hot)
        fputs("  ", s->out);
    fputs(s->t->tree ? "scope" : "name", s->out);
    if (s->beside) {
        spaces(s->label_width - 4 + 2, s->out);
        text_put(s->beside->column->name, s->o->utf8, s->out);
    }
    paint_off(PAINT_HEADING, s->o, s->out);
    fputc('\n', s->out);
}

static enum paint paint_of_row(const struct row *r)
{
    if (r->flags & (ROW_ANCESTOR | ROW_FOLDED))
        return PAINT_DIM;
    return r->flags & ROW_HOT    ? PAINT_HOT
           : r->flags & ROW_NEW  ? PAINT_NEW
           : r->flags & ROW_GONE ? PAINT_GONE
                                 : PAINT_PLAIN;
}

/* Returns the columns that it took. */
static int put_label(struct screen *s, size_t index)
{
    const struct row *r = &s->t->rows.data[index];
    struct label l;
    enum paint p = paint_of_row(r);

    screen_label(s, index, &l);
    l.name = s->names[index].shown;
    paint_on(p, s->o, s->out);
    fputs(l.prefix, s->out);
    text_put(l.name, s->o->utf8, s->out);
    fputs(l.suffix, s->out);
    if (l.mark[0])
        fprintf(s->out, " (%s)", l.mark);
    paint_off(p, s->o, s->out);
    if (l.place[0]) {
        fputs("  ", s->out);
        paint_on(PAINT_PLACE, s->o, s->out);
        text_put(l.place, s->o->utf8, s->out);
        paint_off(PAINT_PLACE, s->o, s->out);
    }
    return (int)label_width(&l);
}

/* As an editor shows them: to columns of eight. */
static void expand_tabs(struct str *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\t')
            str_repeat(out, ' ', 8 - utf8_width(str_cstr(out)) % 8);
        else
            str_addc(out, *text);
    }
}

static void put_beside(struct screen *s, const char *beside, int label)
{
    AUTO_STR struct str expanded = {0};
    const char *text = beside;

    if (beside && strchr(beside, '\t')) {
        expand_tabs(&expanded, beside);
        text = str_cstr(&expanded);
    }
    int room = (int)s->o->width - s->left - s->label_width - 2;

    if (!text || !text[0])
        return;
    spaces(label < s->label_width ? s->label_width - label + 2 : 2, s->out);
    room = room > BESIDE_LEAST ? room : BESIDE_LEAST;
    if (!s->o->width || s->o->names == NAMES_FULL)
        text_put(text, s->o->utf8, s->out);
    else if (s->beside->column->is_path)
        text_put_path(text, (size_t)room, s->o->utf8, s->out);
    else
        text_put_cut(text, (size_t)room, s->o->utf8, s->out);
}

static void put_row(struct screen *s, size_t index)
{
    const struct row *r = &s->t->rows.data[index];
    bool dim = r->flags & (ROW_ANCESTOR | ROW_FOLDED);

    paint_on(dim ? PAINT_DIM : PAINT_PLAIN, s->o, s->out);
    if (s->number_width && r->number)
        fprintf(s->out, "%*u  ", s->number_width, r->number);
    else if (s->number_width)
        spaces(s->number_width + 2, s->out);
    for (size_t c = 0; c < s->column_count; c++)
        if (&s->columns[c] != s->beside)
            put_cell(s, &s->columns[c], &r->cells[s->columns[c].index], dim);
    paint_off(dim ? PAINT_DIM : PAINT_PLAIN, s->o, s->out);
    if (s->has_hot)
        fputs(r->flags & ROW_HOT ? "* " : "  ", s->out);
    guides_put(&s->guides, index, s->o, s->out);
    int label = put_label(s, index);
    if (s->beside)
        put_beside(s, r->cells[s->beside->index].text, label);
    fputc('\n', s->out);
}

/* The line below the heading: what the percentages are of. */
static void put_totals(struct screen *s)
{
    bool any = false;

    for (size_t c = 0; c < s->column_count; c++)
        any = any || isfinite(screen_total(&s->columns[c]).number);
    if (!any)
        return;
    paint_on(PAINT_DIM, s->o, s->out);
    spaces(s->number_width ? s->number_width + 2 : 0, s->out);
    for (size_t c = 0; c < s->column_count; c++) {
        struct cell cell = screen_total(&s->columns[c]);
        if (&s->columns[c] != s->beside)
            put_cell(s, &s->columns[c], &cell, true);
    }
    spaces(s->has_hot ? 2 : 0, s->out);
    fputs("total", s->out);
    paint_off(PAINT_DIM, s->o, s->out);
    fputc('\n', s->out);
}

static void put_note(const struct screen *s, const char *text)
{
    paint_on(PAINT_DIM, s->o, s->out);
    fputs(text, s->out);
    paint_off(PAINT_DIM, s->o, s->out);
    fputc('\n', s->out);
}

static bool is_shown(const struct screen *s, size_t column)
{
    for (size_t c = 0; c < s->column_count; c++)
        if (s->columns[c].index == column)
            return true;
    return false;
}

enum { NARROW_NAMED = 6 };

/* `for lack of room elapsed, work`: the first of them by name. */
static void tell_narrow(const struct screen *s, struct str *note)
{
    size_t named = 0;

    for (size_t c = 0; c < s->t->columns.len && named < NARROW_NAMED; c++)
        if (!is_shown(s, c) && column_has_value(s->t, c))
            str_addf(note, "%s%s", named++ ? ", " : "for lack of room ", s->t->columns.data[c].name);
    if (s->narrow > named)
        str_addf(note, " and %zu more", s->narrow - named);
}

static void put_left_out(const struct screen *s)
{
    AUTO_STR struct str silent = {0}, note = {0};

    columns_tell_silent(s->t, &silent);
    if (silent.len)
        put_note(s, str_cstr(&silent));
    if (!s->empty && !s->narrow)
        return;
    str_add(&note, "(left out: ");
    if (s->empty)
        str_addf(&note, "%zu column%s without a value%s", s->empty, s->empty == 1 ? "" : "s", s->narrow ? "; " : "");
    if (s->narrow)
        tell_narrow(s, &note);
    str_add(&note, "; `columns` chooses)");
    put_note(s, str_cstr(&note));
}

struct hq_error *screen_write(const struct table *t, const struct output_options *o, bool guides, FILE *out)
{
    struct screen s = {.t = t, .o = o, .out = out};

    if (t->picture) {
        blocks_put(t->picture, o, out);
        return NULL;
    }
    if (t->facts) {
        facts_put(t, o, out);
        return NULL;
    }
    screen_lay_out(&s, guides);
    put_heading(&s);
    put_totals(&s);
    for (size_t i = 0; i < t->rows.len; i++)
        put_row(&s, i);
    if (t->rows.len == 0)
        fputs("(no rows)\n", out);
    put_left_out(&s);
    screen_deinit(&s);
    return NULL;
}
