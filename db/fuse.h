/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fusing call paths with static structure: frames, codes and scopes in, the context tree that people see out
 * (the canonical calling context tree of [presenting], section IV). The builder uses it for the file;
 * queries use it for `set inline off`, `set loops off` and `set normalise off`.
 *
 * A frame adds below its caller's scope: its procedure, the inlined procedures and loops around its address,
 * and the LINE itself. A callee is a child of the innermost loop, inlined procedure or procedure that holds the call
 * site. What lies inside of a runtime falls where its caller does. Directly below a parallel region the procedure that
 * the compiler made of it is left out: a region is part of the procedure it is written in. Likewise a phase is part of
 * the procedure that begins it: what is in it, in that procedure, goes on below the scopes that both have in common.
 * Children are told apart by static scope, and procedures by the file and line of the call site too. Order
 * of children: lines first, phases last, else by scope, then by call site; so the result does not depend on the order
 * of the frames.
 */
#ifndef HQ_DB_FUSE_H
#define HQ_DB_FUSE_H

#include "db/db.h"

struct fuse_settings {
    bool raw;       /* raw scope chains instead of normalised ones: `set normalise off` */
    bool no_inline; /* fold inlined code into its host: `set inline off` */
    bool no_loops;  /* fold loops into what they are in: `set loops off` */
    bool internals; /* show the insides of runtimes: `set internals on` */
};

/* Scopes and strings must be in their final order: their numbers are what children are sorted by. */
struct fuse_input {
    const struct hqdb_scope *scopes;
    size_t scope_count;
    const struct hqdb_code *codes;
    size_t code_count;
    const struct hqdb_frame *frames;
    size_t frame_count; /* parents first */
    const char *strings;
    size_t string_bytes; /* for the ids */
};

struct fuse {
    struct hqdb_context *contexts;
    size_t context_count;
    uint32_t *frame_at;      /* [frames] position in the new order -> number in the input */
    uint32_t *frame_rank;    /* [frames] number in the input -> position */
    uint32_t *frame_context; /* [frames] by position */
};

/* Are these names of one procedure? Debug information of inlined code may lack the arguments. */
bool fuse_same_name(const char *a, const char *b);

/* Numbers that are out of range in the input (damage) lead to the root scope; the result is always a valid tree. */
void fuse_run(const struct fuse_input *in, struct fuse_settings settings, struct fuse *out);
void fuse_deinit(struct fuse *f);

/*
 * A database as it would be with other settings, in memory. It shares the base's texts, scopes, profiles and
 * values, so the base must stay open; db_close ends it. Its contexts, frames, sums and counts are its own;
 * frame numbers that its cursors and traces give are its own too. It has no stored statistics.
 */
struct hq_error *db_derive(const struct db *base, struct fuse_settings settings, struct db **out); /* derive.c */

#endif
