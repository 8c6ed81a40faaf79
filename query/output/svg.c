/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `as svg`: the picture of a trace as one file that needs no other: the cells are an embedded PNG, and invisible
 * rectangles over it, one for each of the largest regions, show the call path when the mouse is on them.
 */
#include "query/output/bars.h"
#include "query/output/formats.h"
#include "query/output/axis.h"
#include "query/output/chart.h"
#include "query/output/flame.h"
#include "query/output/heat.h"
#include "query/output/png.h"
#include "query/output/regions.h"
#include "common/fit.h"
#include "common/str.h"
#include <math.h>

#define SVG_REGIONS 20000u
#define SVG_NAMES   40u

#define LETTER 6.6 /* as wide as most of 12 pixels are */

struct svg {
    const struct picture *p;
    FILE *out;
    double left, top; /* where the cells begin */
    double cell_width, cell_height;
    double width, height; /* of all cells */
};

struct legend {
    size_t names, more;     /* that it lists, and others */
    uint64_t filled, blank; /* cells */
};

static struct legend legend_of(const struct picture *p)
{
    size_t names = p->names.len < SVG_NAMES ? p->names.len : SVG_NAMES;
    struct legend l = {.names = names, .more = p->names.len - names};
    uint64_t all = picture_whole(p);

    vec_foreach(n, &p->names)
        l.filled += n->cells;
    l.blank = p->blank && l.filled < all ? all - l.filled : 0;
    return l;
}

static void put_text(const char *text, FILE *out)
{
    AUTO_STR struct str escaped = {0};

    xml_escape(&escaped, text);
    fwrite(str_cstr(&escaped), 1, escaped.len, out);
}

static struct svg lay_out(const struct picture *p, FILE *out)
{
    struct svg s = {.p = p, .out = out, .top = 34};
    size_t widest = 0;

    for (uint32_t y = 0; y < p->height; y++) {
        size_t w = p->labels[y] ? utf8_width(p->labels[y]) : 0;
        widest = w > widest ? w : widest;
    }
    s.left = 16 + LETTER * (double)(widest < 40 ? widest : 40);
    s.cell_width = p->width >= 600 || !p->width ? 1 : ceil(900.0 / p->width);
    s.cell_height = p->height >= 300 || !p->height ? 1 : fmin(24, ceil(300.0 / p->height));
    s.width = s.cell_width * p->width;
    s.height = s.cell_height * p->height;
    return s;
}

static void put_picture(const struct svg *s)
{
    AUTO_STR struct str png = {0};

    if (!s->p->width || !s->p->height)
        return;
    png_base64(&png, s->p, (uint32_t)s->cell_width, (uint32_t)s->cell_height);
    fprintf(s->out,
            "<image x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" preserveAspectRatio=\"none\""
            " style=\"image-rendering:pixelated\" href=\"data:image/png;base64,%s\"/>\n",
            s->left, s->top, s->width, s->height, str_cstr(&png));
}

static void put_labels(const struct svg *s)
{
    uint32_t every = (uint32_t)ceil(12 / s->cell_height);

    fputs("<g text-anchor=\"end\">\n", s->out);
    for (uint32_t y = 0; y < s->p->height; y += every) {
        if (!s->p->labels[y])
            continue;
        fprintf(s->out, "<text x=\"%g\" y=\"%g\">", s->left - 6, s->top + (y + 0.5) * s->cell_height + 4);
        put_text(s->p->labels[y], s->out);
        fputs("</text>\n", s->out);
    }
    fputs("</g>\n", s->out);
}

static void put_axis(const struct svg *s)
{
    struct axis a = axis_make(s->p, (unsigned)(s->width / 90) + 1);
    double time, y = s->top + s->height;

    fprintf(s->out, "<path d=\"M%g %gh%g\" stroke=\"#888\"/>\n<g text-anchor=\"middle\">\n", s->left, y + 0.5,
            s->width);
    for (unsigned i = 0; s->p->to > s->p->from && axis_mark(&a, i, &time); i++) {
        char text[NUMBER_MAX];
        double x = s->left + (time - s->p->from) / (s->p->to - s->p->from) * s->width;
        axis_text(text, &a, time);
        fprintf(s->out, "<path d=\"M%.1f %gv5\" stroke=\"#888\"/><text x=\"%.1f\" y=\"%g\">%s</text>\n", x, y, x,
                y + 18, text);
    }
    fputs("</g>\n", s->out);
}

