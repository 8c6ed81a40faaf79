/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups in a tree: of the ones that a session has defined (group.h), or of a ready-made set, which contexts are in
 * each.
 *
 *     inclusive  samples whose call path passes through a member, once
 *     exclusive  samples whose innermost procedure, or a loop or line of it that is named, is a member; inlined code
 *                counts for a file or load module as the code that it was inlined into
 *
 * A ready-made set is a partition: each sample is exclusive to one of its groups, so these add up to the total. By
 * directory and by load module that is where the innermost procedure lies. By runtime it is the outermost entry into a
 * runtime below the innermost frame of the user's (runtime_groups.def).
 */
#ifndef HQ_QUERY_GROUPING_H
#define HQ_QUERY_GROUPING_H

#include "query/pattern/members.h"
#include "query/run.h"

struct grouping_row {
    const char *name, *origin;
    struct set inc, exc;  /* members; the contexts whose direct values are exclusive to it */
    const uint8_t *scope; /* [scope] of a defined group: enum membership; NULL */
    const char *unknown;  /* members_unknown() */
};

struct grouping {
    const struct grouping_row *rows;
    size_t count;
    struct set rest; /* contexts that are exclusive to none */
};

/* The message where no group is defined. */
#define NO_GROUPS "no group is defined: `set groups FILE` or `group NAME = ...` defines some"

/* Those that the query's view shows. A check of one that names nothing known is inconclusive, unless others are chosen.
 */
struct hq_error *grouping_make_shown(struct run *run, const struct grouping **out);

/* If the query's expressions ask for groups: makes them, and looks at the names that it compares with. */
struct hq_error *grouping_check(struct run *run);
/* The groups that a row is in. */
const struct group_names *grouping_names(struct run *run, const struct node *n);

/* ---- ready-made sets (ready_made.c) ---- */

/* Labels each context with the number of its name in `names`. */
void ready_made_labels(struct run *run, enum grouped grouped, uint32_t *label, struct intern *names);
/* Leaves in *keep (of frames; NULL: all) what is in the system or waits for others: I/O, kernel, MPI, OpenMP. */
void ready_made_keep_system(const struct db *db, uint8_t **keep);

#endif
