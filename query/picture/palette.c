/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/picture/palette.h"
#include <math.h>
#include <string.h>

/* A name turns the hue by up to `turn` degrees, which leaves the families apart. */
static const struct {
    int hue, saturation, turn;
    const char *name;
} families[FAMILY_COUNT] = {
    [FAMILY_PROGRAM] = {205, 70, 36, "program"}, [FAMILY_MPI] = {18, 82, 8, "MPI"},
    [FAMILY_OPENMP] = {44, 82, 6, "OpenMP"},     [FAMILY_GPU] = {276, 80, 8, "GPU"},
    [FAMILY_SUPPORT] = {18, 42, 8, "below MPI"}, [FAMILY_SYSTEM] = {220, 16, 40, "system"},
    [FAMILY_LIBRARY] = {145, 48, 18, "library"}, [FAMILY_WAITING] = {350, 74, 6, "waiting"},
};

static double channel(double hue, double saturation, double light, double offset)
{
    double k = fmod(offset + hue / 30, 12), a = saturation * fmin(light, 1 - light);

    return light - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1));
}

static uint32_t colour_of(int hue, int saturation, double light)
{
    uint32_t colour = 0;

    for (int offset = 0; offset <= 8; offset += 4) /* red 0, green 8, blue 4 */
        colour = colour << 8 | (uint32_t)lround(255 * channel((hue + 360) % 360, saturation / 100.0, light,
                                                              offset == 4   ? 8
                                                              : offset == 8 ? 4
                                                                            : 0));
    return colour;
}

/* FNV-1a and a last mixing, of 32 bits: the page computes it too, in a language of doubles. */
static uint32_t hash_name(const char *name, unsigned shade)
{
    uint32_t h = 0x811c9dc5 + shade;

    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 0x01000193u;
    h ^= h >> 15;
    return h * 0x2c1b3c6du;
}

static uint32_t shade_of(const char *name, struct tint tint, double least, double range)
{
    uint32_t h = hash_name(name, tint.shade);
    unsigned family = tint.family < FAMILY_COUNT ? tint.family : FAMILY_PROGRAM;
    int turn = families[family].turn, saturation = families[family].saturation - (int)((h >> 16) % 3) * 12;

    return colour_of(families[family].hue + (int)(h % (2 * (uint32_t)turn + 1)) - turn, saturation < 6 ? 6 : saturation,
                     (least + (h >> 8) % 27 * range / 27) / 100);
}

uint32_t palette_colour(const char *name, struct tint tint)
{
    return shade_of(name, tint, 56, 27);
}

uint32_t palette_dark(const char *name, struct tint tint)
{
    return shade_of(name, tint, 28, 21);
}

const char *palette_family_name(enum family family)
{
    return families[family].name;
}

uint32_t palette_family(enum family family)
{
    return colour_of(families[family].hue, families[family].saturation, 0.7);
}

/* Linear light of a channel of sRGB. */
static double linear(uint32_t colour, int shift)
{
    double c = (colour >> shift & 255) / 255.0;

    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(uint32_t colour)
{
    return 0.2126 * linear(colour, 16) + 0.7152 * linear(colour, 8) + 0.0722 * linear(colour, 0);
}

uint32_t palette_ink(uint32_t ground)
{
    return luminance(ground) < 0.179 ? 0xffffff : 0; /* there both differ from it by as much */
}

static double lab_part(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : t * 24389 / 3132 + 16.0 / 116;
}

/* By the white of D65. */
static void to_lab(uint32_t colour, double out[3])
{
    double r = linear(colour, 16), g = linear(colour, 8), b = linear(colour, 0);
    double x = lab_part((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505), y = lab_part(luminance(colour)),
           z = lab_part((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.0891);

    out[0] = 116 * y - 16;
    out[1] = 500 * (x - y);
    out[2] = 200 * (y - z);
}

double palette_distance(uint32_t a, uint32_t b)
{
    double x[3], y[3];

    to_lab(a, x);
    to_lab(b, y);
    return hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]);
}

uint32_t palette_number(unsigned i)
{
    static const uint32_t colours[] = {0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xd55e00, 0x7f3b08, 0x6a3d9a};

    return colours[i % (sizeof colours / sizeof *colours)];
}

uint32_t palette_change(double share, bool more, bool chance)
{
    return chance ? 0xcccccc : colour_of(more ? 24 : 210, 85, (92 - 37 * fmin(share, 1)) / 100);
}
