/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The views: each is one file here, which defines its `const struct view_row view_NAME` (query/view.h), and one row of
 * query/grammar/views.def. And what they share.
 */
#ifndef HQ_QUERY_VIEWS_H
#define HQ_QUERY_VIEWS_H

#include "query/run.h"
#include "query/tree/node.h"
#include "query/view.h"

/* Never NULL. */
const struct view_row *view_find(enum view_kind kind);

#define VIEW(kind, row, ...) extern const struct view_row view_##row;
#include "query/grammar/views.def"
#undef VIEW

/* ---- shared by views ---- */

/* A node for a group (grouped.c). */
struct grouping_row;
struct node node_of_group(struct run *run, const struct grouping_row *row);

/* The rows that prepare has put into run->prepared. */
struct hq_error *roots_prepared(struct run *run, struct nodes *out);
/*
 * Runs the same question on the database that `compare with` names, for a view that looks at both itself
 * (view_row.compares): selects there, and resolves `of`. Its notes go to the same table, its texts end with it:
 * run_other_end, also of NULL.
 */
struct hq_error *run_other(struct run *run, struct run **out); /* other.c */
void run_other_end(struct run *other);
/* A metric that the view brings itself, in the place of those of the database: every node has its values in its slots.
 */
/* Its values add up to nothing, until measure_add says to what. */
struct measure measure_of_view(const char *name, const char *description, enum dim dim, double scale);
void measure_add(struct measure *m, int64_t amount);

/*
 * Procedures as people count them: PROCEDURE and INLINE scopes of one name in one file of one module are one.
 * [scope] -> its number, HQDB_NONE for other kinds. Made once per run.
 */
struct entities {
    uint32_t *of;    /* [scope_count] */
    uint32_t *scope; /* [count] the one that names it: a PROCEDURE if there is one */
    uint32_t count;
};
const struct entities *run_entities(struct run *run); /* entities.c */
/* Contexts of each entity for which wanted[scope] (NULL: all), as nodes. */
void entity_nodes(struct run *run, const uint8_t *wanted, struct nodes *out);

/*
 * The scopes of `kinds` that the view's `of` means in a static list: those that match, and those inside of one that
 * matches. NULL without `of`. In the run's arena.
 */
const uint8_t *run_wanted(struct run *run, unsigned kinds);

#endif
