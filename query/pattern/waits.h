/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a thread waits for somebody else, and does not work: in rows of kind wait, in MPI, and in the procedures of
 * waits.def; or in those that `set waits /REGEX/` names, and in nothing else.
 */
#ifndef HQ_QUERY_WAITS_H
#define HQ_QUERY_WAITS_H

#include "query/query.h"
#include "query/tree/tree.h"

enum waiting {
    WAITS_NOT,
    WAITS_IN_MPI,
    WAITS_FOR_BARRIER,
    WAITS_FOR_LOCK,
    WAITS_FOR_POLL,
    WAITS_FOR_IO,
    WAITS_FOR_OTHERS, /* tasks, a region's end, threads, processes, time */
    WAITS_FOR_FUTEX,  /* of scopes: what called it says for what; a lock, if that says nothing */
    WAITS_AS_SET,     /* `set waits` */
    WAITINGS
};

/* "MPI", "barriers" ...; "" for WAITS_NOT. */
const char *waiting_name(enum waiting waiting);

/* Whether a procedure is one of MPI: by its load module, or by its name, if it is the program's or of none that is
 * known.
 */
bool scope_is_mpi(const struct tree *t, uint32_t scope);

/* [scope] enum waiting; the caller frees it. */
uint8_t *waits_of_scopes(const struct query_env *env, const struct tree *t);

/*
 * [context] what a thread waits for that is directly in the context: its own scope's, else that of what called it. What
 * code of the program, or of a library that is no runtime, does when it is called back from there is work, unless `set
 * waits` says what waits. The caller frees it.
 */
uint8_t *waits_of_contexts(const struct query_env *env, const struct tree *t);

#endif
