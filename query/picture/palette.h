/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One palette for all pictures: svg, terminals and the page (query/output/page/palette.ts has the same numbers). The
 * hue tells whose code it is, the lightness tells names apart. The hues are those of Okabe and Ito (Color Universal
 * Design, 2008), which the colour-blind tell apart; what waits is red everywhere, and MPI next to it.
 */
#ifndef HQ_QUERY_PALETTE_H
#define HQ_QUERY_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

/* The owner of code. The page has these numbers too. */
enum family {
    FAMILY_PROGRAM, /* the load modules that have a main */
    FAMILY_MPI,
    FAMILY_OPENMP,
    FAMILY_GPU,
    FAMILY_SUPPORT, /* what MPI is built on */
    FAMILY_SYSTEM,  /* C library, loader, kernel */
    FAMILY_LIBRARY,
    FAMILY_WAITING, /* what waits, but for MPI (query/pattern/waits.h) */
    FAMILY_COUNT
};

/* 0xRRGGBB, light enough for black letters; computed from the name and the family alone, so a procedure has it in every
 * picture of every run. */
uint32_t palette_colour(const char *name, enum family family);

/* Returns the colour of a thing that has a number and no name: a cluster. */
uint32_t palette_number(unsigned i);

/* More is orange, less is blue; `share` of what was there, 1 at most, is how strong; chance: grey. */
uint32_t palette_change(double share, bool more, bool chance);

#endif
