/* SPDX-License-Identifier: BSD-3-Clause */
/* Folding: the spline against its dense form and its limits, and a program of three phases of known rates from samples
 * that are few in each instance. */
#include "common/hash.h"
#include "common/mem.h"
#include "query/folding/fold.h"
#include "query/folding/routines.h"
#include "query/folding/spline.h"
#include "tests/unit/test.h"
#include "tests/unit/uniform.h"
#include <math.h>
#include <stdio.h>

/* Solves a full system by Gauss with pivots. */
static void solve_dense(double *a, double *b, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;

        for (size_t i = k; i < n; i++)
            best = fabs(a[i * n + k]) > fabs(a[best * n + k]) ? i : best;
        for (size_t j = 0; j < n; j++) {
            double x = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = x;
        }
        double x = b[k];
        b[k] = b[best];
        b[best] = x;
        for (size_t i = k + 1; i < n; i++) {
            double f = a[i * n + k] / a[k * n + k];
            for (size_t j = k; j < n; j++)
                a[i * n + j] -= f * a[k * n + j];
            b[i] -= f * b[k];
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++)
            b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
}

/* The other form of the same curve: kriging with the covariance |h|^3, a linear drift and a nugget. */
TEST(a_smoothing_spline_is_kriging)
{
    enum { N = 40, M = N + 2 };
    struct spline_point points[N];
    double x[N], y[N], *a = xcalloc(M * M, sizeof *a), b[M] = {0}, worst = 0, slope;
    const double nugget = 1e-4;
    struct spline spline;
    uint64_t state = 7;
    size_t at = 0;

    for (size_t i = 0; i < N; i++) {
        x[i] = ((double)i + 0.8 * uniform_of(&state)) / N;
        y[i] = sin(5 * x[i]) + 0.1 * uniform_of(&state);
        points[i] = (struct spline_point){x[i], y[i], 1};
    }
    spline_fit(points, N, nugget / 12, &spline);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++)
            a[i * M + j] = pow(fabs(x[i] - x[j]), 3);
        a[i * M + i] += nugget;
        a[i * M + N] = a[N * M + i] = 1;
        a[i * M + N + 1] = a[(N + 1) * M + i] = x[i];
        b[i] = y[i];
    }
    solve_dense(a, b, M);
    for (double t = 0.02; t < 0.98; t += 0.003) {
        double kriged = b[N] + b[N + 1] * t;

        for (size_t i = 0; i < N; i++)
            kriged += b[i] * pow(fabs(t - x[i]), 3);
        worst = fmax(worst, fabs(kriged - spline_at(&spline, t, &at, &slope)));
    }
    CHECK(worst < 1e-9);
    spline_deinit(&spline);
    free(a);
}

TEST(splines_of_few_points)
{
    struct spline_point two[] = {{0, 1, 1}, {1, 3, 1}},
                        near[] = {{0, 0, 1}, {0.5, 1, 1}, {0.5 + 1e-9, 3, 3}, {1, 5, 1}};
    struct spline s;
    double slope;
    size_t at = 0;

    spline_fit(two, 2, 1e-5, &s);
    CHECK(fabs(spline_at(&s, 0.25, &at, &slope) - 1.5) < 1e-12 && fabs(slope - 2) < 1e-12);
    spline_deinit(&s);
    spline_fit(near, 4, 1e-12, &s);
    CHECK_EQ_INT(s.n, 3);
    at = 0;
    CHECK(fabs(spline_at(&s, 0.5, &at, &slope) - 2.5) < 1e-3);
    CHECK(fabs(spline_at(&s, 2, &at, &slope) - (spline_at(&s, 1, &at, &slope) + slope)) < 1e-9);
    spline_deinit(&s);
}

/* ---- three phases: 0.5, 0.3 and 0.2 of an instance, rates 1 : 3 : 0.5 ---- */

