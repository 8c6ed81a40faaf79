/* SPDX-License-Identifier: BSD-3-Clause */
/* `as svg` of a chart (query/picture/chart.h): one file that needs no other, names as tooltips, the legend below the
 * title of each panel.
 */
#include "query/output/chart.h"
#include "common/str.h"
#include "query/picture/palette.h"
#include "query/picture/picture.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEFT = 80, WIDTH = 760, RIGHT = 90, TOP = 40, PANEL = 190, BETWEEN = 46, BAND = 20, LEGEND_ROW = 17 };
enum { LEGEND_NAMES = 11, FEW = 100 /* points, which are drawn larger */ };
static const double LETTER = 6.5; /* pixels, about */

struct scale {
    double from, to;   /* values */
    double begin, end; /* pixels */
};

static double pixel(const struct scale *s, double value)
{
    return s->begin + (s->to > s->from ? (value - s->from) / (s->to - s->from) : 0.5) * (s->end - s->begin);
}

static void put_text(const char *text, FILE *out)
{
    AUTO_STR struct str escaped = {0};

    xml_escape(&escaped, text);
    fwrite(str_cstr(&escaped), 1, escaped.len, out);
}

/* Bytes of the beginning of a text that takes at most so many columns. */
static size_t prefix(const char *text, size_t columns)
{
    size_t n = 0, next;

    while (text[n]) {
        for (next = n + 1; ((unsigned char)text[next] & 0xc0) == 0x80;)
            next++;
        if (utf8_width_n(text, next) > columns)
            break;
        n = next;
    }
    return n;
}

/* As much of a text as has room, with a mark where it was cut. */
static void put_within(const char *text, double room, FILE *out)
{
    AUTO_STR struct str shown = {0};
    size_t most = (size_t)fmax(room / LETTER, 2);
    bool whole = utf8_width(text) <= most;

    str_addn(&shown, text, whole ? strlen(text) : prefix(text, most - 1));
    if (!whole)
        str_add(&shown, "…");
    put_text(str_cstr(&shown), out);
}

/* A mark of an axis; marks `step` apart do not read alike. */
static void put_value(double value, double step, enum dim dim, FILE *out)
{
    char text[UNITS_TEXT], next[UNITS_TEXT];

    units_format(text, value, dim);
    units_format(next, value + step, dim);
    if (dim == DIM_NONE && step < 1 && !strcmp(text, next))
        snprintf(text, sizeof text, "%.*f", (int)fmin(ceil(-log10(step) - 1e-9), 9), value);
    put_text(text, out);
}

static void widen(struct scale *s, const double *values, size_t n)
{
    for (size_t i = 0; values && i < n; i++) {
        if (!isfinite(values[i]))
            continue;
        s->from = fmin(s->from, values[i]);
        s->to = fmax(s->to, values[i]);
    }
}

static struct scale y_scale(const struct chart_panel *p, const struct chart_series *one, double top, double height)
{
    struct scale s = {INFINITY, -INFINITY, top + height, top};

    for (size_t i = 0; i < p->series_count; i++) {
        const struct chart_series *x = &p->series[i];

        if (one && x != one)
            continue;
        widen(&s, x->y, x->count);
        widen(&s, x->low, x->count);
        widen(&s, x->high, x->count);
        if (x->top > 0)
            widen(&s, &x->top, 1);
    }
    if (p->own_scales)
        s.from = fmin(s.from, 0);
    if (!(s.from <= s.to))
        s.from = 0, s.to = 1;
    return s;
}

/* Marks at the left of the panel, or at the right, `least` apart or more. */
static void put_y_axis(const struct scale *s, double least, enum dim dim, uint32_t colour, bool right, FILE *out)
{
    double step = fmax(picture_step(s->from, s->to, 5), least), x = right ? LEFT + WIDTH : LEFT;

    fprintf(out, "<path d=\"M%g %gV%g\" stroke=\"#%06x\"/>\n<g text-anchor=\"%s\" fill=\"#%06x\">\n", x, s->begin,
            s->end, colour, right ? "start" : "end", colour);
    for (double v = ceil(s->from / step) * step; step > 0 && v <= s->to + step * 1e-9; v += step) {
        double y = pixel(s, v);

        fprintf(out, "<path d=\"M%g %.1fh%d\" stroke=\"#%06x\"/><text x=\"%g\" y=\"%.1f\">", x, y, right ? 5 : -5,
                colour, x + (right ? 9 : -9), y + 4);
        put_value(fabs(v) < step * 1e-9 ? 0 : v, step, dim, out);
        fputs("</text>\n", out);
    }
    fputs("</g>\n", out);
}

