/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A view is one file here, which defines its `const struct view_row view_NAME`, and one row of query/grammar/views.def.
 * It gives nodes; the driver (run.h) measures, filters, sorts, cuts and numbers them, so a view knows nothing of
 * clauses.
 *
 * roots: the top rows. With `of PATTERN` those of the pattern. children: the rows below a node, in any order; nodes of
 * one parent are distinct. The driver asks between calls whether the user wants to stop; only long loops inside must
 * use run_interrupted.
 */
#ifndef HQ_QUERY_VIEWS_H
#define HQ_QUERY_VIEWS_H

#include "query/tree/node.h"
#include "query/run.h"

enum view_shape {
    SHAPE_TREE,   /* disjoint children: what is folded is the sum of everything below */
    SHAPE_NESTED, /* nested, but children overlap or repeat */
    SHAPE_LIST,   /* one level */
    SHAPE_PATH,   /* one path through a tree */
    SHAPE_FACTS,  /* fills the table itself */
};

struct view_row {
    enum view_shape shape;
    unsigned of_kinds;  /* what `of PATTERN` may match: KINDS_* */
    unsigned row_kinds; /* what its rows are, KINDS_*; 0: anything */
    bool of_profiles;   /* rows are profiles */
    bool in_order;      /* rows come in their order and are sorted only if asked; none is folded */
    bool adds_up;       /* with measures of its own: they add up over rows, but for plain ones */
    const char *beside; /* heading of a column of text beside the name; NULL none */
    /* Before anything is bound; may put measures of its own in the place of those of the database. NULL: nothing to do.
     */
    struct hq_error *(*prepare)(struct run *run);
    struct hq_error *(*roots)(struct run *run, struct nodes *out);
    void (*children)(struct run *run, const struct node *parent, struct nodes *out);
    struct hq_error *(*fill)(struct run *run, struct table *t); /* SHAPE_FACTS */
};

const struct view_row *view_find(enum view_kind kind);

#define VIEW(kind, row, ...) extern const struct view_row view_##row;
#include "query/grammar/views.def"
#undef VIEW

/* ---- shared by views ---- */

/* A node for one context, as the tree shows it. */
struct node node_of_context(const struct tree *t, uint32_t c);
/* A node for all of `contexts` (ascending), named by a scope. */
struct node node_of_set(const struct tree *t, uint32_t scope, struct set contexts);

/* A node for a group, and what is said where there are none (grouped.c). */
struct grouping_row;
struct node node_of_group(struct run *run, const struct grouping_row *row);
#define NO_GROUPS "no group is defined: `set groups FILE` or `group NAME = ...` defines some"

/* The rows that prepare has put into run->prepared. */
struct hq_error *roots_prepared(struct run *run, struct nodes *out);
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
const struct entities *run_entities(struct run *run);
/* Contexts of each entity for which wanted[scope] (NULL: all), as nodes. */
void entity_nodes(struct run *run, const uint8_t *wanted, struct nodes *out);

/*
 * The scopes of `kinds` that the view's `of` means in a static list: those that match, and those inside of one that
 * matches. NULL without `of`. In the run's arena.
 */
const uint8_t *run_wanted(struct run *run, unsigned kinds);

#endif
