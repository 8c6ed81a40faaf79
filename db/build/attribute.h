/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attribution: a tree of addresses and the structure of its load modules become scopes, codes and frames of a model.
 *
 * Frames that say nothing about the program are left out: above main `_start` and libc's start code, above the
 * start routine of a created thread `clone` and `start_thread`. They stay where they were sampled themselves, or where
 * something else follows (an exit handler, say). A created thread's paths hang below a row that names what created it.
 */
#ifndef HQ_DB_BUILD_ATTRIBUTE_H
#define HQ_DB_BUILD_ATTRIBUTE_H

#include "common/err.h"
#include "db/build/calltree.h"
#include "db/model/model.h"
#include "structure/given/given.h"

struct attribute_options {
    unsigned threads;      /* modules are recovered at the same time; 0: all processors */
    const char *cache_dir; /* of structures; NULL: none */
    bool no_loops;
    const struct given *given; /* structure from outside; NULL: none */
};

/* frames: [tree's frame] -> model's frame, HQDB_NONE: left out; the caller frees it. */
struct hq_error *attribute(const struct calltree *tree, const struct attribute_options *options, struct model *m,
                           uint32_t **frames);

/* The texts that are shown for values of enum hqm_partial and enum hqm_loss. Static. */
const char *partial_reason(uint64_t reason);
const char *loss_reason(unsigned reason);

#endif
