/* SPDX-License-Identifier: BSD-3-Clause */
/* Wilcoxon's signed rank test: published values, all cases by hand, and bounds against a plain list of averages. */
#include "repl/gate/signed_rank.h"
#include "tests/unit/test.h"
#include "tests/unit/uniform.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 260, AVERAGES = MOST * (MOST + 1) / 2 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static size_t all_averages(const double *x, size_t n, double *out)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            out[count++] = x[i] / 2 + x[j] / 2;
    qsort(out, count, sizeof *out, ascending);
    return count;
}

/* Every choice of signs of 1 to n is as likely. */
TEST(tails_are_those_of_all_choices_of_signs)
{
    for (size_t n = 1; n <= 12; n++)
        for (size_t count = 0; count <= n * (n + 1) / 2; count++) {
            size_t hits = 0;

            for (size_t signs = 0; signs < (size_t)1 << n; signs++) {
                size_t sum = 0;

                for (size_t rank = 1; rank <= n; rank++)
                    sum += signs >> (rank - 1) & 1 ? rank : 0;
                hits += sum >= count;
            }
            CHECK_NEAR(signed_rank_tail(n, count), (double)hits / (double)((size_t)1 << n), 1e-15);
        }
    CHECK(signed_rank_tail(5, 16) == 0);
}

/* The table of one-sided one percent points that textbooks have: n, and the largest smaller sum of ranks. */
TEST(tails_are_those_of_printed_tables)
{
    static const size_t table[][2] = {{7, 0}, {10, 5}, {15, 19}, {20, 43}, {25, 76}, {30, 120}};

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t n = table[i][0], most = n * (n + 1) / 2;

        CHECK(signed_rank_tail(n, most - table[i][1]) <= 0.01);
        CHECK(signed_rank_tail(n, most - table[i][1] - 1) > 0.01);
    }
}

/* Above 200 the normal distribution stands in: at 200, where both are known, it is no less and at most half more. */
TEST(many_differences_are_about_normal)
{
    for (double z = 1.5; z < 4; z += 0.25) {
        double m = 201, middle = m * (m + 1) / 4, sd = sqrt(m * (m + 1) * (2 * m + 1) / 24);
        size_t at = (size_t)(middle + z * sd);
        double m0 = 200, middle0 = m0 * (m0 + 1) / 4, sd0 = sqrt(m0 * (m0 + 1) * (2 * m0 + 1) / 24);
        double exact = signed_rank_tail(200, (size_t)(middle0 + z * sd0)), about = signed_rank_tail(201, at);

        CHECK(about > 0.97 * exact && about < 1.5 * exact);
    }
}

TEST(bounds_are_those_of_the_list_of_averages)
{
    static const size_t sizes[] = {1, 2, 5, 14, 40, 201, MOST};
    static double x[MOST], averages[AVERAGES];

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int kind = 0; kind < 3; kind++) {
            size_t n = sizes[s], most;

            for (size_t i = 0; i < n; i++) /* anything, few values that repeat, nearly all zero */
                x[i] = kind == 0   ? uniform() - 0.3
                       : kind == 1 ? floor(4 * uniform()) - 1
                                   : (uniform() < 0.9 ? 0 : uniform());
            qsort(x, n, sizeof *x, ascending);
            most = all_averages(x, n, averages);
            CHECK_NEAR(signed_rank_estimate(x, n), averages[(most - 1) / 2] / 2 + averages[most / 2] / 2, 1e-9);
            for (double level = 0.3; level > 1e-5; level /= 4) {
                size_t k = 0; /* the smallest number with so small a tail */

                while (k <= most && signed_rank_tail(n, k) > level)
                    k++;
                if (k > most) {
                    CHECK(isinf(signed_rank_below(x, n, level)) && isinf(signed_rank_above(x, n, level)));
                    continue;
                }
                CHECK_NEAR(signed_rank_below(x, n, level), averages[most - k], 1e-9);
                CHECK_NEAR(signed_rank_above(x, n, level), averages[k - 1], 1e-9);
                size_t over = signed_rank_over(x, n, averages[most / 2]);

                CHECK(over <= most / 2 && (over == 0 || averages[most - over] > averages[most / 2]));
            }
        }
}

TEST_MAIN
