/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/picture/palette.h"
#include <math.h>
#include <string.h>

/* A name turns the hue by up to `turn` degrees, which leaves the families apart. */
static const struct {
    int hue, saturation, turn;
} families[FAMILY_COUNT] = {
    [FAMILY_PROGRAM] = {205, 70, 36}, [FAMILY_MPI] = {18, 82, 8},      [FAMILY_OPENMP] = {44, 82, 6},
    [FAMILY_GPU] = {326, 50, 12},     [FAMILY_SUPPORT] = {18, 42, 8},  [FAMILY_SYSTEM] = {220, 8, 8},
    [FAMILY_LIBRARY] = {145, 48, 18}, [FAMILY_WAITING] = {350, 74, 6},
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
static uint32_t hash_name(const char *name)
{
    uint32_t h = 0x811c9dc5;

    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 0x01000193u;
    h ^= h >> 15;
    return h * 0x2c1b3c6du;
}

uint32_t palette_colour(const char *name, enum family family)
{
    uint32_t h = hash_name(name);
    int turn = families[family].turn, saturation = families[family].saturation - (int)((h >> 16) % 3) * 12;

    return colour_of(families[family].hue + (int)(h % (2 * (uint32_t)turn + 1)) - turn, saturation < 6 ? 6 : saturation,
                     (56 + (h >> 8) % 27) / 100.0);
}

uint32_t palette_number(unsigned i)
{
    static const uint32_t colours[] = {0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xd55e00, 0xb8a800, 0x6a3d9a};

    return colours[i % (sizeof colours / sizeof *colours)];
}

uint32_t palette_change(double share, bool more, bool chance)
{
    return chance ? 0xcccccc : colour_of(more ? 24 : 210, 85, (92 - 37 * fmin(share, 1)) / 100);
}
