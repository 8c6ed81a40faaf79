/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which function of another module a call names: the one of the stub that it goes through (plt.h). For frames of a
 * stripped library that were entered by a jump, so that what the program called is neither on the stack nor a symbol.
 */
#ifndef HQ_STRUCTURE_CALLEE_H
#define HQ_STRUCTURE_CALLEE_H

#include "structure/structure.h"

struct callees;

/* Opens a file of `options`' build-id. NULL: it cannot be read, or is another one. Ended with callees_close. */
struct callees *callees_open(const char *path, const struct structure_options *options);
void callees_close(struct callees *c);

/* The function of another module (GOMP_barrier, without a version) that is called by the instruction before
 * `return_address`; NULL if that is no call of one by its name. Owned by `c`. */
const char *callee_before(struct callees *c, uint64_t return_address);

#endif
