/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/screen.h"
#include "common/mem.h"
#include "query/output/blocks.h"
#include "query/output/guides.h"
#include "query/output/number.h"
#include "query/output/text.h"
#include <math.h>
#include <string.h>

/* How one column is laid out; widths in characters of the terminal. */
struct layout {
    const struct column *column;
    size_t index;
    struct number_style style;
    int number, ci, unit, percent;  /* widths of the parts of a cell, 0: no such part */
    int width;                      /* of the whole cell, at least the heading's */
};

struct screen {
    const struct table *t;
    const struct output_options *o;
    FILE *out;
    struct layout *columns;
    int number_width;       /* of the row numbers, 0: none */
    int name_width;         /* of the names where text columns follow them (facts) */
    int left;               /* columns before the name */
    bool has_hot;
    struct guides guides;
    const struct row **outer;   /* [row] */
};

void paint_on(enum paint p, const struct output_options *o, FILE *out)
{
    static const char *const codes[] = {
        [PAINT_PLAIN] = NULL, [PAINT_HEADING] = "1", [PAINT_DIM] = "2", [PAINT_PLACE] = "36", [PAINT_HOT] = "1",
        [PAINT_HIGH] = "31", [PAINT_SOME] = "33", [PAINT_NEW] = "32", [PAINT_GONE] = "35",
    };
    if (o->colours && codes[p])
        fprintf(out, "\033[%sm", codes[p]);
}

void paint_off(enum paint p, const struct output_options *o, FILE *out)
{
    if (o->colours && p != PAINT_PLAIN)
        fputs("\033[0m", out);
}

static void spaces(int n, FILE *out)
{
    if (n > 0)
        fprintf(out, "%*s", n, "");
}

static void widen(int *width, const char *text)
{
    int w = (int)utf8_width(text);
    if (w > *width)
        *width = w;
}

/* ---- layout ---- */

static void ci_text(char text[NUMBER_MAX], const struct number_style *s, const struct cell *cell)
{
    struct number_style plain = *s;
    plain.sign = false;
    plain.zero = true;
    text[0] = 0;
    if (!isfinite(cell->number) || (cell->number == 0 && !s->zero))
        return;
    const char *unit = number_text(text, &plain, cell->ci);
    if (text[0] && unit != s->unit)
        memcpy(text, "0", 2);       /* narrower than what the column shows */
}

static void make_room(struct layout *l, const struct cell *cell)
{
    char text[NUMBER_MAX];

    const char *unit = number_text(text, &l->style, cell->number);
    if (!text[0])
        return;
    widen(&l->number, text);
    widen(&l->unit, unit);
    ci_text(text, &l->style, cell);
    widen(&l->ci, text);
    percent_text(text, cell->number, percent_base(l->column, cell), l->style.sign);
    widen(&l->percent, text);
}

static struct cell total_cell(const struct layout *l)
{
    return (struct cell){ .number = l->percent && !l->column->no_total ? l->column->total : NAN, .base = NAN, .ci = NAN };
}

static int parts_width(const struct layout *l)
{
    return l->number + (l->ci ? l->ci + 2 : 0) + (l->unit ? l->unit + 1 : 0) + (l->percent ? l->percent + 2 : 0);
}

static void lay_out_numbers(struct screen *s, struct layout *l)
{
    l->style = number_style_of(s->t, l->index);
    for (size_t i = 0; i < s->t->rows.len; i++)
        make_room(l, &s->t->rows.data[i].cells[l->index]);
    struct cell total = total_cell(l);
    make_room(l, &total);
    l->width = parts_width(l);
}

static void lay_out_columns(struct screen *s)
{
    s->left = s->number_width ? s->number_width + 2 : 0;
    for (size_t c = 0; c < s->t->columns.len; c++) {
        struct layout *l = &s->columns[c];
        l->column = &s->t->columns.data[c];
        l->index = c;
        if (l->column->type == COLUMN_NUMBER)
            lay_out_numbers(s, l);
        for (size_t i = 0; l->column->type == COLUMN_TEXT && i < s->t->rows.len; i++) {
            const char *text = s->t->rows.data[i].cells[c].text;
            widen(&l->width, text ? text : "");
        }
        widen(&l->width, l->column->name);
        s->left += l->width + 2;
    }
    if (s->has_hot)
        s->left += 2;
}

