/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/screen_layout.h"

#include "common/mem.h"
#include "query/output/columns.h"
#include <math.h>
#include <string.h>

static void widen(int *width, const char *text)
{
    int w = (int)utf8_width(text);
    if (w > *width)
        *width = w;
}

void screen_ci_text(char text[NUMBER_MAX], const struct number_style *s, const struct cell *cell)
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

static void make_room(struct screen_column *l, const struct cell *cell)
{
    char text[NUMBER_MAX];

    const char *unit = number_text(text, &l->style, cell->number);
    if (!text[0])
        return;
    widen(&l->number, text);
    widen(&l->unit, unit);
    screen_ci_text(text, &l->style, cell);
    widen(&l->ci, text);
    percent_text(text, cell->number, percent_base(l->column, cell), l->style.sign);
    widen(&l->percent, text);
}

struct cell screen_total(const struct screen_column *l)
{
    return (struct cell){.number = l->percent && !l->column->no_total ? l->column->total : NAN, .base = NAN, .ci = NAN};
}

int screen_parts_width(const struct screen_column *l)
{
    return l->number + (l->ci ? l->ci + 2 : 0) + (l->unit ? l->unit + 1 : 0) + (l->percent ? l->percent + 2 : 0);
}

static void lay_out_numbers(struct screen *s, struct screen_column *l)
{
    l->style = number_style_of(s->t, l->index);
    for (size_t i = 0; i < s->t->rows.len; i++)
        make_room(l, &s->t->rows.data[i].cells[l->index]);
    struct cell total = screen_total(l);
    make_room(l, &total);
    l->width = screen_parts_width(l);
}

static void lay_out_columns(struct screen *s)
{
    s->left = s->number_width ? s->number_width + 2 : 0;
    for (size_t c = 0; c < s->t->columns.len; c++) {
        struct screen_column *l = &s->columns[s->column_count];
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

/* Columns of the terminal that the names want, and that they always get. */
enum { NAMES_ROOM = 32, NAMES_LEAST = 24 };

/* The text beside the names wants as much as they get at least; source lines take more where there is. */
static int beside_room(const struct screen *s, int most)
{
    for (size_t c = 0; c < s->column_count; c++)
        if (s->columns[c].column->beside)
            return 2 + (s->columns[c].width < most ? s->columns[c].width : most);
    return 0;
}

static bool has_spare(const struct screen *s)
{
    for (size_t c = 0; c < s->t->columns.len; c++)
        if (s->t->columns.data[c].spare)
            return true;
    return false;
}

/* Numbers that no view can spare stay before long names. */
static bool too_wide(const struct screen *s, int names, bool spare)
{
    bool tight = !spare && has_spare(s);
    int wanted = (tight ? NAMES_LEAST : names) + beside_room(s, tight ? BESIDE_LEAST : NAMES_LEAST);

    return s->o->width && s->left + wanted > (int)s->o->width;
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

static void leave_out_last(struct screen *s, size_t keep, int names, bool spare)
{
    for (size_t c = s->column_count; c-- > keep && too_wide(s, names, spare);) {
        const struct column *column = s->columns[c].column;

        if (column->type == COLUMN_NUMBER && !column->orders && (column->spare || !spare)) {
            leave_out(s, c);
            s->narrow++;
        }
    }
}

/* Where the query leaves the columns to hq: first those without a value go, then those that the view can spare, then
 * the last ones, but for the first metric, texts, and what the query orders by; on the narrowest terminals only its
 * inclusive value stays. */
static void fit_columns(struct screen *s)
{
    if (s->t->chosen_columns || !too_wide(s, NAMES_ROOM, true))
        return;
    for (size_t c = s->column_count; c-- > 1;)
        if (!s->columns[c].column->orders && !column_has_value(s->t, s->columns[c].index)) {
            leave_out(s, c);
            s->empty++;
        }
    leave_out_last(s, 1, NAMES_ROOM, true);
    leave_out_last(s, compares(s) ? 1 : 2, NAMES_ROOM, false);
    leave_out_last(s, 1, NAMES_LEAST, false);
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

/* Names take what they need, on a terminal at most half of the room, or what is left beside a short text. Views with a
 * text beside the name are lists: nothing is indented. */
static void lay_out_beside(struct screen *s)
{
    for (size_t c = 0; c < s->column_count; c++)
        if (s->columns[c].column->beside)
            s->beside = &s->columns[c];
    if (!s->beside)
        return;
    int room = (int)s->o->width - s->left, rest = room - 2 - s->beside->width,
        most = s->beside->width <= NAMES_LEAST && rest > room / 2 ? rest : room / 2;

    if (most < NAMES_LEAST)
        most = NAMES_LEAST;

    widen(&s->label_width, "total");
    for (size_t i = 0; i < s->t->rows.len; i++) {
        struct label l;

        label_of(s->t, &s->t->rows.data[i], s->outer[i], &l);
        if ((int)label_width(&l) > s->label_width)
            s->label_width = (int)label_width(&l);
    }
    if (s->o->width && s->label_width > most && s->o->names != NAMES_FULL)
        s->label_width = most;
}

/* Where less of a name would be left, its place makes room. */
enum { ENOUGH_OF_NAME = 28 };

size_t screen_label(const struct screen *s, size_t index, struct label *l)
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
        size_t room = screen_label(s, i, &l);

        s->names[i].room = s->o->names == NAMES_SHORT && room > NAME_SHORT ? NAME_SHORT : room;
        s->names[i].name = l.name == l.own ? arena_strdup(&own, l.name) : l.name;
    }
    names_show(s->names, n, text_dots(s->o->utf8));
    arena_deinit(&own);
}

void screen_lay_out(struct screen *s, bool guides)
{
    look_at_rows(s);
    s->columns = xcalloc(s->t->columns.len + 1, sizeof *s->columns);
    lay_out_columns(s);
    fit_columns(s);
    guides_init(&s->guides, s->t, guides, s->o->width ? (int)s->o->width - s->left : 0);
    s->outer = outer_rows(s->t);
    lay_out_beside(s);
    name_rows(s);
}

void screen_deinit(struct screen *s)
{
    guides_deinit(&s->guides);
    for (size_t i = 0; i < s->t->rows.len; i++)
        free(s->names[i].shown);
    free(s->names);
    free(s->outer);
    free(s->columns);
}
