/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A picture of a trace: a grid of cells, each of which names what ran there and then, or is blank. Views make it beside
 * their table; `table`, `tree` and `svg` draw it, the other formats print the rows of the table.
 *
 * Colours belong to procedures (query/picture/palette.h), so a procedure has the same one in every picture.
 */
#ifndef HQ_QUERY_PICTURE_H
#define HQ_QUERY_PICTURE_H

#include "common/arena.h"
#include "common/map.h"
#include "common/vec.h"
#include <stdbool.h>
#include "query/picture/palette.h"
#include <stddef.h>
#include <stdint.h>

struct picture_name { /* a procedure */
    const char *name;
    uint32_t colour; /* 0xRRGGBB */
    uint32_t rank;   /* by cells: 0 the most frequent; valid after picture_finish */
    uint64_t cells;
};

struct picture_item { /* what cells show: a procedure reached on one path */
    uint32_t name;    /* in names */
    const char *path; /* for tooltips, "main > solve > exchange"; NULL: only the name */
};

struct picture {
    struct arena *arena; /* of its texts and cells; not owned */
    const char *title;   /* "call path level 3" */
    const char *rows;    /* what its rows are: "profile", "level", "share of profiles" */
    uint32_t width, height;
    double from, to;     /* seconds since the start of the run */
    const char **labels; /* [height], NULL none */
    uint32_t *cells;     /* [height][width]: item + 1, 0 blank */
    const char *blank;   /* what the legend says of blank cells; NULL: it does not count them */
    bool nested;         /* rows are levels: a name counts once in a column, and its share is of the columns */
    VEC(struct picture_item) items;
    VEC(struct picture_name) names;
    struct map name_numbers; /* private: hash of the name -> number */
    uint32_t *by_rank;       /* [names] numbers of names, the most frequent first; after picture_finish */
};

/* A blank picture in the arena; picture_deinit before the arena ends. */
struct picture *picture_create(struct arena *arena, uint32_t width, uint32_t height);
void picture_deinit(struct picture *p);

/* The number of a procedure; the name is copied. It has the colour of the tint that it is first met in. */
uint32_t picture_name(struct picture *p, const char *name, struct tint tint);
/* Like picture_name, for a thing that is no procedure and has a colour of its own. */
uint32_t picture_coloured(struct picture *p, const char *name, uint32_t colour);
/* The value for cells that show this procedure on this path. The path is not copied. */
uint32_t picture_item(struct picture *p, uint32_t name, const char *path);
/* Counts and ranks the names; after the last cell was set. */
void picture_finish(struct picture *p);
/* How many cells the shares of the legend are of. */
uint64_t picture_whole(const struct picture *p);

static inline uint32_t *picture_cell(struct picture *p, uint32_t x, uint32_t y)
{
    return &p->cells[(size_t)y * p->width + x];
}
static inline const struct picture_name *picture_shown(const struct picture *p, uint32_t cell)
{
    return &p->names.data[p->items.data[cell - 1].name];
}

/* Where an axis from..to has its marks: the step, 1, 2 or 5 times a power of ten, of which at most `most` fit. */
double picture_step(double from, double to, unsigned most);

#endif
