/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose code a scope is, for pictures: that of the program, of MPI, of a runtime (db/runtimes.def), of the system; or
 * whatever code waits (waits.h). And in which shade (shades.h).
 */
#ifndef HQ_QUERY_FAMILIES_H
#define HQ_QUERY_FAMILIES_H

#include "query/picture/palette.h"
#include "query/query.h"
#include "query/tree/tree.h"

/* [scope] how it is drawn; the caller frees it. */
struct tint *tints_of_scopes(const struct query_env *env, const struct tree *t);

#endif
