/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of draws from a pool of runs, and its tables (gate_draws.c). */
#ifndef HQ_TESTS_TOOLS_GATE_COUNTS_H
#define HQ_TESTS_TOOLS_GATE_COUNTS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- counts and intervals ---- */

struct counts {
    size_t draws, fail, ok, open, named; /* named: failed and told the planted procedure */
    double seconds, rounds;              /* sums over the draws */
    double independent;                  /* stretches of rounds, over all programs of the line */
};

static inline void add(struct counts *to, const struct counts *c)
{
    to->draws += c->draws;
    to->fail += c->fail;
    to->ok += c->ok;
    to->open += c->open;
    to->named += c->named;
    to->seconds += c->seconds;
    to->rounds += c->rounds;
    to->independent += c->independent;
}

/* Wilson's 95 % interval of a share, of as many independent draws as there may be. */
static inline void print_share(size_t k, const struct counts *c)
{
    double n = fmin((double)c->draws, c->independent), p = (double)k / (double)c->draws, z = 1.96;
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

    printf(" %.1f %% [%.1f, %.1f] |", 100 * p, 100 * fmax(0, middle - half), 100 * fmin(1, middle + half));
}

static inline void print_counts(const char *name, const struct counts *c, bool slower)
{
    if (!c->draws)
        return;
    printf("| %s | %zu |", name, c->draws);
    print_share(c->fail, c);
    if (slower)
        print_share(c->named, c);
    print_share(c->ok, c);
    print_share(c->open, c);
    printf(" %.0f s, %.1f |\n", c->seconds / (double)c->draws, c->rounds / (double)c->draws);
    fflush(stdout);
}

static inline void print_heading(const char *title, bool slow, const char *measured)
{
    printf("\n%s:\n\n| program | draws | failed |%s ok | inconclusive | measured, %s |\n|---|---|---|%s---|---|---|\n",
           title, slow ? " `planted` named |" : "", measured, slow ? "---|" : "");
}

#endif
