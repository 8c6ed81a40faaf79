/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bar for each row, or for more rows than can be read one below the other columns side by side, each as high as the
 * largest of the rows that it stands for. Of ranks and threads what is more than a tenth above the mean, and more than
 * chance gives, is orange; procedures have their colours.
 */
#include "query/output/bars.h"
#include "common/mem.h"
#include "query/output/number.h"
#include "common/shorten.h"
#include "query/output/text.h"
#include "query/picture/palette.h"
#include "query/picture/picture.h"
#include <math.h>
#include <string.h>

enum {
    WIDTH = 960,
    TOP = 50,
    LINE = 18,
    NAME_COLUMNS = 40,
    LETTER = 7,
    HEIGHT = 260,
    AXIS = 90,
    VALUE = 60
}; /* pixels; NAME_COLUMNS letters */
#define USUAL 0x0072b2
#define ABOVE 0xd55e00

static size_t column_of(const struct table *t)
{
    for (size_t c = 0; c < t->columns.len; c++)
        if (t->columns.data[c].type == COLUMN_NUMBER && strcmp(t->columns.data[c].name, "start"))
            return c;
    return t->columns.len;
}

bool bars_take(struct bars *b, const struct table *t, const struct output_options *o, FILE *out)
{
    double sum = 0;

    *b = (struct bars){.t = t, .o = o, .out = out, .column = column_of(t)};
    if (b->column == t->columns.len)
        return false;
    b->style = number_style_of(t, b->column);

    vec_foreach(r, &b->t->rows) {
        double x = r->cells[b->column].number;

        if (r->flags & ROW_FOLDED)
            continue;
        vec_push(&b->rows, (const struct row *)r);
        if (!isfinite(x))
            continue;
        b->largest = fmax(b->largest, fabs(x));
        if (r->flags & ROW_ASIDE) {
            b->aside++;
            continue;
        }
        b->counted++;
        sum += x;
    }
    b->mean = b->counted ? sum / (double)b->counted : 0;
    return true;
}

static double value_of(const struct bars *b, size_t row)
{
    double x = b->rows.data[row]->cells[b->column].number;

    return isfinite(x) ? x : 0;
}

static void put_escaped(const char *text, FILE *out)
{
    AUTO_STR struct str escaped = {0};

    xml_escape(&escaped, text);
    fwrite(str_cstr(&escaped), 1, escaped.len, out);
}

static void put_value(const struct bars *b, double value)
{
    char digits[NUMBER_MAX];
    const char *unit = number_text(digits, &b->style, value);

    fprintf(b->out, "%s%s%s", *digits ? digits : "0", *unit ? " " : "", unit);
}

static void put_tooltip(const struct bars *b, size_t row)
{
    char own[ROW_NAME_MAX];

    fputs("<title>", b->out);
    put_escaped(row_name(b->rows.data[row], own), b->out);
    fputs("\n", b->out);
    put_value(b, value_of(b, row));
    fputs("</title>", b->out);
}

/* Threads and visits are alike: what is above their mean says something. Procedures contain each other. */
static bool are_alike(const struct bars *b)
{
    return b->rows.len > 1 && (b->rows.data[0]->kind == SCOPE_THREAD || b->rows.data[0]->kind == SCOPE_ROOT);
}

/* By chance a value lies within 1.96 standard deviations of the mean's samples. */
static double chance(const struct bars *b)
{
    return b->mean > 0 ? 1.96 * sqrt(b->mean * b->t->columns.data[b->column].sample) : 0;
}

static double above_from(const struct bars *b)
{
    return b->mean + fmax(0.1 * b->mean, chance(b));
}

static uint32_t colour_of(const struct bars *b, size_t row)
{
    const struct row *r = b->rows.data[row];
    char own[ROW_NAME_MAX];

    if (!are_alike(b))
        return palette_colour(row_name(r, own), r->tint);
    return value_of(b, row) > above_from(b) ? ABOVE : USUAL;
}

/* ---- a line for each row ---- */

static void put_rows(const struct bars *b)
{
    double left = 8 + NAME_COLUMNS * LETTER, room = WIDTH - left - 110;
    bool mean = b->mean > 0 && are_alike(b);
    double dashed = mean ? left + b->mean / b->largest * room : 0;

    for (size_t i = 0; i < b->rows.len; i++) {
        double y = TOP + (double)i * LINE, share = b->largest > 0 ? fabs(value_of(b, i)) / b->largest : 0;
        char own[ROW_NAME_MAX];
        AUTO_STR struct str name = {0};

        name_shorten(&name, row_name(b->rows.data[i], own), NAME_COLUMNS, "\xe2\x80\xa6");
        fputs("<g>", b->out);
        put_tooltip(b, i);
        fprintf(b->out, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">", left - 6, y + 12);
        put_escaped(str_cstr(&name), b->out);
        fprintf(b->out, "</text><rect x=\"%g\" y=\"%g\" width=\"%.1f\" height=\"%d\" fill=\"#%06x\"%s/>", left, y,
                share * room, LINE - 4, colour_of(b, i), value_of(b, i) < 0 ? " fill-opacity=\"0.5\"" : "");
        /* Behind the dashed line where that would go through it. */
        double at = left + share * room;

        fprintf(b->out, "<text x=\"%.1f\" y=\"%g\">", (dashed >= at && dashed < at + VALUE ? dashed : at) + 5, y + 12);
        if (isfinite(b->rows.data[i]->cells[b->column].number))
            put_value(b, value_of(b, i));
        fputs("</text></g>\n", b->out);
    }
    if (mean)
        fprintf(b->out, "<path d=\"M%.1f %d v%zu\" stroke=\"#000\" stroke-dasharray=\"5 4\"/>\n", dashed, TOP - 4,
                b->rows.len * LINE + 4);
}

