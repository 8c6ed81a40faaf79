/* SPDX-License-Identifier: BSD-3-Clause */
/* DBSCAN by a grid against its definition, point by point, in one to four dimensions. */
#include "common/hash.h"
#include "common/mem.h"
#include "query/folding/dbscan.h"
#include "tests/unit/test.h"
#include "tests/unit/uniform.h"
#include <math.h>
#include <string.h>

static double distance(const double *p, size_t d, size_t a, size_t b)
{
    double sum = 0;

    for (size_t k = 0; k < d; k++)
        sum += (p[a * d + k] - p[b * d + k]) * (p[a * d + k] - p[b * d + k]);
    return sqrt(sum);
}

/* Cores and the clusters that they are connected to, by their first core. */
static void by_definition(const double *p, size_t n, size_t d, double eps, uint32_t least, uint32_t *first,
                          uint8_t *core)
{
    memset(core, 0, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t near = 0;

        for (size_t j = 0; j < n; j++)
            near += distance(p, d, i, j) <= eps;
        core[i] = near >= least;
        first[i] = (uint32_t)i;
    }
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; core[i] && j < n; j++)
                if (core[j] && first[j] < first[i] && distance(p, d, i, j) <= eps) {
                    first[i] = first[j];
                    changed = 1;
                }
    }
}

static void compare(const double *p, size_t n, unsigned d, double eps, uint32_t least)
{
    AUTO_FREE uint32_t *got = xcalloc(n + 1, sizeof *got), *first = xcalloc(n + 1, sizeof *first);
    AUTO_FREE uint8_t *core = xcalloc(n + 1, 1);
    uint32_t clusters = dbscan(p, n, d, eps, least, got);
    size_t wrong = 0;

    by_definition(p, n, d, eps, least, first, core);
    for (size_t i = 0; i < n; i++) {
        double nearest = INFINITY;
        int alike = 0;

        wrong += got[i] != DBSCAN_NOISE && got[i] >= clusters;
        for (size_t j = 0; core[i] && j < n; j++)
            wrong += core[j] && (got[i] == got[j]) != (first[i] == first[j]);
        for (size_t j = 0; !core[i] && j < n; j++)
            nearest = core[j] ? fmin(nearest, distance(p, d, i, j)) : nearest;
        for (size_t j = 0; !core[i] && j < n; j++)
            alike |= core[j] && distance(p, d, i, j) == nearest && got[i] == got[j];
        wrong += core[i] ? got[i] == DBSCAN_NOISE : nearest <= eps ? !alike : got[i] != DBSCAN_NOISE;
    }
    CHECK_EQ_INT(wrong, 0);
}

TEST(the_grid_finds_what_the_definition_says)
{
    enum { N = 300 };
    AUTO_FREE double *p = xcalloc(N * 4, sizeof *p);
    uint64_t state = 3;

    for (unsigned d = 1; d <= 4; d++)
        for (int round = 0; round < 6; round++) {
            for (size_t i = 0; i < N * d; i++)
                p[i] = round % 2 ? uniform_of(&state) : floor(uniform_of(&state) * 4) / 4 + 0.05 * uniform_of(&state);
            compare(p, N, d, 0.02 + 0.06 * round * d / 2, (uint32_t)(2 + 2 * round));
        }
}

TEST(all_at_one_place)
{
    enum { N = 200000 };
    AUTO_FREE double *p = xcalloc(N * 2, sizeof *p);
    AUTO_FREE uint32_t *cluster = xcalloc(N, sizeof *cluster);

    CHECK_EQ_INT(dbscan(p, N, 2, 0.01, 10, cluster), 1); /* would take days, point by point */
    CHECK(cluster[N - 1] == 0);
    CHECK_EQ_INT(dbscan(p, 9, 2, 0.01, 10, cluster), 0);
    CHECK(cluster[0] == DBSCAN_NOISE);
    CHECK_EQ_INT(dbscan(p, 0, 2, 0.01, 10, cluster), 0);
}

TEST_MAIN
