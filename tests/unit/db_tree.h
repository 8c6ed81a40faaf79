/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of a database (query/tree/tree.h) by its numbers, for tests of db/. Nothing is kept, nothing is to be freed.
 */
#ifndef HQ_TESTS_UNIT_DB_TREE_H
#define HQ_TESTS_UNIT_DB_TREE_H

#include "query/tree/tree.h"

static inline struct tree db_tree(const struct db *db)
{
    struct tree t;

    tree_init(&t, db);
    return t;
}

static inline struct db_range db_tree_range(const struct db *db, uint32_t context)
{
    struct tree t = db_tree(db);

    return tree_range(&t, context);
}

/* Raw values over all profiles, of a context with its subtree. */
static inline int64_t db_tree_inclusive(const struct db *db, uint32_t metric, uint32_t context)
{
    struct db_range r = db_tree_range(db, context);

    return (int64_t)((uint64_t)db->sums[metric][r.last] - (uint64_t)db->sums[metric][r.first]);
}

static inline int64_t db_tree_count(const struct db *db, uint32_t metric, uint32_t context)
{
    struct db_range r = db_tree_range(db, context);

    return (int64_t)((uint64_t)db->counts[metric][r.last] - (uint64_t)db->counts[metric][r.first]);
}

static inline struct db_list db_tree_instances(const struct db *db, uint32_t scope)
{
    struct tree t = db_tree(db);

    return tree_instances(&t, scope);
}

#endif
