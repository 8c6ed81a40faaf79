/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A walk along a copy of a stack, from the registers of a sample outwards, by the unwind information of the files, by
 * what machine code does where there is none (unwind/follow.h), and last by frame pointers. What it finds must be an
 * address in executable code. It is the collector's walk (preload/walk/walk.h) without what that needs to be quick.
 */
#ifndef HQ_DB_PERF_WALK_H
#define HQ_DB_PERF_WALK_H

#include "common/vec.h"
#include "db/perf/image.h"
#include "unwind/arch/x86_64/follow.h"

struct perf_place {           /* of an address */
    struct perf_image *image; /* NULL: its file cannot be read */
    uint64_t bias;            /* address minus link address */
    uint32_t module;          /* the caller's number */
};

/* False: it lies in no executable mapping. */
typedef bool perf_lookup(void *where, uint64_t address, struct perf_place *out);

struct perf_frame {
    uint64_t offset;  /* ready for look-up: less the bias, and for a call site inside the call */
    uint32_t module;  /* UINT32_MAX: none */
    uint64_t address; /* offset and bias */
};

struct perf_walk {
    /* Set by the caller. */
    perf_lookup *lookup;
    void *where;
    const uint8_t *stack; /* a copy of `bytes` from reg[CFI_SP] on */
    uint64_t bytes;
    bool all;                    /* the copy reaches to the end of the mapped stack */
    uint64_t reg[CFI_REGISTERS]; /* DWARF's numbers */
    uint32_t known;
    /* The answer, innermost first. */
    VEC(struct perf_frame) frames;
    uint32_t partial; /* enum hqm_partial, 0: the path is whole */
    /* Its own; all zeros at first. */
    uint64_t low;
    bool exact;       /* the program counter is no return address */
    bool called_main; /* the frame is the caller of main */
    uint32_t missed;
    struct cfi cfi;
    struct follow follow;
};

/* Fills frames, innermost first, and partial. */
void perf_walk(struct perf_walk *w);
void perf_walk_deinit(struct perf_walk *w);

#endif
