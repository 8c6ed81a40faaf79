/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One palette for all pictures: svg, terminals and the page (query/output/page/palette.ts has the same numbers). The
 * hue tells whose code it is, the shade tells names apart. What waits is red everywhere, and MPI next to it. Colours of
 * numbers are near those of Okabe and Ito (Color Universal Design, 2008), which the colour-blind tell apart; so are the
 * middles of families, but a light procedure of one may look to them as a dark one of another does.
 */
#ifndef HQ_QUERY_PALETTE_H
#define HQ_QUERY_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

/* The owner of code. The page has these numbers too. */
enum family {
    FAMILY_PROGRAM, /* what was executed */
    FAMILY_MPI,
    FAMILY_OPENMP,
    FAMILY_GPU,
    FAMILY_SUPPORT, /* what MPI is built on */
    FAMILY_SYSTEM,  /* C library, loader, kernel */
    FAMILY_LIBRARY,
    FAMILY_WAITING, /* what waits, but for MPI (query/pattern/waits.h) */
    FAMILY_COUNT
};

/* How a procedure is drawn: whose code it is, and which of the shades that its name has (query/pattern/shades.h). */
struct tint {
    uint8_t family; /* enum family */
    uint8_t shade;  /* < PALETTE_SHADES */
};
enum { PALETTE_SHADES = 32 };

/* 0xRRGGBB; computed from the name and the tint alone. */
uint32_t palette_colour(const char *name, struct tint tint);
/* Its colour on a dark ground: the lighter of two is the lighter there, too. */
uint32_t palette_dark(const char *name, struct tint tint);

/* For legends: what a family is called, and the middle of its colours. */
const char *palette_family_name(enum family family);
uint32_t palette_family(enum family family);

/* Black or white, whichever can be read on it: the contrast of WCAG 2 is 4.5 or more. */
uint32_t palette_ink(uint32_t ground);

/* How different two colours look: 2 is just seen side by side, 100 lies between black and white (CIE 1976, L*a*b*). */
double palette_distance(uint32_t a, uint32_t b);

/* Returns the colour of a thing that has a number and no name: a cluster. */
uint32_t palette_number(unsigned i);

/* More is orange, less is blue; `share` of what was there, 1 at most, is how strong; chance: grey. */
uint32_t palette_change(double share, bool more, bool chance);

#endif
