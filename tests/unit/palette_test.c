/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the colour-blind see of the palette: the simulation of Machado, Oliveira and Fernandes (A Physiologically-based
 * Model for Simulation of Color Vision Deficiency, 2009, severity 1), distances by Ottosson's OKLab, where 1 lies
 * between black and white and 0.02 is just seen side by side.
 */
#include "query/picture/palette.h"
#include "query/views/clustering.h"
#include "tests/unit/test.h"

enum { NAMES = 200, EYES = 4 };

static const char *const eyes[EYES] = {"all cones", "no red", "no green", "no blue"};
static const double seen[EYES][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
};

struct oklab {
    double light, a, b;
};

static struct oklab look(uint32_t colour, int eye)
{
    double rgb[3], c[3];

    for (int i = 0; i < 3; i++) {
        double x = (colour >> (16 - 8 * i) & 255) / 255.0;

        rgb[i] = x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
    }
    for (int i = 0; i < 3; i++)
        c[i] = fmin(1, fmax(0, seen[eye][i][0] * rgb[0] + seen[eye][i][1] * rgb[1] + seen[eye][i][2] * rgb[2]));

    double l = cbrt(0.4122214708 * c[0] + 0.5363325363 * c[1] + 0.0514459929 * c[2]);
    double m = cbrt(0.2119034982 * c[0] + 0.6806995451 * c[1] + 0.1073969566 * c[2]);
    double s = cbrt(0.0883024619 * c[0] + 0.2817188376 * c[1] + 0.6299787005 * c[2]);

    return (struct oklab){.light = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
                          .a = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
                          .b = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

static double apart(struct oklab a, struct oklab b)
{
    return sqrt((a.light - b.light) * (a.light - b.light) + (a.a - b.a) * (a.a - b.a) + (a.b - b.b) * (a.b - b.b));
}

static void looks(enum family f, int eye, bool dark, struct oklab out[NAMES])
{
    for (unsigned i = 0; i < NAMES; i++) {
        struct tint tint = {.family = (uint8_t)f, .shade = (uint8_t)(i % PALETTE_SHADES)};
        char name[32];

        snprintf(name, sizeof name, "name_%u", i * 7919);
        out[i] = look(dark ? palette_dark(name, tint) : palette_colour(name, tint), eye);
    }
}

/* Between any two of their procedures, whatever shades these have. */
static double nearest(enum family one, enum family other, int eye, bool dark)
{
    struct oklab x[NAMES], y[NAMES];
    double least = 1;

    looks(one, eye, dark, x);
    looks(other, eye, dark, y);
    for (int i = 0; i < NAMES; i++)
        for (int k = 0; k < NAMES; k++)
            least = fmin(least, apart(x[i], y[k]));
    return least;
}

static const enum family waits[] = {FAMILY_MPI, FAMILY_WAITING},
                         works[] = {FAMILY_PROGRAM, FAMILY_LIBRARY, FAMILY_SYSTEM, FAMILY_GPU};

/* A legend tells what waits from what works. */
TEST(legends)
{
    for (size_t w = 0; w < sizeof waits / sizeof *waits; w++)
        for (size_t k = 0; k < sizeof works / sizeof *works; k++)
            for (int eye = 0; eye < EYES; eye++) {
                double d = apart(look(palette_family(waits[w]), eye), look(palette_family(works[k]), eye));

                if (d < 0.065)
                    printf("%s and %s with %s: %.4f\n", palette_family_name(waits[w]), palette_family_name(works[k]),
                           eyes[eye], d);
                CHECK(d >= 0.065);
            }
}

/* Who has all cones takes no box that waits for one that works. */
TEST(waits_and_work)
{
    for (size_t w = 0; w < sizeof waits / sizeof *waits; w++)
        for (size_t k = 0; k < sizeof works / sizeof *works; k++)
            for (int dark = 0; dark < 2; dark++) {
                double d = nearest(waits[w], works[k], 0, dark);

                if (d < 0.04)
                    printf("%s and %s, dark %d: %.4f\n", palette_family_name(waits[w]), palette_family_name(works[k]),
                           dark, d);
                CHECK(d >= 0.04);
            }
}

/* The contrast of WCAG 2, by its own words: letters want 4.5. */
static double light(uint32_t colour)
{
    static const double weights[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;

    for (int i = 0; i < 3; i++) {
        double c = (colour >> (16 - 8 * i) & 255) / 255.0;

        sum += weights[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

TEST(letters)
{
    for (int family = 0; family < FAMILY_COUNT; family++)
        for (int i = 0; i < 40 * NAMES; i++) {
            char name[32];

            snprintf(name, sizeof name, "procedure_%d", i);
            struct tint tint = {(uint8_t)family, (uint8_t)(i % PALETTE_SHADES)};
            uint32_t ground = i % 2 ? palette_colour(name, tint) : palette_dark(name, tint);
            double a = light(ground) + 0.05, b = light(palette_ink(ground)) + 0.05;

            CHECK((a > b ? a / b : b / a) >= 4.5);
        }
}

/* Clusters stand beside each other, and among bursts that are of none. */
TEST(clusters)
{
    for (unsigned i = 0; i <= CLUSTERING_NAMED; i++)
        for (unsigned k = 0; k < i; k++)
            for (int eye = 0; eye < EYES; eye++) {
                double d = apart(look(clustering_colour(i), eye), look(clustering_colour(k), eye));

                if (d < 0.065)
                    printf("clusters %u and %u with %s: %.4f\n", k + 1, i + 1, eyes[eye], d);
                CHECK(d >= 0.065);
            }
}

/* More, less and what chance explains, from a change of a twentieth on. */
TEST(changes)
{
    for (int eye = 0; eye < EYES; eye++)
        for (double share = 0.05; share <= 1; share += 0.05) {
            struct oklab more = look(palette_change(share, true, false), eye),
                         less = look(palette_change(share, false, false), eye),
                         chance = look(palette_change(share, true, true), eye);

            CHECK(apart(more, less) >= 0.045 && apart(more, chance) >= 0.045 && apart(less, chance) >= 0.045);
        }
}

TEST_MAIN