/* ---- a column for each row, or for several ---- */

static void put_scale(const struct bars *b, double room)
{
    double step = picture_step(0, b->largest, 5);

    for (double v = 0; v <= b->largest * 1.0001; v += step) {
        double y = TOP + HEIGHT * (1 - v / b->largest);

        fprintf(b->out, "<path d=\"M%d %.1fh%g\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", AXIS,
                y, room, AXIS - 6, y + 4);
        put_value(b, v);
        fputs("</text>\n", b->out);
    }
}

static void put_columns(const struct bars *b)
{
    double room = WIDTH - AXIS - 20;
    size_t n = b->rows.len, columns = n < (size_t)room ? n : (size_t)room;
    char own[ROW_NAME_MAX];

    put_scale(b, room);
    for (size_t c = 0; c < columns; c++) {
        size_t most = c * n / columns;

        for (size_t i = most; i < (c + 1) * n / columns; i++)
            most = value_of(b, i) > value_of(b, most) ? i : most;
        double high = fmax(0, value_of(b, most) / b->largest * HEIGHT), wide = room / (double)columns;

        fputs("<g>", b->out);
        put_tooltip(b, most);
        fprintf(b->out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"#%06x\"/></g>\n",
                AXIS + (double)c * wide, TOP + HEIGHT - high, wide, high, colour_of(b, most));
    }
    if (b->mean > 0 && are_alike(b))
        fprintf(b->out, "<path d=\"M%d %.1fh%g\" stroke=\"#000\" stroke-dasharray=\"5 4\"/>\n", AXIS,
                TOP + HEIGHT * (1 - b->mean / b->largest), room);
    fprintf(b->out, "<text x=\"%d\" y=\"%d\">", AXIS, TOP + HEIGHT + 18);
    put_escaped(row_name(b->rows.data[0], own), b->out);
    fputs(" to ", b->out);
    put_escaped(row_name(b->rows.data[n - 1], own), b->out);
    if (columns < n)
        fprintf(b->out, "; a column is the largest of up to %zu rows", (n + columns - 1) / columns);
    fputs("</text>\n", b->out);
}

/* ---- the whole ---- */

static void put_heading(const struct bars *b)
{
    const char *as = strstr(b->t->query, " as svg");
    AUTO_FREE char *question = xstrndup(b->t->query, as ? (size_t)(as - b->t->query) : strlen(b->t->query));

    fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"8\" y=\"20\" font-size=\"14\">", b->out);
    put_escaped(question, b->out);
    fputs(": ", b->out);
    put_escaped(b->t->columns.data[b->column].name, b->out);
    fputs("</text>\n<text x=\"8\" y=\"38\">", b->out);
    fprintf(b->out, "%zu row%s", b->rows.len, b->rows.len == 1 ? "" : "s");
    if (are_alike(b)) {
        fprintf(b->out, ", mean %s(dashed) ",
                b->aside                   ? "of the program's own "
                : b->counted < b->rows.len ? "of those with a value "
                                           : "");
        put_value(b, b->mean);
        if (b->mean > 0 && b->largest > above_from(b))
            fprintf(b->out, "; orange is more than 1.1 times that%s",
                    chance(b) > 0.1 * b->mean ? " and than chance" : "");
    }
    fputs("</text>\n", b->out);
}

struct hq_error *bars_write(const struct table *t, const struct output_options *o, FILE *out)
{
    struct bars b;

    if (t->facts || !bars_take(&b, t, o, out))
        return hq_error_new(HQ_USAGE, "svg is for rows with numbers and for pictures of traces: `%s` has none",
                            t->view);
    bool columns = b.rows.len > BARS_MOST && b.largest > 0;
    size_t height = columns ? TOP + HEIGHT + 30 : TOP + b.rows.len * LINE + 12;

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" viewBox=\"0 0 %d %zu\""
            " font-family=\"sans-serif\" font-size=\"12\">\n<style>rect:hover{stroke:#000}</style>\n",
            WIDTH, height, WIDTH, height);
    put_heading(&b);
    if (columns)
        put_columns(&b);
    else
        put_rows(&b);
    fputs("</svg>\n", out);
    vec_deinit(&b.rows);
    return NULL;
}
