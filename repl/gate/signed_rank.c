/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/signed_rank.h"
#include "repl/gate/quantile.h"
#include <math.h>
#include <string.h>

enum { EXACT_MAX = 200 };

static size_t averages(size_t n)
{
    return n * (n + 1) / 2;
}

/* ---- the distribution of the number ---- */

/* tail[count], by the recursion over the ranks: each of 1 to n is in the sum or is not. */
static const double *exact_tails(size_t n)
{
    static _Thread_local struct {
        size_t n;
        double tail[EXACT_MAX * (EXACT_MAX + 1) / 2 + 1];
    } known;
    size_t most = averages(n), top = 0;
    double *p = known.tail;

    if (known.n == n)
        return p;
    memset(p, 0, (most + 1) * sizeof *p);
    p[0] = 1;
    for (size_t rank = 1; rank <= n; rank++) {
        top += rank;
        for (size_t sum = top + 1; sum-- > 0;)
            p[sum] = (p[sum] + (sum >= rank ? p[sum - rank] : 0)) / 2;
    }
    for (size_t sum = most; sum-- > 0;)
        p[sum] += p[sum + 1];
    known.n = n;
    return p;
}

double signed_rank_tail(size_t n, size_t count)
{
    if (count > averages(n))
        return 0;
    if (n > 0 && n <= EXACT_MAX)
        return exact_tails(n)[count];
    double m = (double)n, middle = m * (m + 1) / 4, sd = sqrt(m * (m + 1) * (2 * m + 1) / 24);

    return sd > 0 ? normal_beyond(((double)count - 0.5 - middle) / sd) : 1;
}

/* ---- averages of pairs, without making them all ---- */

/* How many are above x, or, with `or_equal`, at least x. */
static size_t count_above(const double *sorted, size_t n, double x, int or_equal)
{
    size_t count = 0, partner = n; /* the first that makes an average above x with sorted[i] */

    /* While i rises its first partner falls; partners below i were counted with it. */
    for (size_t i = 0; i < n; i++) {
        while (partner > 0) {
            double average = sorted[i] / 2 + sorted[partner - 1] / 2;

            if (!(average > x || (or_equal && average == x)))
                break;
            partner--;
        }
        count += n - (partner > i ? partner : i);
    }
    return count;
}

size_t signed_rank_over(const double *sorted, size_t n, double x)
{
    return count_above(sorted, n, x, 0);
}

/* The smallest average that is at least x; there is one. */
static double least_from(const double *sorted, size_t n, double x)
{
    double least = INFINITY;
    size_t partner = n;

    for (size_t i = 0; i < n; i++) {
        while (partner > 0 && sorted[i] / 2 + sorted[partner - 1] / 2 >= x)
            partner--;
        size_t first = partner > i ? partner : i;

        if (first < n)
            least = fmin(least, sorted[i] / 2 + sorted[first] / 2);
    }
    return least;
}

/* The k-th largest average, 1 <= k <= averages(n): the largest x of which at least k are no smaller. Of averages that
 * are nearly alike the least. */
static double largest(const double *sorted, size_t n, size_t k)
{
    double low = sorted[0], high = sorted[n - 1];

    if (count_above(sorted, n, high, 1) >= k)
        return high;
    /* At least k are >= low, fewer are >= high. */
    for (double near = 1e-12 * (high - low); high - low > near;) {
        double middle = low / 2 + high / 2;
        size_t count = count_above(sorted, n, middle, 1);

        if (!(middle > low && middle < high))
            break;
        if (count >= k)
            low = middle;
        else
            high = middle;
        if (count == k)
            break;
    }
    return least_from(sorted, n, low);
}

double signed_rank_estimate(const double *sorted, size_t n)
{
    size_t most = averages(n);

    if (!n)
        return 0;
    return largest(sorted, n, (most + 1) / 2) / 2 + largest(sorted, n, most / 2 + 1) / 2;
}

/* The smallest number whose tail is at most the level; one more than there are averages if none is. */
static size_t least_count(size_t n, double level)
{
    size_t low = 0, high = averages(n) + 1;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (signed_rank_tail(n, middle) <= level)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double signed_rank_below(const double *sorted, size_t n, double level)
{
    size_t count = least_count(n, level);

    return count > averages(n) || !count ? -INFINITY : largest(sorted, n, count);
}

double signed_rank_above(const double *sorted, size_t n, double level)
{
    size_t count = least_count(n, level), most = averages(n);

    return count > most || !count ? INFINITY : largest(sorted, n, most + 1 - count);
}