static void put_x_axis(const struct chart *c, const struct scale *s, double y, bool named, FILE *out)
{
    double step = picture_step(s->from, s->to, 8);

    fprintf(out, "<path d=\"M%d %.1fh%d\" stroke=\"#888\"/>\n<g text-anchor=\"middle\">\n", LEFT, y, WIDTH);
    for (double v = ceil(s->from / step) * step; step > 0 && v <= s->to + step * 1e-9; v += step) {
        fprintf(out, "<path d=\"M%.1f %.1fv5\" stroke=\"#888\"/>", pixel(s, v), y);
        if (!named)
            continue;
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", pixel(s, v), y + 18);
        put_value(fabs(v) < step * 1e-9 ? 0 : v, step, c->x_dim, out);
        fputs("</text>\n", out);
    }
    if (named) {
        fprintf(out, "<text x=\"%d\" y=\"%.1f\">", LEFT + WIDTH / 2, y + 36);
        put_text(c->x_name, out);
        fputs("</text>", out);
    }
    fputs("</g>\n", out);
}

static void put_line(const struct chart_series *s, const struct scale *x, const struct scale *y, FILE *out)
{
    if (s->low && s->high) {
        fprintf(out, "<path fill=\"#%06x\" fill-opacity=\"0.2\" d=\"", s->colour);
        for (size_t i = 0; i < s->count; i++)
            if (isfinite(s->low[i]))
                fprintf(out, "%s%.1f %.1f", i ? "L" : "M", pixel(x, s->x[i]), pixel(y, s->low[i]));
        for (size_t i = s->count; i-- > 0;)
            if (isfinite(s->high[i]))
                fprintf(out, "L%.1f %.1f", pixel(x, s->x[i]), pixel(y, s->high[i]));
        fputs("\"/>\n", out);
    }
    fprintf(out, "<path fill=\"none\" stroke=\"#%06x\" stroke-width=\"1.5\" d=\"", s->colour);
    for (size_t i = 0; i < s->count; i++)
        if (isfinite(s->y[i]))
            fprintf(out, "%s%.1f %.1f", i ? "L" : "M", pixel(x, s->x[i]), pixel(y, s->y[i]));
    fputs("\"/>\n", out);
}

static void put_points(const struct chart_series *s, const struct scale *x, const struct scale *y, FILE *out)
{
    fprintf(out, "<g fill=\"#%06x\" fill-opacity=\"0.6\"><title>", s->colour);
    put_text(s->name, out);
    fputs("</title>", out);
    for (size_t i = 0; i < s->count; i++)
        if (isfinite(s->x[i]) && isfinite(s->y[i]))
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"/>", pixel(x, s->x[i]), pixel(y, s->y[i]),
                    s->count > FEW ? 1.6 : 3);
    fputs("</g>\n", out);
}

static void put_bands(const struct chart_panel *p, const struct scale *x, double top, double height, FILE *out)
{
    uint32_t levels = 1;

    for (size_t i = 0; i < p->band_count; i++)
        levels = p->bands[i].level + 1 > levels ? p->bands[i].level + 1 : levels;
    double row = p->series_count ? height : height / levels;

    for (size_t i = 0; i < p->band_count; i++) {
        const struct chart_band *b = &p->bands[i];
        double left = pixel(x, b->from), width = pixel(x, b->to) - left,
               y = top + (p->series_count ? 0 : b->level) * row;

        fprintf(out, "<g><title>");
        put_text(b->name, out);
        fprintf(out, "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%06x\"%s/>", left, y,
                width, row, b->colour, p->series_count ? " fill-opacity=\"0.15\"" : " stroke=\"#fff\"");
        if (!p->series_count && width > 30) {
            fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" fill=\"#%06x\">", left + 4, y + row / 2 + 4,
                    palette_ink(b->colour));
            put_within(b->name, width, out);
            fputs("</text>", out);
        }
        fputs("</g>\n", out);
    }
}