/* The regions of a path share one tooltip. */
static void put_regions(const struct svg *s)
{
    struct regions r = regions_of(s->p, SVG_REGIONS);

    fprintf(s->out, "<g class=\"r\" transform=\"translate(%g %g) scale(%g %g)\">\n", s->left, s->top, s->cell_width,
            s->cell_height);
    for (size_t i = 0; i < r.len; i++) {
        const struct region *g = &r.data[i];
        const struct picture_item *item = &s->p->items.data[g->cell - 1];
        if (i == 0 || r.data[i - 1].cell != g->cell) {
            fputs(i ? "</g>\n<g><title>" : "<g><title>", s->out);
            put_text(item->path ? item->path : s->p->names.data[item->name].name, s->out);
            fputs("</title>", s->out);
        }
        fprintf(s->out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"/>", g->x, g->y, g->width, g->height);
    }
    fputs(r.len ? "</g>\n</g>\n" : "</g>\n", s->out);
    vec_deinit(&r);
}

/* One row; the share is left out where cells is UINT64_MAX. */
static void put_legend_row(const struct svg *s, double y, const char *box, uint64_t cells, const char *name)
{
    char percent[NUMBER_MAX] = "";
    AUTO_STR struct str shown = {0};

    if (cells != UINT64_MAX)
        percent_text(percent, (double)cells, (double)picture_whole(s->p), false);
    text_fit(&shown, name, s->width > 74 ? (size_t)((s->width - 74) / LETTER) : 0, "\xe2\x80\xa6");
    fprintf(s->out, "<rect x=\"%g\" y=\"%g\" width=\"14\" height=\"12\" %s/>", s->left, y, box);
    fprintf(s->out, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">", s->left + 64, y + 10);
    put_text(percent, s->out);
    fprintf(s->out, "</text><text x=\"%g\" y=\"%g\">", s->left + 74, y + 10);
    put_text(str_cstr(&shown), s->out);
    fputs("</text>\n", s->out);
}

/* As blocks.c has it: the names with most cells, how many others there are, and what blank cells are. */
static void put_legend(const struct svg *s, const struct legend *l)
{
    const struct picture *p = s->p;
    double y = s->top + s->height + 34;
    uint64_t rest = l->filled;
    char text[48];

    for (size_t i = 0; i < l->names; i++, y += 18) {
        const struct picture_name *n = &p->names.data[p->by_rank[i]];

        rest -= n->cells;
        snprintf(text, sizeof text, "fill=\"#%06x\"", n->colour);
        put_legend_row(s, y, text, n->cells, n->name);
    }
    if (l->more) {
        snprintf(text, sizeof text, "... %zu more", l->more);
        put_legend_row(s, y, "fill=\"none\"", p->nested ? UINT64_MAX : rest, text);
        y += 18;
    }
    if (l->blank)
        put_legend_row(s, y, "fill=\"none\" stroke=\"#999\"", l->blank, p->blank);
}

struct hq_error *svg_write(const struct table *t, const struct output_options *o, FILE *out)
{
    if (t->chart)
        return chart_write(t->chart, out);
    if (!t->picture && heat_is_for(t))
        return heat_write(t, out);
    if (!t->picture)
        return t->tree ? flame_write(t, o, out) : bars_write(t, o, out);
    const struct picture *p = t->picture;
    struct svg s = lay_out(p, out);
    struct legend legend = legend_of(p);
    double rows = (double)(legend.names + (legend.more > 0) + (legend.blank > 0));
    double width = s.left + s.width + 40, height = s.top + s.height + 44 + 18 * rows;

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\""
            " font-family=\"sans-serif\" font-size=\"12\">\n",
            width, height, width, height);
    fputs("<style>.r rect{fill:none;pointer-events:all}.r "
          "rect:hover{stroke:#000;vector-effect:non-scaling-stroke}</style>\n"
          "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"8\" y=\"20\" font-size=\"14\">",
          out);
    put_text(p->title, out);
    fputs("</text>\n", out);
    put_picture(&s);
    put_labels(&s);
    put_axis(&s);
    put_regions(&s);
    put_legend(&s, &legend);
    fputs("</svg>\n", out);
    return NULL;
}
