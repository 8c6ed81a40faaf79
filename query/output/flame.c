/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `as svg` of a tree: a flame graph that hangs from its root. A row is a box as wide as its share of the total, below
 * the row that it is nested in; what a box has beyond the boxes below it is its own cost. The name, the call site and
 * the cost are a tooltip. Colours are those of the pictures of traces: they belong to procedures, their hue tells whose
 * code it is; of a comparison they tell the change.
 */
#include "query/output/flame.h"
#include "common/embed.h"
#include "common/shorten.h"
#include "query/output/text.h"
#include "query/output/weights.h"
#include "query/picture/palette.h"
#include "common/mem.h"
#include <math.h>
#include <string.h>

enum { WIDTH = 1200, LEVEL = 18, TOP = 34, LETTER = 7 };
#define NARROWEST 0.2 /* pixels; narrower boxes are left out */

EMBED(flame_program, "query/output/flame.js")

struct box {
    double left, width, used, scale;
}; /* used: of its width, by the boxes below so far; scale: of theirs */

struct flame {
    const struct table *t;
    FILE *out;
    size_t column;
    size_t old, delta; /* of a comparison what was before, and the change; SIZE_MAX: it is none */
    double total;
    bool full; /* names lose nothing but what is beyond the end of the box */
    bool drawn[FAMILY_COUNT];
};

static double number_of(const struct flame *f, size_t row, size_t column)
{
    double x = column == SIZE_MAX ? 0 : f->t->rows.data[row].cells[column].number;

    return isfinite(x) ? x : 0;
}

/* Returns the value that a box is drawn for; in a comparison the larger of the two, so that calls that have vanished
 * are drawn. */
static double value_of(const struct flame *f, size_t row)
{
    double x = fmax(number_of(f, row, f->column), number_of(f, row, f->old));

    return x > 0 ? x : 0;
}

static void put_escaped(const char *text, FILE *out)
{
    AUTO_STR struct str escaped = {0};

    xml_escape(&escaped, text);
    fwrite(str_cstr(&escaped), 1, escaped.len, out);
}

/* The rows directly below one, together: in views of overlapping rows more than it. */
static double below(const struct flame *f, size_t row)
{
    double sum = 0;
    int depth = f->t->rows.data[row].depth;

    for (size_t i = row + 1; i < f->t->rows.len && f->t->rows.data[i].depth > depth; i++)
        if (f->t->rows.data[i].depth == depth + 1)
            sum += value_of(f, i);
    return sum;
}

static void put_name(const struct flame *f, const char *name, double width)
{
    FILE *out = f->out;
    size_t room = width > 3 * LETTER ? (size_t)((width - 6) / LETTER) : 0, len = 0, columns = 0;
    AUTO_STR struct str text = {0};

    if (room < 2)
        return;
    if (f->full)
        str_add(&text, name);
    else
        name_shorten(&text, name, room, "\xe2\x80\xa6");
    while (len < text.len && columns < room) {
        uint32_t c;
        size_t n = text_next(text.s + len, &c);

        columns += utf8_width_n(text.s + len, n);
        len += n;
    }
    bool cut = len < text.len;

    str_truncate(&text, len);
    put_escaped(str_cstr(&text), out);
    fputs(cut ? "\xe2\x80\xa6" : "", out);
}

static void put_tooltip(const struct flame *f, size_t row, const char *name, double value)
{
    const struct row *r = &f->t->rows.data[row];
    enum dim dim = f->t->columns.data[f->column].dim;
    char amount[UNITS_TEXT], before[UNITS_TEXT];

    fputs("<title>", f->out);
    put_escaped(r->kind == SCOPE_INLINE ? "[I] " : "", f->out);
    put_escaped(name, f->out);
    if (r->call_file) {
        fputs("\ncalled from ", f->out);
        put_escaped(r->call_file, f->out);
        fprintf(f->out, ":%u", r->call_line);
    }
    if (f->delta == SIZE_MAX) {
        units_format(amount, value, dim);
        fprintf(f->out, "\n%s, %.2f%%</title>", amount, 100 * value / f->total);
        return;
    }
    units_format(amount, number_of(f, row, f->column), dim);
    units_format(before, number_of(f, row, f->old), dim);
    fprintf(f->out, "\n%s, before %s%s</title>", amount, before,
            r->flags & ROW_GONE  ? ", gone"
            : r->flags & ROW_NEW ? ", new"
                                 : "");
}

/* Returns the colour of a box; in a comparison by the change, where a change inside its 95 % interval counts as
 * chance. */
static uint32_t colour_of(const struct flame *f, size_t row, const char *name)
{
    const struct row *r = &f->t->rows.data[row];
    double change = number_of(f, row, f->delta), before = number_of(f, row, f->old);

    if (f->delta == SIZE_MAX)
        return palette_colour(name, r->tint);
    double ci = r->cells[f->delta].ci, base = before > 0 ? before : value_of(f, row);

    return palette_change(base > 0 ? fabs(change) / base : 0, change > 0,
                          change == 0 || (isfinite(ci) && fabs(change) <= ci));
}

static void put_box(struct flame *f, size_t row, const struct box *b, double value)
{
    const struct row *r = &f->t->rows.data[row];
    int level = r->depth;
    char own[ROW_NAME_MAX];
    struct row whole = *r;
    double top = TOP + level * LEVEL;

    whole.shown = NULL;
    uint32_t colour = colour_of(f, row, row_name(&whole, own));
    const char *name = row_name(r, own);

    if (b->width > 3 && r->tint.family < FAMILY_COUNT)
        f->drawn[r->tint.family] = true;
    fputs("<g class=\"b\">", f->out);
    put_tooltip(f, row, name, value);
    fprintf(f->out, "<rect x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"%d\" fill=\"#%06x\"/>", b->left, top,
            fmax(b->width - 0.5, 0.1), LEVEL - 1, colour);
    if (b->width > 3 * LETTER) {
        fprintf(f->out, "<text x=\"%.1f\" y=\"%g\"%s>", b->left + 3, top + LEVEL - 5,
                palette_ink(colour) ? " fill=\"#fff\"" : "");
        put_name(f, name, b->width);
        fputs("</text>", f->out);
    }
    fputs("</g>\n", f->out);
}

