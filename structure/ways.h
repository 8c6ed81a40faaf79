/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How procedures are entered and left: the instructions that a collector has to watch to see every visit of them. That
 * is the first one, and each that leaves the procedure with the stack it was entered with: returns, jumps to other
 * procedures, and jumps through a pointer that are no switch of its own. What leaves in other ways has no place of its
 * own: of exceptions it is watched where C++ begins to handle one, of longjmp where that is entered.
 */
#ifndef HQ_STRUCTURE_WAYS_H
#define HQ_STRUCTURE_WAYS_H

#include "common/arena.h"
#include "common/err.h"
#include "common/vec.h"
#include "format/patches.h"

#include <stdbool.h>

struct way_procedure {
    const char *name; /* as users see it */
    uint64_t entry;
    const char *refused;   /* NULL, or why it cannot be watched, as the end of a sentence */
    uint32_t inlined;      /* copies of it in others, which are not seen; as far as debug information tells */
    uint32_t first, count; /* in places */
};

struct ways {
    struct arena arena; /* all texts */
    uint8_t build_id_len, build_id[31];
    VEC(struct way_procedure) procedures;
    VEC(struct hqp_place) places;
};

/* Whether a procedure of this name is meant; called with every name of each. */
typedef bool ways_wanted_fn(void *arg, const char *name);

/*
 * The ways of those procedures of a binary that are wanted, ascending; and where it has C++'s __cxa_begin_catch, or
 * longjmp, the places of these (HQP_LANDING, HQP_JUMPING), which belong to no procedure. `wanted` may be NULL. Freed
 * with ways_deinit, also after an error: the file cannot be read, or has no build-id.
 */
struct hq_error *ways_find(const char *path, ways_wanted_fn *wanted, void *arg, struct ways *out);
void ways_deinit(struct ways *w);

#endif
