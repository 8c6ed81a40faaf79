/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `as plot`: the first number of each row as a bar, in blocks of eighths of a character; of more rows than a screen
 * has, columns side by side, each as high as the largest of the rows that it stands for. For `threads`, `iterations`
 * and ranked lists.
 */
#include "common/mem.h"
#include "query/output/bars.h"
#include "query/output/formats.h"
#include "query/output/number.h"
#include "query/output/text.h"
#include <math.h>
#include <string.h>

enum { WIDTH = 80, NAME_MOST = 40, HEIGHT = 10 };

static const char *const across[] = {"",       "\u258f", "\u258e", "\u258d", "\u258c",
                                     "\u258b", "\u258a", "\u2589", "\u2588"};
static const char *const upward[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                     "\u2585", "\u2586", "\u2587", "\u2588"};

static double value_of(const struct bars *p, size_t row)
{
    return p->rows.data[row]->cells[p->column].number;
}

static const char *text_of(const struct bars *p, double value, char text[2 * NUMBER_MAX])
{
    char digits[NUMBER_MAX];
    const char *unit = number_text(digits, &p->style, value);

    snprintf(text, 2 * NUMBER_MAX, "%s%s%s", *digits ? digits : isnan(value) ? "" : "0", *unit ? " " : "", unit);
    return text;
}

static void put(const char *text, unsigned times, FILE *out)
{
    while (times--)
        fputs(text, out);
}

/* ---- a line for each row ---- */

static void put_bar(const struct bars *p, double value, size_t width)
{
    double share = p->largest > 0 && isfinite(value) ? fabs(value) / p->largest : 0;
    unsigned eighths = (unsigned)lround(share * (double)width * 8);
    /* Bars of negative values are lighter than those of positive ones. */
    const char *full = !p->o->utf8 ? (value < 0 ? "-" : "#") : value < 0 ? "\u2591" : across[8];

    put(full, eighths / 8, p->out);
    if (p->o->utf8 && value > 0)
        fputs(across[eighths % 8], p->out);
}

static void put_bars(const struct bars *p)
{
    size_t width = p->o->width ? p->o->width : WIDTH, name = 0, number = 0;
    char text[2 * NUMBER_MAX], own[ROW_NAME_MAX];

    for (size_t i = 0; i < p->rows.len; i++) {
        size_t w = utf8_width(row_name(p->rows.data[i], own)), n = strlen(text_of(p, value_of(p, i), text));

        name = w > name ? w : name;
        number = n > number ? n : number;
    }
    name = name < NAME_MOST ? name : NAME_MOST;
    size_t room = width > name + number + 14 ? width - name - number - 4 : 10;

    for (size_t i = 0; i < p->rows.len; i++) {
        size_t used = text_put_short(row_name(p->rows.data[i], own), name, p->o->utf8, p->out);

        fprintf(p->out, "%*s  %*s  ", (int)(name - used), "", (int)number, text_of(p, value_of(p, i), text));
        put_bar(p, value_of(p, i), room);
        fputc('\n', p->out);
    }
}

/* ---- a column for each row, or for several ---- */

static double highest(const struct bars *p, size_t from, size_t to)
{
    double most = 0;

    for (size_t i = from; i < to; i++)
        most = value_of(p, i) > most ? value_of(p, i) : most;
    return most;
}

/* The first or the last name: two of them share a line of a terminal. */
static void put_end(const struct bars *p, const struct row *r, size_t left)
{
    char own[ROW_NAME_MAX];
    size_t room = p->o->width > left + 24 ? (p->o->width - left - 4) / 2 : 10;

    text_put_short(row_name(r, own), p->o->width ? room : SIZE_MAX, p->o->utf8, p->out);
}

static void put_columns(const struct bars *p)
{
    size_t width = p->o->width ? p->o->width : WIDTH, n = p->rows.len, label;
    char text[2 * NUMBER_MAX];

    label = strlen(text_of(p, p->largest, text));
    size_t columns = width > label + 12 ? width - label - 2 : 10;

    columns = columns < n ? columns : n;
    for (unsigned line = HEIGHT; line-- > 0;) {
        fprintf(p->out, "%*s  ", (int)label, line == HEIGHT - 1 ? text_of(p, p->largest, text) : line ? "" : "0");
        for (size_t c = 0; c < columns; c++) {
            double share = highest(p, c * n / columns, (c + 1) * n / columns) / p->largest * HEIGHT - line;
            unsigned eighths = share >= 1 ? 8 : share <= 0 ? 0 : (unsigned)lround(share * 8);

            fputs(p->o->utf8 ? upward[eighths] : eighths >= 4 ? "#" : " ", p->out);
        }
        fputc('\n', p->out);
    }
    fprintf(p->out, "%*s  ", (int)label, "");
    put_end(p, p->rows.data[0], label + 2);
    fputs(" to ", p->out);
    put_end(p, p->rows.data[n - 1], label + 2);
    fputc('\n', p->out);
    if (columns < n)
        fprintf(p->out, "%*s  a column is the largest of up to %zu rows\n", (int)label, "",
                (n + columns - 1) / columns);
}

/* ---- the whole ---- */

static void put_heading(const struct bars *p)
{
    char text[2 * NUMBER_MAX];
    double sum = 0, least = INFINITY, most = -INFINITY;
    size_t n = 0;

    for (size_t i = 0; i < p->rows.len; i++) {
        double x = value_of(p, i);

        if (isnan(x) || p->rows.data[i]->flags & ROW_ASIDE)
            continue;
        n++;
        sum += x;
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    text_put(p->t->columns.data[p->column].name, p->o->utf8, p->out);
    if (n) {
        fprintf(p->out, " of %zu row%s: least %s", n, n == 1 ? "" : "s", text_of(p, least, text));
        fprintf(p->out, ", mean %s", text_of(p, sum / (double)n, text));
        fprintf(p->out, ", largest %s", text_of(p, most, text));
        if (p->aside)
            fprintf(p->out, "\nleft out: %zu of launchers and helpers", p->aside);
    }
    fputc('\n', p->out);
}

struct hq_error *plot_write(const struct table *t, const struct output_options *o, FILE *out)
{
    struct bars p;

    if (t->facts || t->picture || !bars_take(&p, t, o, out))
        return hq_error_new(HQ_USAGE, "plot is for rows with numbers: threads, iterations, procedures; `trace` is a "
                                      "picture already");
    put_heading(&p);
    if (p.rows.len > BARS_MOST && p.largest > 0)
        put_columns(&p);
    else
        put_bars(&p);
    vec_deinit(&p.rows);
    return NULL;
}
