/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a race looks at its rows, and what part of GATE_FAMILY each look may spend. With a fixed number of pairs there
 * is one look, at the end; else one after each ABBA from the fourth pair on, which spends what the time since the last
 * one allows (gate_spent). Runs may be so long that few pairs fit into the time. Where nobody set it (`patience`), such
 * a race goes on until it has LOOKS_PATIENT pairs, and keeps a part of GATE_FAMILY for its last look. That it is one is
 * known at the first look, by the pairs until then; what they differ by plays no part. Where somebody set the time, the
 * last look is the one behind which no further pair would end in it (`pair`): how long pairs take says nothing of how
 * they differ. Pure data.
 */
#ifndef HQ_REPL_GATE_LOOKS_H
#define HQ_REPL_GATE_LOOKS_H

#include <stdbool.h>
#include <stddef.h>

enum { LOOKS_PAIRS_MIN = 4, LOOKS_PAIRS_MAX = 500, LOOKS_PATIENT = 16 };
#define LOOKS_KEPT 0.2 /* the part of GATE_FAMILY that is kept for the last look of a patient race */

struct gate_looks {
    size_t fixed;    /* pairs; 0: until it is decided */
    double budget;   /* seconds; 0: without an end */
    double patience; /* seconds after which a race of long runs ends in any case; 0: it ends with the budget */
    double pair;     /* seconds that the next pair may take, which has to end within the budget; 0: it may end later */
    double spent;    /* by the looks so far; begins with 0 */
    size_t next;     /* pairs at the next look; begins with 0 */
    double kept;     /* LOOKS_KEPT where the budget is too short for the runs; begins with 0 */
    bool last;       /* the present look ends the race, whatever it shows */
};

/* Whether one more pair, begun after so many seconds, is expected to end in time; always, where it may end later. */
bool gate_pair_fits(const struct gate_looks *l, double seconds);

/* Whether to look after so many pairs and seconds; then *family is what may be spent. */
bool gate_look(struct gate_looks *l, size_t pairs, double seconds, double *family);

#endif