/* The names in rows as wide as the panel, from `top` on; returns how many rows there are. out may be NULL. */
static unsigned put_legend(const struct chart_panel *p, double top, FILE *out)
{
    double x = 0;
    unsigned row = 0;

    for (size_t i = 0; i < p->series_count && i < LEGEND_NAMES; i++) {
        const char *name = p->series[i].name;
        double width = fmin(18 + (double)utf8_width(name) * LETTER + 14, WIDTH);

        if (x > 0 && x + width > WIDTH) {
            x = 0;
            row++;
        }
        if (out) {
            double y = top + row * LEGEND_ROW;

            fprintf(out, "<g><title>");
            put_text(name, out);
            fprintf(out,
                    "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"10\" fill=\"#%06x\"/>"
                    "<text x=\"%.1f\" y=\"%.1f\">",
                    LEFT + x, y, p->series[i].colour, LEFT + x + 18, y + 9);
            put_within(name, width - 18, out);
            fputs("</text></g>\n", out);
        }
        x += width;
    }
    return p->series_count ? row + 1 : 0;
}

static double legend_height(const struct chart_panel *p)
{
    return put_legend(p, 0, NULL) * LEGEND_ROW;
}

static void put_panel(const struct chart_panel *p, const struct scale *x, double top, double height, FILE *out)
{
    double legend = legend_height(p);

    fprintf(out, "<text x=\"%d\" y=\"%.1f\" font-weight=\"bold\">", LEFT, top - legend - 8);
    put_within(p->title, WIDTH, out);
    fputs("</text>\n", out);
    put_legend(p, top - legend, out);
    put_bands(p, x, top, height, out);
    for (size_t i = 0; i < p->series_count; i++) {
        const struct chart_series *s = &p->series[i];
        struct scale y = y_scale(p, p->own_scales ? s : NULL, top, height);

        if (!i || (p->own_scales && i == 1))
            put_y_axis(&y, p->whole, s->dim, p->own_scales ? s->colour : 0x666666, i == 1, out);
        (s->line ? put_line : put_points)(s, x, &y, out);
    }
}

static double height_of(const struct chart_panel *p)
{
    uint32_t levels = 1;

    for (size_t i = 0; i < p->band_count && !p->series_count; i++)
        levels = p->bands[i].level + 1 > levels ? p->bands[i].level + 1 : levels;
    return p->series_count ? PANEL : BAND * levels;
}

static struct scale x_scale(const struct chart *c)
{
    struct scale s = {c->from, c->to, LEFT, LEFT + WIDTH};

    if (c->to > c->from)
        return s;
    s.from = INFINITY, s.to = -INFINITY;
    for (size_t k = 0; k < c->panel_count; k++)
        for (size_t i = 0; i < c->panels[k].series_count; i++)
            widen(&s, c->panels[k].series[i].x, c->panels[k].series[i].count);
    if (!(s.from <= s.to))
        s.from = 0, s.to = 1;
    return s;
}

struct hq_error *chart_write(const struct chart *c, FILE *out)
{
    struct scale x = x_scale(c);
    double height = TOP, top = TOP + 20;

    for (size_t i = 0; i < c->panel_count; i++)
        height += legend_height(&c->panels[i]) + height_of(&c->panels[i]) + BETWEEN;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%g\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text x=\"8\" y=\"20\" font-size=\"14\">",
            LEFT + WIDTH + RIGHT, height + 30);
    put_within(c->title, LEFT + WIDTH + RIGHT - 80, out);
    fputs("</text>\n", out);
    for (size_t i = 0; i < c->panel_count; i++) {
        double tall = height_of(&c->panels[i]);

        top += legend_height(&c->panels[i]);
        put_panel(&c->panels[i], &x, top, tall, out);
        put_x_axis(c, &x, top + tall, i + 1 == c->panel_count, out);
        top += tall + BETWEEN;
    }
    fputs("</svg>\n", out);
    return NULL;
}