static const double borders[] = {0, 0.5, 0.8, 1}, speeds[] = {1, 3, 0.5};

/* How far a counter has come at x; 1.5 at the end. */
static double come(double x)
{
    double sum = 0;

    for (int i = 0; i < 3; i++)
        sum += speeds[i] * (fmin(fmax(x, borders[i]), borders[i + 1]) - borders[i]);
    return sum;
}

static double place_of(double sum)
{
    for (int i = 0; i < 3; i++)
        if (sum <= come(borders[i + 1]))
            return borders[i] + (sum - come(borders[i])) / speeds[i];
    return 1;
}

enum { INSTANCES = 200 };

struct program {
    struct fold_event *faults, *ticks;
    size_t faults_len, ticks_len;
    double length[INSTANCES];
};

/* A counter that overflows forty times in an instance, of 50 ms in the mean, and a clock of 200/s, at any phase to it.
 */
static void run(struct program *p, uint64_t seed)
{
    const double period = 1.5 / 40;
    double left = period * uniform_of(&seed), clock = uniform_of(&seed) * 0.005;

    p->faults = xcalloc(INSTANCES * 60, sizeof *p->faults);
    p->ticks = xcalloc(INSTANCES * 20, sizeof *p->ticks);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        p->length[i] = 0.047 + 0.006 * uniform_of(&seed);
        for (; left < 1.5; left += period * (0.8 + 0.4 * uniform_of(&seed)))
            p->faults[p->faults_len++] = (struct fold_event){place_of(left), period, i};
        left -= 1.5;
        for (; clock < p->length[i]; clock += 0.005)
            p->ticks[p->ticks_len++] = (struct fold_event){clock / p->length[i], 0.005, i};
        clock -= p->length[i];
    }
}

static void end(struct program *p)
{
    free(p->faults);
    free(p->ticks);
}

/* How far the mean rate of a phase is from its own at most, and how many of how many points have it in their band. */
struct seen {
    double worst, covered, all;
};

/* Looks at the points of a phase, without those at its borders. */
static void see_phase(struct seen *seen, const struct fold_point *points, size_t count, int phase, double truth)
{
    double sum = 0, n = 0;

    for (size_t i = 0; i < count; i++) {
        double x = ((double)i + 0.5) / (double)count;

        if (x < borders[phase] + 0.02 || x > borders[phase + 1] - 0.02)
            continue;
        sum += points[i].rate;
        n++;
        seen->covered += points[i].low <= truth && truth <= points[i].high;
    }
    seen->all += n;
    seen->worst = fmax(seen->worst, fabs(sum / n / truth - 1));
}

TEST(rates_of_three_phases)
{
    enum { POINTS = 400 };
    struct fold_point points[POINTS];
    struct seen seen = {0};

    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct program p = {0};

        run(&p, seed * 1000003);
        CHECK(fold_curve(p.faults, p.faults_len, (struct fold_instances){p.length, INSTANCES}, points, POINTS, 1));
        for (int k = 0; k < 3; k++)
            see_phase(&seen, points, POINTS, k, speeds[k] / 0.05);
        CHECK(fabs(points[POINTS - 1].sum - 1.5) < 0.02);
        end(&p);
    }
    printf("rates are %.1f %% off at most, the band covers %.1f %% of the points\n", 100 * seen.worst,
           100 * seen.covered / seen.all);
    CHECK(seen.worst < 0.05);
    CHECK(seen.covered / seen.all > 0.9 && seen.covered / seen.all <= 1);
}

/*
 * The same program by a counter that is read at the clock's samples, ten in an instance, and where it begins and ends.
 * A reading is off by a thousandth of an instance's (a counter of whole events), and each instance's borders by
 * another. Of points that are as many as this one run's band is right for 93 to 97 %, so 85 % leaves no doubt.
 */
