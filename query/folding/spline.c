/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/folding/spline.h"
#include "common/mem.h"

static size_t put_together(struct spline_point *p, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct spline_point *last = n ? &p[n - 1] : NULL;

        if (!(p[i].weight > 0))
            continue;
        if (!last || p[i].x - last->x >= SPLINE_NEAR) {
            p[n++] = p[i];
            continue;
        }
        last->x += (p[i].x - last->x) * p[i].weight / (last->weight + p[i].weight);
        last->y += (p[i].y - last->y) * p[i].weight / (last->weight + p[i].weight);
        last->weight += p[i].weight;
    }
    return n;
}

/* A symmetric matrix of five diagonals, by its rows i + 1 of the inner knots: the diagonal and the two above it. */
struct banded {
    double *d, *e, *f;
};

/* Solves in place by L D L^T, which such a matrix of rank m keeps its form in; b becomes the solution. */
static void solve(struct banded a, double *b, size_t m)
{
    for (size_t i = 0; i < m; i++) {
        if (i > 0)
            a.d[i] -= a.e[i - 1] * a.e[i - 1] * a.d[i - 1];
        if (i > 1)
            a.d[i] -= a.f[i - 2] * a.f[i - 2] * a.d[i - 2];
        if (i > 0 && i + 1 < m)
            a.e[i] -= a.e[i - 1] * a.f[i - 1] * a.d[i - 1];
        if (i + 1 < m)
            a.e[i] /= a.d[i];
        if (i + 2 < m)
            a.f[i] /= a.d[i];
        b[i] -= (i > 0 ? a.e[i - 1] * b[i - 1] : 0) + (i > 1 ? a.f[i - 2] * b[i - 2] : 0);
    }
    for (size_t i = 0; i < m; i++)
        b[i] /= a.d[i];
    for (size_t i = m; i-- > 0;)
        b[i] -= (i + 1 < m ? a.e[i] * b[i + 1] : 0) + (i + 2 < m ? a.f[i] * b[i + 2] : 0);
}

/* R + lambda Q^T W^-1 Q, and Q^T y. Column j of Q, for knot j + 1, is 1/h[j], -1/h[j] - 1/h[j+1], 1/h[j+1]. */
static void set_up(const struct spline_point *p, size_t n, double lambda, struct banded a, double *b)
{
    for (size_t j = 0; j + 2 < n; j++) {
        double h = p[j + 1].x - p[j].x, k = p[j + 2].x - p[j + 1].x;
        double left = 1 / h, middle = -1 / h - 1 / k, right = 1 / k;

        b[j] = left * p[j].y + middle * p[j + 1].y + right * p[j + 2].y;
        a.d[j] = (h + k) / 3 + lambda * (left * left / p[j].weight + middle * middle / p[j + 1].weight +
                                         right * right / p[j + 2].weight);
        if (j + 3 >= n)
            continue;
        double next = p[j + 3].x - p[j + 2].x, next_middle = -1 / k - 1 / next;

        a.e[j] = k / 6 + lambda * (middle / k / p[j + 1].weight + right * next_middle / p[j + 2].weight);
        a.f[j] = j + 4 < n ? lambda * right / next / p[j + 2].weight : 0;
    }
}

void spline_fit(struct spline_point *p, size_t count, double lambda, struct spline *out)
{
    size_t n = put_together(p, count);
    AUTO_FREE double *bands = xcalloc(3 * n + 3, sizeof *bands);
    struct banded a = {bands, bands + n + 1, bands + 2 * n + 2};

    *out = (struct spline){n, xcalloc(n + 1, sizeof(double)), xcalloc(n + 1, sizeof(double)),
                           xcalloc(n + 1, sizeof(double))};
    if (n > 2) {
        set_up(p, n, lambda, a, out->second + 1);
        solve(a, out->second + 1, n - 2);
    }
    for (size_t i = 0; i < n; i++) {
        double h = i ? p[i].x - p[i - 1].x : 1, k = i + 1 < n ? p[i + 1].x - p[i].x : 1;
        double bend = (i ? (out->second[i - 1] - out->second[i]) / h : 0) +
                      (i + 1 < n ? (out->second[i + 1] - out->second[i]) / k : 0);

        out->x[i] = p[i].x;
        out->value[i] = p[i].y - lambda / p[i].weight * bend;
    }
}

void spline_deinit(struct spline *s)
{
    free(s->x);
    free(s->value);
    free(s->second);
    *s = (struct spline){0};
}

double spline_at(const struct spline *s, double x, size_t *at, double *slope)
{
    size_t i = *at;

    if (i && x < s->x[i])
        i = 0;
    while (i + 2 < s->n && s->x[i + 1] < x)
        i++;
    *at = i;
    double h = s->x[i + 1] - s->x[i], line = (s->value[i + 1] - s->value[i]) / h, g = s->second[i],
           k = s->second[i + 1], begin = line - h / 6 * (2 * g + k), end = line + h / 6 * (g + 2 * k);

    if (x <= s->x[i]) {
        *slope = begin;
        return s->value[i] + (x - s->x[i]) * begin;
    }
    if (x >= s->x[i + 1]) {
        *slope = end;
        return s->value[i + 1] + (x - s->x[i + 1]) * end;
    }
    double u = x - s->x[i], v = s->x[i + 1] - x;

    *slope = line + (k * (3 * u * u - h * h) - g * (3 * v * v - h * h)) / (6 * h);
    return (u * s->value[i + 1] + v * s->value[i]) / h - u * v / 6 * ((1 + u / h) * k + (1 + v / h) * g);
}
