/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/screen.h"
#include "common/mem.h"
#include "query/output/apart.h"
#include "query/output/blocks.h"
#include "query/output/columns.h"
#include "query/output/facts.h"
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
    int number, unit, ci, percent; /* widths of the parts of a cell, 0: no such part */
    int width;                     /* of the whole cell, at least the heading's */
};

struct screen {
    const struct table *t;
    const struct output_options *o;
    FILE *out;
    struct layout *columns;
    size_t column_count;         /* that are shown */
    size_t empty, narrow;        /* columns that are left out: without a value, for lack of room */
    int number_width;            /* of the row numbers, 0: none */
    int left;                    /* columns before the name */
    const struct layout *beside; /* the text behind the name, NULL: none */
    int label_width;             /* then of the names, their places and all */
    bool has_hot;
    struct guides guides;
    const struct row **outer; /* [row] */
    struct shown_name *names; /* [row] */
};

void paint_on(enum paint p, const struct output_options *o, FILE *out)
{
    static const char *const codes[] = {
        [PAINT_PLAIN] = NULL, [PAINT_HEADING] = "1", [PAINT_DIM] = "2",  [PAINT_PLACE] = "36", [PAINT_HOT] = "1",
        [PAINT_HIGH] = "31",  [PAINT_SOME] = "33",   [PAINT_NEW] = "32", [PAINT_GONE] = "35",
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
        memcpy(text, "0", 2); /* narrower than what the column shows */
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
    return (struct cell){.number = l->percent && !l->column->no_total ? l->column->total : NAN, .base = NAN, .ci = NAN};
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
        struct layout *l = &s->columns[s->column_count];
        if (column_is_silent(s->t, c))
            continue;
        s->column_count++;
        l->column = &s->t->columns.data[c];
        l->index = c;
        if (l->column->type == COLUMN_NUMBER)
            lay_out_numbers(s, l);
        for (size_t i = 0; l->column->type == COLUMN_TEXT && i < s->t->rows.len; i++) {
            const char *text = s->t->rows.data[i].cells[c].text;
            widen(&l->width, text ? text : "");
        }
        widen(&l->width, l->column->name);
        if (!l->column->beside)
            s->left += l->width + 2;
    }
    if (s->has_hot)
        s->left += 2;
}

/* ---- what fits a terminal ---- */

enum { NAMES_ROOM = 32, NAMES_LEAST = 24 }; /* columns of the terminal that the names want, and that they always get */

static bool too_wide(const struct screen *s, int names)
{
    return s->o->width && s->left + names > (int)s->o->width;
}

static void leave_out(struct screen *s, size_t c)
{
    if (!s->columns[c].column->beside)
        s->left -= s->columns[c].width + 2;
    memmove(&s->columns[c], &s->columns[c + 1], (--s->column_count - c) * sizeof *s->columns);
}

/* Then the first metric alone, without its exclusive or old value, says enough beside the change. */
static bool compares(const struct screen *s)
{
    for (size_t c = 0; c < s->column_count; c++)
        if (s->columns[c].column->marks_sign)
            return true;
    return false;
}

static void leave_out_last(struct screen *s, size_t keep, int names)
{
    for (size_t c = s->column_count; c-- > keep && too_wide(s, names);)
        if (s->columns[c].column->type == COLUMN_NUMBER && !s->columns[c].column->orders) {
            leave_out(s, c);
            s->narrow++;
        }
}

/* Where the query leaves the columns to hq: first those without a value go, then the last ones, but for the first
 * metric, texts, and what the query orders by; on the narrowest terminals only its inclusive value stays. */
static void fit_columns(struct screen *s)
{
    if (s->t->chosen_columns || !too_wide(s, NAMES_ROOM))
        return;
    for (size_t c = s->column_count; c-- > 1;)
        if (!s->columns[c].column->orders && !column_has_value(s->t, s->columns[c].index)) {
            leave_out(s, c);
            s->empty++;
        }
    leave_out_last(s, compares(s) ? 1 : 2, NAMES_ROOM);
    leave_out_last(s, 1, NAMES_LEAST);
}

static void put_note(const struct screen *s, const char *text)
{
    paint_on(PAINT_DIM, s->o, s->out);
    fputs(text, s->out);
    paint_off(PAINT_DIM, s->o, s->out);
    fputc('\n', s->out);
}

static void put_left_out(const struct screen *s)
{
    AUTO_STR struct str silent = {0}, note = {0};

    columns_tell_silent(s->t, &silent);
    if (silent.len)
        put_note(s, str_cstr(&silent));
    if (s->empty)
        str_addf(&note, "(%zu column%s without a value", s->empty, s->empty == 1 ? "" : "s");
    if (s->narrow)
        str_addf(&note, "%s%zu column%s for which there is no room", s->empty ? " and " : "(", s->narrow,
                 s->narrow == 1 ? "" : "s");
    if (note.len) {
        str_add(&note, " left out; `columns` chooses)");
        put_note(s, str_cstr(&note));
    }
}

