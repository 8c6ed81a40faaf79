/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries: nodes with their values, on the way to becoming rows. All in the run's arena.
 */
#ifndef HQ_QUERY_ENTRY_H
#define HQ_QUERY_ENTRY_H

#include "query/run.h"

struct entry {
    struct node node;
    struct entry *parent;
    struct entry **kids;
    size_t kid_count;
    int depth; /* 0: top rows */
    bool expanded;
    bool match; /* satisfies where and matching (always, without them) */
    bool keep;  /* match, or an ancestor of one */
    bool hot;
    uint32_t times;         /* > 1: so many rounds of a recursion */
    struct entry *round_of; /* what is shown for it, and for its like */
    size_t shown_kids;
    uint32_t folded; /* > 0: stands for so many rows */
    double *slots;
    double *statistics;               /* NULL until computed */
    const char *name;                 /* made on demand */
    const struct group_names *groups; /* likewise, where the query asks */
};

struct entries {
    struct entry **data;
    size_t len, cap;
};

/* The shown name of an entry. */
const char *entry_name(struct run *run, struct entry *e);
struct facts entry_facts(struct run *run, struct entry *e);
struct point entry_point(const struct run *run, const struct entry *e, const struct facts *facts);

/* Measured entries for nodes. */
struct entry *entry_new(struct run *run, const struct node *n, struct entry *parent, int depth);
/* True if it has no value of any metric in the selection: then it is no row. */
bool entry_is_absent(struct run *run, const struct entry *e);
void entry_expand(struct run *run, struct entry *e);

#endif
