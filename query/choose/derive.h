/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees made in memory: other settings (db/fuse.h), scopes pruned or hidden, two databases aligned.
 *
 * A derivation gives every context of a source tree a node in the new one; nodes with the same parent, scope and call
 * site are one. Frames follow their contexts, so all values are kept, and the sums of a selection are put in the new
 * order.
 */
#ifndef HQ_QUERY_DERIVE_H
#define HQ_QUERY_DERIVE_H

#include "common/map.h"
#include "query/choose/select.h"

/* The database as the settings of the session want it; stays with the environment. */
struct hq_error *derive_settings(struct query_env *env, struct db *db, const struct db **out);
/* Ends what derive_settings keeps. */
void derive_forget(struct query_env *env);

/* Applies prune, hide and compare with. */
struct hq_error *derive_tree(struct query_env *env, struct selection *s, const struct query *q);

/* ---- between derive.c and compare.c ---- */

struct tree_node {
    uint32_t parent, scope, call_file, call_line;
    uint64_t id;
};

struct tree_builder {
    struct keymap keys;
    VEC(struct tree_node) nodes; /* nodes.data[0]: the root */
};

void builder_init(struct tree_builder *b, uint32_t root_scope, uint64_t id);
/* The child of a node; `id` is taken if it is new. */
uint32_t builder_child(struct tree_builder *b, uint32_t parent, uint32_t scope, uint32_t call_file, uint32_t call_line,
                       uint64_t id);

/* One source of frames: its tree, and the new node of each of its contexts. */
struct frame_source {
    const struct tree *tree;
    const uint32_t *node;
};

/*
 * The new tree over `scopes` (an array that the tree then owns if `own_scopes`), in canonical order: lines first, then
 * by scope and call site. position[i] receives the new place of each position of source i. Ends the builder.
 */
void builder_finish(struct tree_builder *b, const struct frame_source *sources, size_t source_count,
                    struct hqdb_scope *scopes, uint32_t scope_count, bool own_scopes, uint32_t **position,
                    struct tree *out);

/* Applies prune and hide to the tree of a database as it is. Warnings go to `notes`, which may be NULL. */
struct hq_error *prune_tree(struct query_env *env, struct tree *t, const struct query *q, struct selection *notes);

/* Opens the database that a query compares with; it stays open with the session. */
struct hq_error *compare_open(struct query_env *env, const struct query *q, struct db **out);
/* The two databases of a comparison as one tree. */
struct hq_error *compare_trees(struct query_env *env, struct selection *s, const struct query *q);

#endif