/* Names take what they need, on a terminal at most half of the room. Views with a text beside the name are lists:
 * nothing is indented. */
static void lay_out_beside(struct screen *s)
{
    for (size_t c = 0; c < s->column_count; c++)
        if (s->columns[c].column->beside)
            s->beside = &s->columns[c];
    if (!s->beside)
        return;
    int half = ((int)s->o->width - s->left) / 2;

    widen(&s->label_width, "total");
    for (size_t i = 0; i < s->t->rows.len; i++) {
        struct label l;

        label_of(s->t, &s->t->rows.data[i], s->outer[i], &l);
        if ((int)label_width(&l) > s->label_width)
            s->label_width = (int)label_width(&l);
    }
    if (s->o->width && s->label_width > half && s->o->names != NAMES_FULL)
        s->label_width = half > NAMES_LEAST ? half : NAMES_LEAST;
}

static void look_at_rows(struct screen *s)
{
    uint32_t numbers = 0;

    for (size_t i = 0; i < s->t->rows.len; i++) {
        const struct row *r = &s->t->rows.data[i];
        numbers = r->number > numbers ? r->number : numbers;
        s->has_hot = s->has_hot || (r->flags & ROW_HOT);
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
    if (l->unit)
        fprintf(s->out, " %-*s", l->unit, unit);
    if (l->ci) {
        ci_text(text, &l->style, cell);
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
    for (size_t c = 0; c < s->column_count; c++) {
        const struct layout *l = &s->columns[c];
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

/* Where less of a name would be left, its place makes room. */
enum { ENOUGH_OF_NAME = 28 };

/* Lays out the label of a row, without its place where that would leave too little room; returns the columns for the
 * name. */
static size_t lay_out_label(const struct screen *s, size_t index, struct label *l)
{
    label_of(s->t, &s->t->rows.data[index], s->outer[index], l);
    size_t whole = label_width(l), name = utf8_width(l->name), room = SIZE_MAX;
    int left = (int)s->o->width - s->left - guides_width(&s->guides, index);

    if (s->beside)
        room = (size_t)s->label_width;
    else if (s->o->width && s->o->names != NAMES_FULL)
        room = left > NAMES_LEAST ? (size_t)left : NAMES_LEAST;
    if (whole > room && l->place[0] && room < whole - name + (name < ENOUGH_OF_NAME ? name : ENOUGH_OF_NAME)) {
        l->place[0] = 0;
        whole = label_width(l);
    }
    if (whole > room)
        return name > whole - room + 12 ? name - (whole - room) : 12;
    return room == SIZE_MAX ? room : room - (whole - name);
}

/* All names at once: those that would look alike say where they differ. */
static void name_rows(struct screen *s)
{
    struct arena own = {0};
    size_t n = s->t->rows.len;

    s->names = xcalloc(n + 1, sizeof *s->names);
    for (size_t i = 0; i < n; i++) {
        struct label l;
        size_t room = lay_out_label(s, i, &l);

        s->names[i].room = s->o->names == NAMES_SHORT && room > NAME_SHORT ? NAME_SHORT : room;
        s->names[i].name = l.name == l.own ? arena_strdup(&own, l.name) : l.name;
    }
    names_show(s->names, n, text_dots(s->o->utf8));
    arena_deinit(&own);
}

/* Returns the columns that it took. */
static int put_label(struct screen *s, size_t index)
{
    const struct row *r = &s->t->rows.data[index];
    struct label l;
    enum paint p = paint_of_row(r);

    lay_out_label(s, index, &l);
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
    room = room > 24 ? room : 24;
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
        any = any || isfinite(total_cell(&s->columns[c]).number);
    if (!any)
        return;
    paint_on(PAINT_DIM, s->o, s->out);
    spaces(s->number_width ? s->number_width + 2 : 0, s->out);
    for (size_t c = 0; c < s->column_count; c++) {
        struct cell cell = total_cell(&s->columns[c]);
        if (&s->columns[c] != s->beside)
            put_cell(s, &s->columns[c], &cell, true);
    }
    spaces(s->has_hot ? 2 : 0, s->out);
    fputs("total", s->out);
    paint_off(PAINT_DIM, s->o, s->out);
    fputc('\n', s->out);
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
    look_at_rows(&s);
    s.columns = xcalloc(t->columns.len + 1, sizeof *s.columns);
    lay_out_columns(&s);
    fit_columns(&s);
    guides_init(&s.guides, t, guides, o->width ? (int)o->width - s.left : 0);
    s.outer = outer_rows(t);
    lay_out_beside(&s);
    name_rows(&s);
    put_heading(&s);
    put_totals(&s);
    for (size_t i = 0; i < t->rows.len; i++)
        put_row(&s, i);
    if (t->rows.len == 0)
        fputs("(no rows)\n", out);
    put_left_out(&s);
    guides_deinit(&s.guides);
    for (size_t i = 0; i < t->rows.len; i++)
        free(s.names[i].shown);
    free(s.names);
    free(s.outer);
    free(s.columns);
    return NULL;
}
