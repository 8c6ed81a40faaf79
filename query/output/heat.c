/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/heat.h"

#include "common/str.h"
#include "query/output/number.h"
#include <math.h>
#include <string.h>

enum { LEFT = 64, TOP = 56, SIDE = 640, LARGEST_CELL = 40, SCALE_STEPS = 5 };

struct heat {
    const struct table *t;
    FILE *out;
    size_t sender, receiver, column;
    uint32_t ranks; /* 0 to the highest one */
    double cell;    /* pixels */
    double least, most;
};

static bool find_column(const struct table *t, const char *name, size_t *found)
{
    for (size_t i = 0; i < t->columns.len; i++)
        if (t->columns.data[i].type == COLUMN_NUMBER && !t->columns.data[i].metric &&
            !strcmp(t->columns.data[i].name, name)) {
            *found = i;
            return true;
        }
    return false;
}

bool heat_is_for(const struct table *t)
{
    return !strcmp(t->view, "messages");
}

static bool is_shown(const struct heat *h, const struct row *row)
{
    return !(row->flags & ROW_FOLDED) && isfinite(row->cells[h->column].number) &&
           isfinite(row->cells[h->sender].number) && isfinite(row->cells[h->receiver].number);
}

static void look(struct heat *h)
{
    h->least = INFINITY;
    h->most = 0;
    vec_foreach(row, &h->t->rows) {
        double x = row->cells[h->column].number;

        if (!is_shown(h, row))
            continue;
        h->ranks = (uint32_t)fmax(h->ranks, fmax(row->cells[h->sender].number, row->cells[h->receiver].number) + 1);
        h->most = fmax(h->most, x);
        h->least = x > 0 ? fmin(h->least, x) : h->least;
    }
    h->cell = h->ranks ? fmin(LARGEST_CELL, (double)SIDE / h->ranks) : LARGEST_CELL;
}

/* From 0, the least that is more than nothing, to 1, the most. */
static double depth_of(const struct heat *h, double x)
{
    return x <= 0 ? 0 : h->most > h->least ? log(x / h->least) / log(h->most / h->least) : 1;
}

/* From pale yellow to dark red. */
static unsigned colour_of(double depth)
{
    static const unsigned char stops[][3] = {{255, 247, 200}, {253, 187, 99}, {227, 74, 51}, {110, 0, 30}};
    double at = depth * 3;
    int i = at >= 3 ? 2 : (int)at;
    unsigned colour = 0;

    for (int k = 0; k < 3; k++)
        colour = colour << 8 | (unsigned)lround(stops[i][k] + (at - i) * (stops[i + 1][k] - stops[i][k]));
    return colour;
}

static void put_text(const char *text, FILE *out)
{
    AUTO_STR struct str escaped = {0};

    xml_escape(&escaped, text);
    fwrite(str_cstr(&escaped), 1, escaped.len, out);
}

static void put_number(const struct heat *h, struct number_style style, double x)
{
    char text[NUMBER_MAX];
    const char *unit;

    style.zero = true;
    unit = number_text(text, &style, x);
    fprintf(h->out, "%s%s%s", text, *unit ? " " : "", unit);
}

static void put_value(const struct heat *h, size_t column, double x)
{
    put_number(h, number_style_of(h->t, column), x);
}

/* All columns of a row, as the tooltip of its cell. */
static void put_cell(const struct heat *h, const struct row *row)
{
    fputs("<g><title>", h->out);
    put_text(row->name, h->out);
    for (size_t i = 0; i < h->t->columns.len; i++) {
        const struct column *c = &h->t->columns.data[i];

        if (c->type != COLUMN_NUMBER || i == h->sender || i == h->receiver || !isfinite(row->cells[i].number))
            continue;
        fputc('\n', h->out);
        put_text(c->name, h->out);
        fputc(' ', h->out);
        put_value(h, i, row->cells[i].number);
    }
    fprintf(h->out, "</title><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%06x\"/></g>\n",
            LEFT + row->cells[h->receiver].number * h->cell, TOP + row->cells[h->sender].number * h->cell, h->cell,
            h->cell, colour_of(depth_of(h, row->cells[h->column].number)));
}

static void put_ranks(const struct heat *h)
{
    uint32_t every = 1;

    while (every * h->cell < 18)
        every *= every == 1 || every == 10 || every == 100 || every == 1000 ? 2 : 5;
    for (uint32_t r = 0; r < h->ranks; r += every) {
        double middle = (r + 0.5) * h->cell;

        fprintf(h->out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%u</text>", LEFT - 6, TOP + middle + 4, r);
        fprintf(h->out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%u</text>\n", LEFT + middle, TOP - 6, r);
    }
}

static void put_scale(const struct heat *h, double y)
{
    for (int i = 0; i < SCALE_STEPS && h->most > 0; i++) {
        double depth = (double)i / (SCALE_STEPS - 1), x = h->least * pow(h->most / h->least, depth);

        if (i && h->most <= h->least)
            break;
        fprintf(h->out,
                "<rect x=\"%d\" y=\"%.1f\" width=\"14\" height=\"12\" fill=\"#%06x\"/><text x=\"%d\" y=\"%.1f\">",
                LEFT + i * 110, y, colour_of(depth_of(h, x)), LEFT + i * 110 + 20, y + 10);
        /* Each in its own unit: they differ by powers of ten. */
        put_number(h, number_style_for(h->t->columns.data[h->column].dim, x, x == floor(x)), x);
        fputs("</text>\n", h->out);
    }
}

struct hq_error *heat_write(const struct table *t, FILE *out)
{
    struct heat h = {.t = t, .out = out};

    if (!find_column(t, "sender", &h.sender) || !find_column(t, "receiver", &h.receiver))
        return hq_error_new(HQ_USAGE, "a heat map needs the columns sender and receiver: add them behind `columns`");
    for (h.column = 0; h.column < t->columns.len; h.column++)
        if (t->columns.data[h.column].type == COLUMN_NUMBER && h.column != h.sender && h.column != h.receiver)
            break;
    if (h.column == t->columns.len)
        return hq_error_new(HQ_USAGE,
                            "a heat map needs a column that it shows: add bytes or messages behind `columns`");
    look(&h);

    double side = h.ranks * h.cell, width = LEFT + fmax(side, SCALE_STEPS * 110) + 16, height = TOP + side + 48;

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\""
            " font-family=\"sans-serif\" font-size=\"12\">\n<style>rect:hover{stroke:#000}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"8\" y=\"20\" font-size=\"14\">",
            width, height, width, height);
    put_text(t->columns.data[h.column].name, out);
    fputs(" from each rank (down) to each rank (across)</text>\n", out);
    put_ranks(&h);
    fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" stroke=\"#888\"/>\n", LEFT, TOP,
            side, side);
    vec_foreach(row, &t->rows)
        if (is_shown(&h, row))
            put_cell(&h, row);
    put_scale(&h, TOP + side + 20);
    fputs("</svg>\n", out);
    return NULL;
}
