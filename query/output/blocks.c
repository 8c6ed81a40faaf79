/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/blocks.h"
#include "query/output/axis.h"
#include "query/output/paint.h"
#include "common/apart.h"
#include "query/output/text.h"
#include "common/mem.h"
#include <string.h>

#define LEGEND_NAMES 20u

static bool in_colour(const struct output_options *o)
{
    return o->colours >= COLOURS_256;
}

/* The nearest entry of the 6 x 6 x 6 cube of 256-colour terminals. */
static unsigned cube_entry(uint32_t colour)
{
    unsigned index = 16;

    for (int shift = 16, weight = 36; shift >= 0; shift -= 8, weight /= 6) {
        unsigned v = colour >> shift & 0xff;
        index += (unsigned)weight * (v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40);
    }
    return index;
}

static void ground_on(uint32_t colour, const struct output_options *o, FILE *out)
{
    if (o->colours == COLOURS_TRUE)
        fprintf(out, "\033[48;2;%u;%u;%um", colour >> 16, colour >> 8 & 0xff, colour & 0xff);
    else
        fprintf(out, "\033[48;5;%um", cube_entry(colour));
}

static char letter_of(const struct picture_name *n)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    return n->rank < sizeof letters - 1 ? letters[n->rank] : '#';
}

static void put_cells(const struct picture *p, uint32_t y, const struct output_options *o, FILE *out)
{
    const uint32_t *row = &p->cells[(size_t)y * p->width];
    uint32_t ground = 0, length = p->width;

    while (!in_colour(o) && length && !row[length - 1])
        length--;
    for (uint32_t x = 0; x < length; x++) {
        const struct picture_name *n = row[x] ? picture_shown(p, row[x]) : NULL;
        if (!in_colour(o)) {
            fputc(n ? letter_of(n) : ' ', out);
            continue;
        }
        uint32_t wanted = n ? n->colour | 0x1000000 : 0;
        if (wanted != ground && !wanted)
            fputs("\033[0m", out);
        else if (wanted != ground)
            ground_on(n->colour, o, out);
        ground = wanted;
        fputc(' ', out);
    }
    if (ground)
        fputs("\033[0m", out);
}

/* A line with + at the marks, and below it what they say, as far as there is room. */
static void put_axis(const struct picture *p, int left, FILE *out)
{
    struct axis a = axis_make(p, p->width >= 36 ? p->width / 12 : 3); /* of 3 one is there, wherever the time begins */
    AUTO_FREE char *line = xmalloc(p->width + 1), *says = xmalloc(p->width + NUMBER_MAX + 1);
    size_t end = 0;
    double time;

    memset(line, '-', p->width);
    memset(says, ' ', p->width + NUMBER_MAX);
    line[p->width] = 0;
    for (unsigned i = 0; axis_mark(&a, i, &time); i++) {
        char text[NUMBER_MAX];
        size_t x = p->to > p->from ? (size_t)((time - p->from) / (p->to - p->from) * p->width) : 0;
        axis_text(text, &a, time);
        /* The last one ends with the picture, which may be as wide as the terminal. */
        size_t len = strlen(text), at = x + len <= p->width || len > p->width ? x : p->width - len;

        if (x >= p->width || (end && at < end + 2))
            continue;
        line[x] = '+';
        memcpy(says + at, text, len);
        end = at + len;
    }
    says[end] = 0;
    fprintf(out, "%*s %s\n%*s %s\n", left, "", line, left, "", says);
}

/* UINT64_MAX: the share is not told. */
static void put_share(uint64_t cells, uint64_t all, FILE *out)
{
    char text[NUMBER_MAX];

    percent_text(text, (double)cells, (double)all, false);
    fprintf(out, "%7s", cells == UINT64_MAX ? "" : cells ? text : "0.0%");
}

static size_t names_room(const struct output_options *o)
{
    size_t room = o->width > 30 && o->names != NAMES_FULL ? o->width - 12 : SIZE_MAX;

    return o->names == NAMES_SHORT && room > NAME_SHORT ? NAME_SHORT : room;
}

static void put_legend(const struct picture *p, const struct output_options *o, FILE *out)
{
    uint64_t filled = 0, shown = 0;
    uint32_t most = p->names.len <= LEGEND_NAMES + 1 ? (uint32_t)p->names.len : LEGEND_NAMES;

    vec_foreach(n, &p->names)
        filled += n->cells;
    uint64_t all = picture_whole(p);
    for (uint32_t i = 0; i < most; i++) {
        const struct picture_name *n = &p->names.data[p->by_rank[i]];
        shown += n->cells;
        if (in_colour(o)) {
            ground_on(n->colour, o, out);
            fputs("  \033[0m", out);
        } else {
            fprintf(out, " %c", letter_of(n));
        }
        put_share(n->cells, all, out);
        fputs("  ", out);
        text_put_short(n->name, names_room(o), o->utf8, out);
        fputc('\n', out);
    }
    if (most < p->names.len) {
        fputs("  ", out);
        put_share(p->nested ? UINT64_MAX : filled - shown, all, out);
        fprintf(out, "  ... %zu more\n", p->names.len - most);
    }
    if (p->blank && filled < all) {
        fputs("  ", out);
        put_share(all - filled, all, out);
        fprintf(out, "  %s\n", p->blank);
    }
}

void blocks_put(const struct picture *p, const struct output_options *o, FILE *out)
{
    int left = 0;

    for (uint32_t y = 0; y < p->height; y++) {
        int w = p->labels[y] ? (int)utf8_width(p->labels[y]) : 0;
        left = w > left ? w : left;
    }
    paint_on(PAINT_HEADING, o, out);
    text_put(p->title, o->utf8, out);
    paint_off(PAINT_HEADING, o, out);
    fputc('\n', out);
    if (!p->names.len) {
        fputs("(no samples)\n", out);
        return;
    }
    for (uint32_t y = 0; y < p->height; y++) {
        const char *label = p->labels[y] ? p->labels[y] : "";
        fprintf(out, "%*s", left - (int)utf8_width(label), "");
        text_put(label, o->utf8, out);
        fputs(" ", out);
        put_cells(p, y, o, out);
        fputc('\n', out);
    }
    if (p->width && p->height)
        put_axis(p, left, out);
    put_legend(p, o, out);
}
