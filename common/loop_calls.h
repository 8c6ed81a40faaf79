/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells what is called in the loops of procedures, on two sides. Loops are known by their numbers, and two that
 * changed places, or of which one was added where another was taken out, have numbers that are wrong: a loop that calls
 * nothing that it calls on the other side, and something that another loop of its procedure calls there, is another
 * one. Which loops of that procedure are which nobody knows then.
 *
 * Procedures, loops and what is called are numbers that the caller gives. Zeroed is empty.
 */
#ifndef HQ_COMMON_LOOP_CALLS_H
#define HQ_COMMON_LOOP_CALLS_H

#include "common/map.h"

struct loop_calls {
    struct keymap loops[2], calls[2], called[2]; /* private, by side */
};

/* Side is 0 or 1. */
void loop_calls_add(struct loop_calls *l, int side, uint32_t procedure, uint32_t loop, uint32_t callee);
/* Adds the procedures of which a loop is another one. */
void loop_calls_cross(const struct loop_calls *l, struct map *crossed);
void loop_calls_deinit(struct loop_calls *l);

#endif
