/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/folding/dbscan.h"
#include "common/map.h"
#include "common/mem.h"
#include <math.h>
#include <string.h>

enum { MOST_NEAR = 625 }; /* cells around one, in four dimensions */

struct cell_key {
    int64_t at[DBSCAN_DIMENSIONS];
};

struct grid {
    const double *points;
    size_t count;
    unsigned d;
    double eps;
    uint32_t least;
    struct keymap cells; /* struct cell_key */
    uint32_t *cell_of;   /* [count] */
    uint32_t *first;     /* [cells + 1] in `member` */
    uint32_t *member;    /* points by cell */
    uint8_t *core;       /* [count] */
    uint32_t *cores;     /* [cells] how many there are */
    uint32_t *set;       /* [cells] union-find */
    struct cell_key near[MOST_NEAR];
    size_t near_count;
};

static const double *point(const struct grid *g, uint32_t i)
{
    return g->points + (size_t)i * g->d;
}

static double distance2(const struct grid *g, uint32_t a, uint32_t b)
{
    double sum = 0;

    for (unsigned k = 0; k < g->d; k++) {
        double x = point(g, a)[k] - point(g, b)[k];
        sum += x * x;
    }
    return sum;
}

static bool is_near(const struct grid *g, uint32_t a, uint32_t b)
{
    return distance2(g, a, b) <= g->eps * g->eps;
}

static void fill_cells(struct grid *g)
{
    double side = g->eps / sqrt(g->d);

    keymap_init(&g->cells, sizeof(struct cell_key));
    for (size_t i = 0; i < g->count; i++) {
        struct cell_key key;

        memset(&key, 0, sizeof key);
        for (unsigned k = 0; k < g->d; k++)
            key.at[k] = (int64_t)floor(point(g, (uint32_t)i)[k] / side);
        g->cell_of[i] = keymap_add(&g->cells, &key, NULL);
    }
    g->first = xcalloc((size_t)g->cells.len + 2, sizeof *g->first);
    for (size_t i = 0; i < g->count; i++)
        g->first[g->cell_of[i] + 2]++;
    for (size_t c = 0; c <= g->cells.len; c++)
        g->first[c + 1] += g->first[c];
    for (size_t i = 0; i < g->count; i++)
        g->member[g->first[g->cell_of[i] + 1]++] = (uint32_t)i;
}

/* The cells in which a point can be near one of this, but for itself: no further than the nearest corners are. */
static void find_near(struct grid *g)
{
    int reach = (int)ceil(sqrt(g->d));
    unsigned all = 1;

    for (unsigned k = 0; k < g->d; k++)
        all *= (unsigned)(2 * reach + 1);
    for (unsigned n = 0; n < all; n++) {
        struct cell_key step;
        double sum = 0;
        unsigned rest = n;

        memset(&step, 0, sizeof step);
        for (unsigned k = 0; k < g->d; k++, rest /= (unsigned)(2 * reach + 1)) {
            step.at[k] = (int)(rest % (unsigned)(2 * reach + 1)) - reach;
            double gap = fabs((double)step.at[k]) - 1;
            sum += gap > 0 ? gap * gap : 0;
        }
        if (sum <= g->d && n != all / 2)
            g->near[g->near_count++] = step;
    }
}

/* The cell beside another, KEYMAP_NONE if it is empty. */
static uint32_t beside(const struct grid *g, uint32_t cell, size_t near)
{
    struct cell_key key = *(const struct cell_key *)keymap_key(&g->cells, cell);

    for (unsigned k = 0; k < g->d; k++)
        key.at[k] += g->near[near].at[k];
    return keymap_find(&g->cells, &key);
}

static uint32_t size_of(const struct grid *g, uint32_t cell)
{
    return g->first[cell + 1] - g->first[cell];
}

static bool is_core(const struct grid *g, uint32_t i)
{
    uint32_t cell = g->cell_of[i], neighbours = size_of(g, cell);

    for (size_t n = 0; n < g->near_count && neighbours < g->least; n++) {
        uint32_t other = beside(g, cell, n);

        for (uint32_t m = other == KEYMAP_NONE ? 0 : g->first[other];
             other != KEYMAP_NONE && m < g->first[other + 1] && neighbours < g->least; m++)
            neighbours += is_near(g, i, g->member[m]);
    }
    return neighbours >= g->least;
}