static void look_at_rows(struct screen *s)
{
    uint32_t numbers = 0;

    for (size_t i = 0; i < s->t->rows.len; i++) {
        const struct row *r = &s->t->rows.data[i];
        numbers = r->number > numbers ? r->number : numbers;
        s->has_hot = s->has_hot || (r->flags & ROW_HOT);
        widen(&s->name_width, r->name);
    }
    if (numbers && !s->t->facts)
        s->number_width = snprintf(NULL, 0, "%u", numbers);
}

/* ---- cells ---- */

static enum paint paint_of_share(double value, double base)
{
    double share = fabs(value / base);
    return share >= 0.2 ? PAINT_HIGH : share >= 0.05 ? PAINT_SOME : PAINT_PLAIN;
}

static void put_number_cell(struct screen *s, const struct layout *l, const struct cell *cell, bool dim)
{
    char text[NUMBER_MAX];
    const char *unit = number_text(text, &l->style, cell->number);

    if (!text[0]) {
        spaces(l->width, s->out);
        return;
    }
    spaces(l->width - parts_width(l), s->out);
    fprintf(s->out, "%*s", l->number, text);
    if (l->ci) {
        ci_text(text, &l->style, cell);
        if (text[0])
            fprintf(s->out, " %s%-*s", s->o->utf8 ? "\xc2\xb1" : "~", l->ci, text);
        else
            spaces(l->ci + 2, s->out);
    }
    if (l->unit)
        fprintf(s->out, " %-*s", l->unit, unit);
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

static void put_cell(struct screen *s, const struct layout *l, const struct cell *cell, bool dim)
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
    for (size_t c = 0; c < s->t->columns.len; c++) {
        const struct layout *l = &s->columns[c];
        int pad = l->width - (int)utf8_width(l->column->name);
        spaces(l->column->type == COLUMN_NUMBER ? pad : 0, s->out);
        text_put(l->column->name, s->o->utf8, s->out);
        spaces(l->column->type == COLUMN_NUMBER ? 2 : pad + 2, s->out);
    }
    if (s->has_hot)
        fputs("  ", s->out);
    fputs(s->t->tree ? "scope" : "name", s->out);
    paint_off(PAINT_HEADING, s->o, s->out);
    fputc('\n', s->out);
}

static enum paint paint_of_row(const struct row *r)
{
    if (r->flags & (ROW_ANCESTOR | ROW_FOLDED))
        return PAINT_DIM;
    return r->flags & ROW_HOT ? PAINT_HOT : r->flags & ROW_NEW ? PAINT_NEW : r->flags & ROW_GONE ? PAINT_GONE : PAINT_PLAIN;
}

static void put_label(struct screen *s, size_t index, int indent)
{
    const struct row *r = &s->t->rows.data[index];
    struct label l;
    label_of(s->t, r, s->outer[index], &l);
    enum paint p = paint_of_row(r);
    size_t whole = label_width(&l), name = utf8_width(l.name), room = SIZE_MAX;

    if (s->o->width)
        room = (int)s->o->width - s->left - indent > 24 ? (size_t)((int)s->o->width - s->left - indent) : 24;
    if (whole > room)
        name = name > whole - room + 12 ? name - (whole - room) : name < 12 ? name : 12;
    paint_on(p, s->o, s->out);
    fputs(l.prefix, s->out);
    text_put_short(l.name, name, s->o->utf8, s->out);
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
    for (size_t c = 0; c < s->t->columns.len; c++)
        put_cell(s, &s->columns[c], &r->cells[c], dim);
    paint_off(dim ? PAINT_DIM : PAINT_PLAIN, s->o, s->out);
    if (s->has_hot)
        fputs(r->flags & ROW_HOT ? "* " : "  ", s->out);
    int indent = guides_put(&s->guides, index, s->o, s->out);
    put_label(s, index, indent);
    fputc('\n', s->out);
}

