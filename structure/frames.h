/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * .eh_frame read for what it says about procedures: exact bounds of nearly all code, also in stripped files, and where
 * the landing pads of exception handlers are. Formats: Linux Standard Base core specification, "Exception Frames"; the
 * language-specific data area as GCC's unwind-pe.h and except.cc write it.
 */
#ifndef HQ_STRUCTURE_FRAMES_H
#define HQ_STRUCTURE_FRAMES_H

#include "structure/elf.h"

struct frame { /* one FDE */
    uint64_t low, high;
    uint64_t lsda;  /* address of its language-specific data, 0 if there is none */
    bool continues; /* begins with a stack frame that other code has set up: a part of a procedure */
};

struct frames {
    struct frame *data; /* ascending, not overlapping */
    size_t len, cap;
};

/* From .eh_frame; none if there is none. Ended with frames_deinit. */
void frames_read(struct elf *text, struct frames *out);
void frames_deinit(struct frames *f);
/* The one that holds the address; NULL: none does. */
const struct frame *frames_find(const struct frames *f, uint64_t address);

struct landing_pad { /* an exception out of [low, high) goes on at pad */
    uint64_t low, high, pad;
};
struct landing_pads {
    struct landing_pad *data;
    size_t len, cap;
};
/* Appends the landing pads of one frame. */
void frames_landing_pads(const struct elf *text, const struct frame *frame, struct landing_pads *out);

#endif
