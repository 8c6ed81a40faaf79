/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/regions.h"
#include "common/mem.h"

/* Goes on with the region above if it is the same run, else begins one. above[x]: region + 1 that begins at x in the
 * row above. */
static void add_run(struct regions *r, size_t *above, uint32_t cell, uint32_t x, uint32_t y, uint32_t width)
{
    struct region *over = above[x] ? &r->data[above[x] - 1] : NULL;

    if (over && over->cell == cell && over->width == width && over->y + over->height == y) {
        over->height++;
        return;
    }
    vec_push(r, (struct region){cell, x, y, width, 1});
    above[x] = r->len;
}

static int compare_areas(const void *a, const void *b)
{
    const struct region *x = a, *y = b;
    uint64_t ax = (uint64_t)x->width * x->height, ay = (uint64_t)y->width * y->height;

    if (ax != ay)
        return ax < ay ? 1 : -1;
    return x->y != y->y ? (x->y < y->y ? -1 : 1) : x->x < y->x ? -1 : 1;
}

static int compare_cells(const void *a, const void *b)
{
    const struct region *x = a, *y = b;

    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->y != y->y ? (x->y < y->y ? -1 : 1) : x->x < y->x ? -1 : 1;
}

struct regions regions_of(const struct picture *p, size_t most)
{
    AUTO_FREE size_t *above = xcalloc(p->width + 1, sizeof *above);
    struct regions r = {0};

    for (uint32_t y = 0; y < p->height; y++) {
        const uint32_t *row = &p->cells[(size_t)y * p->width];
        for (uint32_t x = 0, end; x < p->width; x = end) {
            for (end = x + 1; end < p->width && row[end] == row[x]; end++)
                continue;
            if (row[x])
                add_run(&r, above, row[x], x, y, end - x);
        }
    }
    if (r.len > most) {
        vec_sort(&r, compare_areas);
        r.len = most;
    }
    vec_sort(&r, compare_cells);
    return r;
}
