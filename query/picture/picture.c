/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/picture/picture.h"
#include "common/hash.h"
#include "common/mem.h"
#include <math.h>
#include <string.h>

struct picture *picture_create(struct arena *arena, uint32_t width, uint32_t height)
{
    struct picture *p = ARENA_NEW(arena, struct picture);

    p->arena = arena;
    p->width = width;
    p->height = height;
    p->labels = ARENA_ARRAY(arena, height, const char *);
    p->cells = ARENA_ARRAY(arena, (size_t)width * height, uint32_t);
    return p;
}

void picture_deinit(struct picture *p)
{
    if (!p)
        return;
    vec_deinit(&p->items);
    vec_deinit(&p->names);
    map_deinit(&p->name_numbers);
}

uint32_t picture_coloured(struct picture *p, const char *name, uint32_t colour)
{
    bool is_new;
    uint64_t *number = map_insert(&p->name_numbers, hash_str(name), p->names.len, &is_new);

    if (is_new)
        vec_push(&p->names, (struct picture_name){.name = arena_strdup(p->arena, name), .colour = colour});
    return (uint32_t)*number;
}

uint32_t picture_name(struct picture *p, const char *name, struct tint tint)
{
    return picture_coloured(p, name, palette_colour(name, tint));
}

uint32_t picture_item(struct picture *p, uint32_t name, const char *path)
{
    vec_push(&p->items, (struct picture_item){.name = name, .path = path});
    return (uint32_t)p->items.len;
}

static int compare_names(const void *a, const void *b, void *arg)
{
    const struct picture *p = arg;
    const struct picture_name *x = &p->names.data[*(const uint32_t *)a], *y = &p->names.data[*(const uint32_t *)b];

    if (x->cells != y->cells)
        return x->cells < y->cells ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void count_cells(struct picture *p)
{
    AUTO_FREE uint32_t *last = xcalloc(p->names.len + 1, sizeof *last); /* column + 1 in which a name was counted */

    for (size_t i = 0; i < (size_t)p->width * p->height; i++)
        if (p->cells[i] && !p->nested)
            p->names.data[p->items.data[p->cells[i] - 1].name].cells++;
    for (uint32_t x = 0; p->nested && x < p->width; x++)
        for (uint32_t y = 0; y < p->height; y++) {
            uint32_t cell = *picture_cell(p, x, y), name = cell ? p->items.data[cell - 1].name : 0;
            if (!cell || last[name] == x + 1)
                continue;
            last[name] = x + 1;
            p->names.data[name].cells++;
        }
}

uint64_t picture_whole(const struct picture *p)
{
    uint64_t filled = 0;

    if (p->nested)
        return p->width;
    if (p->blank)
        return (uint64_t)p->width * p->height;
    vec_foreach(n, &p->names)
        filled += n->cells;
    return filled;
}

void picture_finish(struct picture *p)
{
    count_cells(p);
    p->by_rank = ARENA_ARRAY(p->arena, p->names.len, uint32_t);
    for (uint32_t i = 0; i < p->names.len; i++)
        p->by_rank[i] = i;
    if (p->names.len > 1)
        qsort_r(p->by_rank, p->names.len, sizeof *p->by_rank, compare_names, p);
    for (uint32_t i = 0; i < p->names.len; i++)
        p->names.data[p->by_rank[i]].rank = i;
}

double picture_step(double from, double to, unsigned most)
{
    double least = (to - from) / (most ? most : 1);

    if (!(least > 0))
        return 1;
    double power = pow(10, floor(log10(least)));
    return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}