TEST(rates_of_a_counter_that_is_read)
{
    enum { POINTS = 400 };
    struct fold_point points[POINTS];
    double totals[INSTANCES];
    struct seen seen = {0};

    for (uint64_t seed = 1; seed <= 5; seed++) {
        uint64_t state = seed * 7777777;
        struct program p = {0};

        run(&p, seed * 1000003);
        for (size_t i = 0; i < INSTANCES; i++)
            totals[i] = 600 * p.length[i] / 0.05;
        for (size_t i = 0; i < p.ticks_len; i++) {
            double off = 0.001 * (uniform_of(&state) - 0.5), late = 0.001 * (hash_u64(p.ticks[i].instance) % 100) / 100;

            p.ticks[i].amount = fmin(fmax(come(fmax(p.ticks[i].x - late, 0)) / 1.5 + off, 0), 1);
        }
        CHECK(fold_counted(p.ticks, p.ticks_len, (struct fold_instances){p.length, INSTANCES}, totals, points, POINTS,
                           1, NULL));
        for (int k = 0; k < 3; k++)
            see_phase(&seen, points, POINTS, k, speeds[k] / 1.5 * 600 / 0.05);
        CHECK(fabs(points[POINTS - 1].sum - 600) < 6);
        end(&p);
    }
    printf("rates are %.2f %% off at most, the band covers %.1f %% of the points\n", 100 * seen.worst,
           100 * seen.covered / seen.all);
    CHECK(seen.worst < 0.02);
    CHECK(seen.covered / seen.all > 0.85);
}

/* In two of the visits the program stood still for a tenth of them, in CPU time (the machine was taken away), and
 * caught up: single readings are far from all others, and have no say. */
TEST(readings_that_are_far_off)
{
    enum { POINTS = 400 };
    struct fold_point points[POINTS];
    double totals[INSTANCES];
    struct seen seen = {0};
    size_t stood_long = 0, all_far = 0;

    for (uint64_t seed = 1; seed <= 5; seed++) {
        uint64_t state = seed * 7777777;
        struct program p = {0};
        size_t far = 0;

        run(&p, seed * 1000003);
        for (size_t i = 0; i < INSTANCES; i++)
            totals[i] = 600 * p.length[i] / 0.05;
        for (size_t i = 0; i < p.ticks_len; i++) {
            uint32_t visit = p.ticks[i].instance;
            double x = p.ticks[i].x, stood = visit == 107 ? 0.83 : visit == 186 ? 0.28 : 2;

            if (x > stood && x < stood + 0.12)
                stood_long += x > stood + 0.07, x = stood; /* nearer ones bend nothing */
            p.ticks[i].amount = fmin(fmax(come(x) / 1.5 + 0.001 * (uniform_of(&state) - 0.5), 0), 1);
        }
        CHECK(fold_counted(p.ticks, p.ticks_len, (struct fold_instances){p.length, INSTANCES}, totals, points, POINTS,
                           1, &far));
        all_far += far;
        for (int k = 0; k < 3; k++)
            see_phase(&seen, points, POINTS, k, speeds[k] / 1.5 * 600 / 0.05);
        end(&p);
    }
    printf("rates are %.2f %% off at most, the band covers %.1f %% of the points\n", 100 * seen.worst,
           100 * seen.covered / seen.all);
    CHECK(stood_long >= 3 && all_far + 1 >= stood_long && all_far <= 2 * stood_long + 5);
    CHECK(seen.worst < 0.005);
    CHECK(seen.covered / seen.all > 0.85);
}

