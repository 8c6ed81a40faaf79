/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gate_simulate [RACES [KIND]]: races of simulated programs on machines that drift (a random walk of a hundredth from
 * run to run), jump (in one run of twenty, by up to a tenth) and scatter in the ways of `kinds`, judged by hq's own
 * code with all its looks. There are OWN procedures, the first with 40 % of the time, which becomes slower; 1000
 * samples a second. Of the kind "nested" each but the first calls the one before, and there are rows with what they
 * call and without. Prints the table of doc/checks.md; status 1 if more unchanged programs fail, or slower ones are ok,
 * than the method allows, or of runs that differ by 4 % or less fewer slowdowns are found, or more unchanged races are
 * open.
 */
#include "common/hash.h"
#include "repl/gate/judge.h"
#include "repl/gate/looks.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN = 20, ROWS = 2 * OWN };
#define RATE  1000.0
#define FOUND 0.9 /* of slowdowns as large as the tolerance, where runs differ by 4 % or less */

static uint64_t state = 1;

static double uniform(void)
{
    return ((double)(hash_u64(++state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* ---- how runs scatter: all with deviation 1 ---- */

static double exponential(void)
{
    return -log(uniform());
}

/* Seven runs of ten are hardly disturbed, the others by as much again and more: as on a machine that others use. */
static double disturbed(void)
{
    const double calm = 0.15, part = 0.3, mean = part, square = (1 - part) * calm * calm + 2 * part;

    return ((uniform() < part ? exponential() : calm * normal()) - mean) / sqrt(square - mean * mean);
}

/* Student's t with three degrees of freedom. */
static double heavy(void)
{
    double squares = 0;

    for (int i = 0; i < 3; i++) {
        double z = normal();

        squares += z * z;
    }
    return normal() / sqrt(squares / 3) / sqrt(3);
}

/* Two speeds: where the linker, the kernel or a hash puts things. */
static double two_speeds(void)
{
    return (uniform() < 0.5 ? 1 : -1) * 0.995 + 0.1 * normal();
}

static const struct kind {
    const char *name, *text;
    double (*scatter)(void);
    double seconds; /* of a run */
    double alone;   /* how much of the spread each row has by itself */
    double patience;
    int rows;
} kinds[] = {
    {"normal", "normal, runs of 2 s", normal, 2, 0.25, 300, OWN},
    {"disturbed", "3 of 10 runs disturbed, 2 s", disturbed, 2, 0.25, 300, OWN},
    {"short", "3 of 10 runs disturbed, 0.7 s", disturbed, 0.7, 0.25, 300, OWN},
    {"heavy", "Student's t with 3 degrees, rows alone, 1 s", heavy, 1, 1, 300, OWN},
    {"modes", "two speeds, 2 s", two_speeds, 2, 0.25, 300, OWN},
    {"long", "normal, runs of 6 s", normal, 6, 0.25, 300, OWN},
    {"two-minutes", "normal, runs of 6 s, `--at-most 2min`", normal, 6, 0.25, 0, OWN},
    {"longest", "normal, runs of 20 s", normal, 20, 0.25, 300, OWN},
    {"nested", "3 of 10 runs disturbed, 2 s, 40 rows, half of them with callees", disturbed, 2, 0.25, 300, ROWS},
};

struct machine {
    const struct kind *kind;
    double speed;  /* drifts and jumps */
    double spread; /* of a run */
};

/* One run: a factor of its own for the whole and one for each row, and sampling. */
static void run(struct machine *m, double slower, double seconds[ROWS])
{
    m->speed += 0.01 * normal();
    if (uniform() < 0.05)
        m->speed += 0.2 * (uniform() - 0.5);
    double whole = m->speed * (1 + m->spread * (m->kind->alone < 1) * m->kind->scatter());

    for (int row = 0; row < OWN; row++) {
        double mean = m->kind->seconds * (row ? 0.6 / (OWN - 1) : 0.4 * (1 + slower));
        double value = fmax(0, mean * whole * (1 + m->kind->alone * m->spread * m->kind->scatter()));

        seconds[row] = fmax(0, value + sqrt(value / RATE) * normal());
        seconds[OWN + row] = seconds[row] + (row ? seconds[OWN + row - 1] : 0);
    }
}

static enum gate_verdict look(double (*old)[LOOKS_PAIRS_MAX], double (*now)[LOOKS_PAIRS_MAX], int rows, size_t pairs,
                              double family)
{
    static double room[ROWS][LOOKS_PAIRS_MAX];
    struct gate_difference d[ROWS];
    enum gate_verdict verdict = GATE_OK;
    double total = 0;

    for (int row = 0; row < rows; row++) {
        d[row] = gate_paired(old[row], now[row], pairs, room[row]);
        d[row].sampling = sqrt((d[row].old + d[row].now) / RATE / (double)pairs);
        total += row < OWN ? d[row].old : 0;
    }
    for (int row = 0; row < rows; row++) {
        d[row].allowed = fmax(0.1 * d[row].old, 0.02 * total);
        d[row].needed = 0.04 * total;
    }
    double level = gate_level(d, (size_t)rows, family);

    for (int row = 0; row < rows; row++) {
        enum gate_verdict one = gate_judge(&d[row], level, gate_missed(family));

        if (one == GATE_FAIL || verdict == GATE_OK)
            verdict = one;
    }
    return verdict;
}

struct counts {
    int fail, ok, open;
    double seconds;
};

static void race(const struct kind *kind, double spread, double slower, struct counts *c)
{
    static double old[ROWS][LOOKS_PAIRS_MAX], now[ROWS][LOOKS_PAIRS_MAX];
    struct machine m = {.kind = kind, .speed = 1, .spread = spread};
    struct gate_looks looks = {.budget = 120, .patience = kind->patience};
    enum gate_verdict verdict = GATE_UNDECIDED;
    double family, values[ROWS];
    size_t pairs = 0;

    for (;;) {
        for (int turn = 0; turn < 2; turn++) {
            bool is_old = (pairs % 2 == 0) == (turn == 0);

            run(&m, is_old ? 0 : slower, values);
            for (int row = 0; row < ROWS; row++)
                (is_old ? old : now)[row][pairs] = values[row];
        }
        pairs++;
        if (!gate_look(&looks, pairs, 2 * kind->seconds * (double)pairs, &family))
            continue;
        verdict = look(old, now, kind->rows, pairs, family);
        if (looks.last || verdict != GATE_UNDECIDED)
            break;
    }
    c->fail += verdict == GATE_FAIL;
    c->ok += verdict == GATE_OK;
    c->open += verdict == GATE_UNDECIDED;
    c->seconds += 2 * kind->seconds * (double)pairs;
}

/* A row of the table: unchanged programs and slower ones of one spread. */
static bool races_of(const struct kind *kind, double spread, int races)
{
    enum { UNCHANGED, FIVE, TEN, TWENTY, CASES };
    static const double slower[CASES] = {0, 0.05, 0.1, 0.2};
    struct counts c[CASES] = {0};
    double n = races, percent = 100 / n;

    for (int k = 0; k < CASES; k++)
        for (int i = 0; i < races; i++)
            race(kind, spread, slower[k], &c[k]);
    printf("| %s | %.0f %% | %d | %.2f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.0f s |\n", kind->text,
           100 * spread, races, c[UNCHANGED].fail * percent, c[UNCHANGED].open * percent, c[FIVE].fail * percent,
           c[TEN].fail * percent, c[TEN].ok * percent, c[TWENTY].fail * percent, c[UNCHANGED].seconds / n);
    fflush(stdout);
    bool fine = c[UNCHANGED].fail / n <= GATE_FAMILY + 4 * sqrt(GATE_FAMILY / n) &&
                c[TEN].ok / n <= GATE_MISSED + 4 * sqrt(GATE_MISSED / n);

    /* Of longer runs too few pairs fit into the time. */
    if (spread <= 0.04 && kind->seconds < 10)
        fine = fine && c[UNCHANGED].open / n <= 0.1 + 4 * sqrt(0.1 / n) &&
               c[TEN].fail / n >= FOUND - 4 * sqrt(FOUND * (1 - FOUND) / n);
    return fine;
}

int main(int argc, char **argv)
{
    int races = argc > 1 ? atoi(argv[1]) : 10000;
    bool fine = true;

    static const double spreads[] = {0.02, 0.04, 0.08, 0.2};

    printf("| runs scatter | they differ by | races | failed: unchanged | inconclusive | 5 %% slower | 10 %% slower | "
           "10 %% "
           "slower: ok | 20 %% slower | measured, unchanged |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t s = 0; s < sizeof spreads / sizeof *spreads; s++)
            if (argc < 3 || !strcmp(argv[2], kinds[i].name))
                fine = races_of(&kinds[i], spreads[s], races) && fine;
    return !fine;
}