/* The line below the heading: what the percentages are of. */
static void put_totals(struct screen *s)
{
    bool any = false;

    for (size_t c = 0; c < s->t->columns.len; c++)
        any = any || isfinite(total_cell(&s->columns[c]).number);
    if (!any)
        return;
    paint_on(PAINT_DIM, s->o, s->out);
    spaces(s->number_width ? s->number_width + 2 : 0, s->out);
    for (size_t c = 0; c < s->t->columns.len; c++) {
        struct cell cell = total_cell(&s->columns[c]);
        put_cell(s, &s->columns[c], &cell, true);
    }
    spaces(s->has_hot ? 2 : 0, s->out);
    fputs("total", s->out);
    paint_off(PAINT_DIM, s->o, s->out);
    fputc('\n', s->out);
}

static void put_fact_cell(struct screen *s, const char *text, int width, bool last)
{
    text_put(text ? text : "", s->o->utf8, s->out);
    if (!last)
        spaces(width - (int)utf8_width(text ? text : "") + 2, s->out);
}

/* Facts with several columns: names first, each column under its heading. */
static void put_fact_table(struct screen *s)
{
    size_t n = s->t->columns.len;

    widen(&s->name_width, "name");
    for (size_t c = 0; c < n; c++) {
        widen(&s->columns[c].width, s->t->columns.data[c].name);
        for (size_t i = 0; i < s->t->rows.len; i++)
            widen(&s->columns[c].width, s->t->rows.data[i].cells[c].text ? s->t->rows.data[i].cells[c].text : "");
    }
    paint_on(PAINT_HEADING, s->o, s->out);
    put_fact_cell(s, "name", s->name_width, false);
    for (size_t c = 0; c < n; c++)
        put_fact_cell(s, s->t->columns.data[c].name, s->columns[c].width, c + 1 == n);
    paint_off(PAINT_HEADING, s->o, s->out);
    for (size_t i = 0; i < s->t->rows.len; i++) {
        fputc('\n', s->out);
        put_fact_cell(s, s->t->rows.data[i].name, s->name_width, false);
        for (size_t c = 0; c < n; c++)
            put_fact_cell(s, s->t->rows.data[i].cells[c].text, s->columns[c].width, c + 1 == n);
    }
    fputc('\n', s->out);
}

enum { COMMAND_SHOWN = 300 };

/* A command may have thousands of arguments: people see its beginning, cut between two words if there is a place, and how many there are. */
static void put_command(struct screen *s, const char *text)
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
static void put_facts(struct screen *s)
{
    for (size_t i = 0; i < s->t->rows.len; i++) {
        const struct row *r = &s->t->rows.data[i];
        const char *text = s->t->columns.len ? r->cells[0].text : NULL;
        spaces(2 * r->depth, s->out);
        text_put(r->name, s->o->utf8, s->out);
        if (text && text[0]) {
            int pad = s->name_width - 2 * r->depth - (int)utf8_width(r->name);
            spaces(2 + (pad > 0 ? pad : 0), s->out);
            if (!strcmp(r->name, "command"))
                put_command(s, text);
            else
                text_put(text, s->o->utf8, s->out);
        }
        fputc('\n', s->out);
    }
}

struct hq_error *screen_write(const struct table *t, const struct output_options *o, bool guides, FILE *out)
{
    struct screen s = { .t = t, .o = o, .out = out };

    if (t->picture) {
        blocks_put(t->picture, o, out);
        return NULL;
    }
    look_at_rows(&s);
    s.columns = xcalloc(t->columns.len + 1, sizeof *s.columns);
    if (t->facts) {
        t->columns.len > 1 ? put_fact_table(&s) : put_facts(&s);
        free(s.columns);
        return NULL;
    }
    lay_out_columns(&s);
    guides_init(&s.guides, t, guides, o->width ? (int)o->width - s.left : 0);
    s.outer = outer_rows(t);
    put_heading(&s);
    put_totals(&s);
    for (size_t i = 0; i < t->rows.len; i++)
        put_row(&s, i);
    if (t->rows.len == 0)
        fputs("(no rows)\n", out);
    guides_deinit(&s.guides);
    free(s.outer);
    free(s.columns);
    return NULL;
}