/* Boxes from the outermost inwards: path[d] is the box that rows of depth d lie in. */
static void put_boxes(struct flame *f)
{
    VEC(struct box) path = {0};

    vec_push(&path, ((struct box){0, WIDTH, 0, WIDTH / f->total}));
    for (size_t i = 0; i < f->t->rows.len; i++) {
        const struct row *r = &f->t->rows.data[i];
        double value = value_of(f, i), children;

        if (r->depth < 0 || (size_t)r->depth >= path.len)
            continue; /* the row around it is too narrow */
        path.len = (size_t)r->depth + 1;
        struct box *outer = &vec_last(&path), b = {outer->left + outer->used, value * outer->scale, 0, outer->scale};

        outer->used += b.width;
        if (b.width < NARROWEST)
            continue;
        put_box(f, i, &b, value);
        children = below(f, i);
        if (children > value)
            b.scale *= value / children;
        vec_push(&path, b);
    }
    vec_deinit(&path);
}

static double whole_of(const struct flame *f)
{
    double total = f->t->columns.data[f->column].total, roots = 0;

    for (size_t i = 0; i < f->t->rows.len; i++)
        roots += f->t->rows.data[i].depth == 0 ? value_of(f, i) : 0;
    return isfinite(total) && total >= roots ? total : roots;
}

static int depth_of(const struct table *t)
{
    int deepest = 0;

    for (size_t i = 0; i < t->rows.len; i++)
        deepest = t->rows.data[i].depth > deepest ? t->rows.data[i].depth : deepest;
    return deepest;
}

static size_t column_of(const struct table *t, const char *side, const char *name)
{
    AUTO_FREE char *wanted = xasprintf("%s.%s", side, name);

    for (size_t c = 0; c < t->columns.len; c++)
        if (t->columns.data[c].type == COLUMN_NUMBER && !strcmp(t->columns.data[c].name, wanted))
            return c;
    return SIZE_MAX;
}

static double put_key(const struct flame *f, double x, double y, uint32_t colour, const char *text)
{
    fprintf(f->out,
            "<rect x=\"%g\" y=\"%g\" width=\"12\" height=\"12\" fill=\"#%06x\"/><text x=\"%g\" y=\"%g\">%s</text>\n", x,
            y, colour, x + 18, y + 11, text);
    return x + 40 + LETTER * (double)strlen(text);
}

static void put_legend(const struct flame *f, double y)
{
    double x = 8;

    if (f->delta == SIZE_MAX) {
        for (int i = 0; i < FAMILY_COUNT; i++)
            if (f->drawn[i])
                x = put_key(f, x, y, palette_family(i), palette_family_name(i));
        return;
    }
    x = put_key(f, x, y, palette_change(1, true, false), "more");
    x = put_key(f, x, y, palette_change(1, false, false), "less");
    put_key(f, x, y, palette_change(0, false, true), "within chance, or the same");
}

struct hq_error *flame_write(const struct table *t, const struct output_options *o, FILE *out)
{
    AUTO_FREE double *own = NULL;
    struct flame f = {.t = t, .out = out, .full = o->names == NAMES_FULL};
    char amount[UNITS_TEXT];

    HQ_TRY(weights_of(t, "svg", &own, &f.column));
    f.old = column_of(t, "old", t->columns.data[f.column].name);
    f.delta = column_of(t, "delta", t->columns.data[f.column].name);
    if (f.old == SIZE_MAX || f.delta == SIZE_MAX)
        f.old = f.delta = SIZE_MAX;
    f.total = whole_of(&f);

    const char *as = strstr(t->query, " as svg");
    AUTO_FREE char *question = xstrndup(t->query, as ? (size_t)(as - t->query) : strlen(t->query));
    double bottom = TOP + (depth_of(t) + 1) * LEVEL + 8, height = bottom + 24;

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%g\" viewBox=\"0 0 %d %g\" "
            "font-family=\"monospace\" font-size=\"11.5\">\n",
            WIDTH, height, WIDTH, height);
    fputs("<style>.b{cursor:pointer}rect:hover{stroke:#000}.hit rect{stroke:#a0f;stroke-width:2}.b "
          "text{pointer-events:none}</style>\n<rect width=\"100%\" height=\"100%\" "
          "fill=\"#fff\"/>\n"
          "<text x=\"8\" y=\"20\" font-size=\"14\">",
          out);
    put_escaped(question, out);
    units_format(amount, f.total, t->columns.data[f.column].dim);
    fprintf(out, ": %s of ", amount);
    put_escaped(t->columns.data[f.column].name, out);
    fprintf(out, "</text>\n<text id=\"told\" x=\"%d\" y=\"20\" text-anchor=\"end\" cursor=\"pointer\"></text>\n",
            WIDTH - 8);
    if (f.total > 0)
        put_boxes(&f);
    put_legend(&f, bottom);
    /* Its own text has no end of such a section. */
    fputs("<script><![CDATA[\n", out);
    fwrite(flame_program().data, 1, flame_program().bytes, out);
    fputs("]]></script>\n</svg>\n", out);
    return NULL;
}