static uint32_t root_of(struct grid *g, uint32_t cell)
{
    while (g->set[cell] != cell)
        cell = g->set[cell] = g->set[g->set[cell]];
    return cell;
}

static bool cores_meet(const struct grid *g, uint32_t a, uint32_t b)
{
    for (uint32_t i = g->first[a]; i < g->first[a + 1]; i++)
        for (uint32_t k = g->first[b]; g->core[g->member[i]] && k < g->first[b + 1]; k++)
            if (g->core[g->member[k]] && is_near(g, g->member[i], g->member[k]))
                return true;
    return false;
}

static void join_cells(struct grid *g)
{
    for (uint32_t c = 0; c < g->cells.len; c++)
        for (size_t n = 0; n < g->near_count && g->cores[c]; n++) {
            uint32_t other = beside(g, c, n);

            if (other == KEYMAP_NONE || other < c || !g->cores[other])
                continue;
            uint32_t a = root_of(g, c), b = root_of(g, other);

            if (a != b && cores_meet(g, c, other))
                g->set[a > b ? a : b] = a > b ? b : a;
        }
}

/* The cell of the nearest core, KEYMAP_NONE if none is near. */
static uint32_t nearest_core(const struct grid *g, uint32_t i)
{
    uint32_t best = KEYMAP_NONE;
    double least = g->eps * g->eps;

    for (size_t n = 0; n <= g->near_count; n++) {
        uint32_t cell = n == g->near_count ? g->cell_of[i] : beside(g, g->cell_of[i], n);

        if (cell == KEYMAP_NONE || !g->cores[cell])
            continue;
        for (uint32_t m = g->first[cell]; m < g->first[cell + 1]; m++) {
            double x = g->core[g->member[m]] ? distance2(g, i, g->member[m]) : INFINITY;

            if (x < least || (x == least && (best == KEYMAP_NONE || cell < best))) {
                least = x;
                best = cell;
            }
        }
    }
    return best;
}

static uint32_t number_clusters(struct grid *g, uint32_t *cluster)
{
    AUTO_FREE uint32_t *number = xcalloc((size_t)g->cells.len + 1, sizeof *number);
    uint32_t clusters = 0;

    for (size_t i = 0; i < g->count; i++) {
        uint32_t cell = g->core[i] ? g->cell_of[i] : nearest_core(g, (uint32_t)i);

        cluster[i] = DBSCAN_NOISE;
        if (cell == KEYMAP_NONE)
            continue;
        cell = root_of(g, cell);
        if (!number[cell])
            number[cell] = ++clusters;
        cluster[i] = number[cell] - 1;
    }
    return clusters;
}

uint32_t dbscan(const double *points, size_t count, unsigned dimensions, double eps, uint32_t least, uint32_t *cluster)
{
    struct grid g = {.points = points, .count = count, .d = dimensions, .eps = eps, .least = least};
    AUTO_FREE uint32_t *cell_of = xcalloc(count + 1, sizeof *cell_of), *member = xcalloc(count + 1, sizeof *member);
    AUTO_FREE uint8_t *core = xcalloc(count + 1, 1);
    uint32_t clusters;

    g.cell_of = cell_of;
    g.member = member;
    g.core = core;
    fill_cells(&g);
    find_near(&g);
    g.cores = xcalloc((size_t)g.cells.len + 1, sizeof *g.cores);
    g.set = xcalloc((size_t)g.cells.len + 1, sizeof *g.set);
    for (uint32_t c = 0; c < g.cells.len; c++)
        g.set[c] = c;
    for (size_t i = 0; i < count; i++) {
        core[i] = is_core(&g, (uint32_t)i);
        g.cores[cell_of[i]] += core[i];
    }
    join_cells(&g);
    clusters = number_clusters(&g, cluster);
    keymap_deinit(&g.cells);
    free(g.first);
    free(g.cores);
    free(g.set);
    return clusters;
}
