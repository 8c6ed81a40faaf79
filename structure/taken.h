/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the code of a binary takes the address of a procedure, to hand it to somebody who calls it. What opens a
 * parallel region hands over the region's body: so it is known also where it left for the runtime by a jump, and is not
 * on the stack.
 */
#ifndef HQ_STRUCTURE_TAKEN_H
#define HQ_STRUCTURE_TAKEN_H

#include "common/vec.h"
#include "structure/structure.h"

struct taken {
    uint64_t procedure; /* its address */
    uint64_t at;        /* of the instruction that computes it */
};
struct taken_list {
    struct taken *data;
    size_t len, cap;
};

/* The procedures that gcc lists in a file for the target regions of OpenMP: addresses, in the order of the file. */
struct offloaded_list {
    uint64_t *data;
    size_t len, cap;
};

/* Appends the instructions that take the addresses of those procedures, by the symbols of a file of `options`'
 * build-id, which hold `inside`, and the bodies of target regions. Nothing where the file cannot be read, or is another
 * one. */
void taken_find(const char *path, const struct structure_options *options, const uint64_t *inside, size_t count,
                struct taken_list *out, struct offloaded_list *offloaded);

#endif
