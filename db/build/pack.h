/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of a build as bytes, for other ranks of the same build: not a format, nothing of it is ever stored. All ranks
 * run the same hq on the same kind of machine, so records travel as they are. Unpacked arrays are allocated; the caller
 * frees them like those he made.
 */
#ifndef HQ_DB_BUILD_PACK_H
#define HQ_DB_BUILD_PACK_H

#include "common/cursor.h"
#include "db/model/batch.h"
#include "db/build/calltree.h"
#include "db/build/process.h"

/* `count` things of `size` bytes each. Bytes that end early make the cursor bad (cursor.h). */
void pack_array(struct bytes *b, const void *data, size_t count, size_t size);
/* Never NULL. */
void *unpack_array(struct cursor *c, size_t *count, size_t size);

/* unpack_tree begins the tree; calltree_deinit ends it. */
void pack_tree(struct bytes *b, const struct calltree *t);
void unpack_tree(struct cursor *c, struct calltree *out);

/* process_deinit ends what is unpacked. */
void pack_process(struct bytes *b, const struct process *p);
void unpack_process(struct cursor *c, struct process *out);

/* The parts of a canon that coding and tallying need: metrics, scopes, contexts, profiles, the contexts of frames. */
void pack_canon(struct bytes *b, const struct canon *canon);
void unpack_canon(struct cursor *c, struct canon *out);

/* batch_deinit ends what is unpacked. */
void pack_batch(struct bytes *b, const struct batch *batch);
void unpack_batch(struct cursor *c, struct batch *out);

#endif
