/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes of views. A node is a row before it is measured: a name and the contexts that it stands for. Its value
 * is inclusive = sum over the exposed contexts of `inc` (those with no ancestor in it) of raw over their subtrees
 *     exclusive = sum over all contexts of `exc` by the node's rule
 * ([presenting], section IV). Both come down to ranges of frame positions, and so does everything else about a
 * node: statistics over profiles, sample counts, coverage.
 */
#ifndef HQ_QUERY_NODE_H
#define HQ_QUERY_NODE_H

#include "common/arena.h"
#include "common/vec.h"
#include "query/tree/tree.h"

struct set {
    const uint32_t *data;
    size_t len;
}; /* contexts, ascending; in the run's arena or the tree */

enum exclusive_rule {
    EXCLUSIVE_SCOPE,  /* by the kind of each context: doc/language.md, Scopes, values and profiles */
    EXCLUSIVE_FRAME,  /* with inlined code: files and load modules */
    EXCLUSIVE_ALL,    /* everything below: a row that stands for folded ones of a tree */
    EXCLUSIVE_DIRECT, /* what belongs to each context itself and not to a child: rows of groups */
    EXCLUSIVE_NONE,   /* call rows of the flat view */
};

struct node {
    enum scope_kind kind;
    uint32_t scope;                /* of the tree: its name and place; HQDB_NONE: `name` */
    const char *name;              /* shown instead of the scope's; may be NULL */
    uint32_t file, line;           /* the place of a row that no scope is of; line 0: the scope's, if there is one */
    uint32_t call_file, call_line; /* call site; 0, 0 none */
    uint32_t context;              /* the one context it is, in views of contexts; HQDB_NONE */
    uint32_t profile;              /* rows of profiles; HQDB_NONE */
    struct set inc, exc;
    const uint32_t *at; /* callers: the context that the row names, for each of exc */
    enum exclusive_rule rule;
    bool leaf;       /* has no children by its nature */
    bool aside;      /* a row of profiles that are the launcher's or helpers: statistics leave them out */
    uint32_t rounds; /* > 0: a recursion whose rounds are one row: so many at most */
    uint64_t id;
    const char *text;    /* a column of text beside the name: the source line, the process */
    const double *slots; /* values, if they are not those of the sets; NULL */
};

/* Two for each measure: inclusive, exclusive. Makes the exclusive ones those that the inclusive ones are, and returns
 * them. */
static inline double *slots_same(double *slots, size_t measures)
{
    for (size_t i = 0; i < measures; i++)
        slots[2 * i + 1] = slots[2 * i];
    return slots;
}

/* A row that has values of its own and no scope: a visit, a point, a pair of ranks. Its maker gives it a name, an id
 * and, if it is of one, a profile. */
static inline struct node node_of_slots(const double *slots)
{
    return (struct node){
        .kind = SCOPE_THREAD,
        .scope = HQDB_NONE,
        .context = HQDB_NONE,
        .profile = HQDB_NONE,
        .leaf = true,
        .slots = slots,
        .rule = EXCLUSIVE_NONE,
    };
}

/* A node for one context, as the tree shows it. */
struct node node_of_context(const struct tree *t, uint32_t c);
/* A node for all of `contexts` (ascending), named by a scope. */
struct node node_of_set(const struct tree *t, uint32_t scope, struct set contexts);

struct nodes {
    struct node *data;
    size_t len, cap;
};

struct ranges {
    struct db_range *data;
    size_t len, cap;
};

/*
 * Sums of a database that was written as a whole fit: what writes it sees to that. Where one does not, the file is
 * damaged, and the query has no result: like the flags of floating-point arithmetic this one is of the thread, is set
 * by sums that overflow, and is looked at when the query ends (driver.c).
 */
extern _Thread_local bool sums_overflow;

static inline void sum_add(int64_t *sum, int64_t x)
{
    sums_overflow |= __builtin_add_overflow(*sum, x, sum);
}

static inline int64_t sum_times(int64_t sum, int64_t n)
{
    int64_t x;

    sums_overflow |= __builtin_mul_overflow(sum, n, &x);
    return x;
}

static inline int64_t sum_difference(int64_t a, int64_t b)
{
    int64_t d;

    sums_overflow |= __builtin_sub_overflow(a, b, &d);
    return d;
}

/* Replaces the contents of `out`: ascending, disjoint, neighbours joined. */
void node_ranges(const struct tree *t, const struct node *n, bool exclusive, struct ranges *out);

static inline int64_t ranges_sum(const struct ranges *r, const int64_t *prefix)
{
    int64_t sum = 0;

    for (size_t i = 0; i < r->len; i++)
        sum_add(&sum, sum_difference(prefix[r->data[i].last], prefix[r->data[i].first]));
    return sum;
}

/* The contexts of a set that have no ancestor in it. */
struct set set_exposed(const struct tree *t, struct set s, struct arena *arena);
/* Sorted and without duplicates. */
struct set set_sorted(uint32_t *contexts, size_t len, struct arena *arena);

#endif