/* Visits of two kinds that differ in their middle: neither kind is left out, however far they are apart. */
TEST(readings_of_two_kinds_of_visits)
{
    enum { POINTS = 100 };
    struct fold_point points[POINTS];
    struct program p = {0};
    double totals[INSTANCES];
    double more = 0;
    size_t far = 9;

    run(&p, 1000003);
    for (size_t i = 0; i < INSTANCES; i++)
        totals[i] = 600;
    for (size_t i = 0; i < p.ticks_len; i++) {
        double x = p.ticks[i].x, early = fmin(2 * x, 0.5 + fmax(x - 0.25, 0) / 1.5);

        p.ticks[i].amount = p.ticks[i].instance % 20 == 3 ? early : x;
    }
    CHECK(fold_counted(p.ticks, p.ticks_len, (struct fold_instances){p.length, INSTANCES}, totals, points, POINTS, 1,
                       &far));
    CHECK_EQ_INT(far, 0);
    for (size_t i = 0; i < POINTS; i++)
        more += (points[i].sum / 600 - ((double)i + 0.5) / POINTS) / POINTS;
    CHECK(more > 0.003 && more < 0.012); /* the mean visit, 0.05 * 0.125, not the commoner one */
    end(&p);
}

/* Who runs follows from the place; the clock's samples tell it. */
TEST(borders_of_three_phases)
{
    static const uint32_t routines[] = {0, 1, 2};
    struct program p = {0};
    enum { POINTS = 400 };
    struct fold_point points[POINTS];
    struct routine_runs runs = {0};
    double mean = 0;

    run(&p, 99);
    CHECK(fold_curve(p.ticks, p.ticks_len, (struct fold_instances){p.length, INSTANCES}, points, POINTS, 1));
    struct routine_sample *samples = xcalloc(p.ticks_len, sizeof *samples);

    for (size_t i = 0; i < p.ticks_len; i++) {
        int k = p.ticks[i].x < 0.5 ? 0 : p.ticks[i].x < 0.8 ? 1 : 2;
        samples[i] = (struct routine_sample){p.ticks[i].x, &routines[k], 1, 0, 1};
    }
    routines_find(samples, p.ticks_len, (struct routine_limits){.samples = 7, .share = 0.025, .join = true}, &runs);
    CHECK_EQ_INT(runs.len, 3);
    for (size_t i = 0; i < runs.len && i < 3; i++)
        CHECK(fabs(runs.data[i].from - borders[i]) < 0.01 && fabs(runs.data[i].to - borders[i + 1]) < 0.01);
    for (size_t i = 0; i < POINTS; i++)
        mean += points[i].rate / POINTS;
    CHECK(fabs(mean - 1) < 0.02); /* a second of the clock takes a second */
    vec_deinit(&runs);
    free(samples);
    end(&p);
}

TEST(what_cannot_be_folded)
{
    struct fold_event one = {0.5, 1, 0};
    double length = 1, none = 0;
    struct fold_point point;

    CHECK(!fold_curve(NULL, 0, (struct fold_instances){&length, 1}, &point, 1, 1));
    CHECK(fold_curve(&one, 1, (struct fold_instances){&length, 1}, &point, 1, 1));
    CHECK(isnan(point.low) && point.rate > 0);
    CHECK(!fold_counted(NULL, 0, (struct fold_instances){&length, 1}, &none, &point, 1, 1, NULL)); /* it had nothing */
    CHECK(fold_counted(NULL, 0, (struct fold_instances){&length, 1}, &length, &point, 1, 1, NULL));
    CHECK(fabs(point.rate - 1) < 1e-9); /* where nothing else is known it grows evenly */
}

TEST(instances_that_are_alike)
{
    double lengths[] = {1, 1.01, 0.99, 1.02, 0.98, 1, 1, 1, 1, 9}, same[] = {2, 2, 2};
    uint8_t keep[10];

    CHECK_EQ_INT(fold_alike(lengths, 10, 0, keep), 9);
    CHECK(!keep[9]);
    CHECK_EQ_INT(fold_alike(lengths, 10, 1, keep), 7);
    CHECK_EQ_INT(fold_alike(same, 3, 0, keep), 3);
    CHECK_EQ_INT(fold_alike(same, 3, 1, keep), 3);
    CHECK_EQ_INT(fold_alike(NULL, 0, 1, keep), 0);
}

TEST_MAIN
