/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of a build: what its files (build.c, build_ranks.c) share. Where to build, and whether, is prepare.c. */
#ifndef HQ_DB_BUILD_BUILDER_H
#define HQ_DB_BUILD_BUILDER_H

#include "common/progress.h"
#include "db/model/assembly.h"
#include "db/build/build.h"
#include "db/build/calltree.h"
#include "db/build/process.h"
#include "db/build/ranks.h"
#include "db/sources.h"
#include "db/model/spool.h"
#include <pthread.h>

struct builder {
    const struct build_options *options;
    const struct source_files *files;
    unsigned threads;
    const struct ranks *ranks;
    size_t first_file, file_count; /* those of this rank */
    struct process *processes;     /* first by file, then in canonical order */
    struct slot {
        struct hq_error *error;
        unsigned worker;
    } * slots; /* [file of this rank] */
    size_t process_count, unreadable;
    struct hq_error *last_error; /* why the last file could not be read */
    struct calltree *trees;      /* [worker] */
    struct calltree tree;
    uint32_t **remaps; /* [worker] frames of its tree -> frames of `tree` */
    uint32_t *frames;  /* frame of `tree` -> model's, then canonical frame */
    struct model *model;
    struct canon canon;
    uint32_t **metrics;      /* [process][event] -> metric */
    uint32_t *first_profile; /* [process + 1] */
    struct progress progress;

    /* Second pass. */
    size_t *cuts;                               /* [batch + 1] first process of each */
    size_t batch_count, first_batch, end_batch; /* all; those of this rank */
    struct tally **tallies;                     /* [worker] */
    struct assembly *assembly;                  /* on rank 0 */
    struct spool *outgoing;                     /* on other ranks: packed batches */
    struct lengths {
        size_t *data;
        size_t len, cap;
    } outgoing_lengths;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    size_t next_batch;
    bool failed;
};

/* On all ranks with the same files; rank 0 writes the database, and only its `path` and `state` count. */
struct hq_error *build_database(const struct source_files *files, const struct build_options *options,
                                const struct ranks *ranks, const char *path, const struct sources_state *state);

/* Gives events whose rates differ between processes a period that all of theirs are multiples of (build_periods.c). */
void build_settle_periods(struct builder *b);

/* ---- build_ranks.c: these do nothing where there is one rank ---- */

/* Trees and processes of all ranks come together on rank 0, pairwise. */
void ranks_gather(struct builder *b);
/* Rank 0's merged tree, processes and canonical tables go to all. */
void ranks_share_plan(struct builder *b);
/* A batch of a rank other than 0 is kept until rank 0 asks for it. */
struct hq_error *ranks_keep_batch(struct builder *b, const struct batch *batch);
/* Rank 0 appends the other ranks' batches, in order, and adds their tallies to `all`. */
struct hq_error *ranks_collect(struct builder *b, struct tally *all);

#endif
