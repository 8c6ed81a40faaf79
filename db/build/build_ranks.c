/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A build on several MPI ranks. Each reads its share of the files; the trees are reduced pairwise to rank 0, which
 * attributes and numbers them and tells all; each codes its share of the profiles, and rank 0 puts them together.
 * Shares are ranges of the canonical order and sums are integers, so the file is the same for any number of ranks.
 */
#include "common/mem.h"
#include "db/build/builder.h"
#include "db/build/pack.h"
#include <stdlib.h>
#include <string.h>

/* ---- first pass: pairwise to rank 0 ---- */

static void pack_share(const struct builder *b, struct bytes *out)
{
    uint64_t numbers[] = {b->process_count, b->unreadable};

    pack_array(out, numbers, 2, sizeof *numbers);
    pack_tree(out, &b->tree);
    for (size_t i = 0; i < b->process_count; i++)
        pack_process(out, &b->processes[i]);
}

static void add_share(struct builder *b, struct cursor *c)
{
    AUTO_FREE uint64_t *numbers = NULL;
    AUTO_FREE uint32_t *remap = NULL;
    struct calltree tree;
    size_t two;

    numbers = unpack_array(c, &two, sizeof *numbers);
    unpack_tree(c, &tree);
    remap = calltree_merge(&b->tree, &tree);
    b->processes = xreallocarray(b->processes, b->process_count + numbers[0] + 1, sizeof *b->processes);
    for (uint64_t i = 0; i < numbers[0]; i++) {
        struct process *p = &b->processes[b->process_count++];

        unpack_process(c, p);
        process_move_frames(p, remap);
    }
    b->unreadable += numbers[1];
    calltree_deinit(&tree);
}

void ranks_gather(struct builder *b)
{
    const struct ranks *r = b->ranks;
    struct bytes bytes = {0};

    for (int step = 1; step < r->size; step *= 2) {
        if (r->rank & step) {
            vec_clear(&bytes);
            pack_share(b, &bytes);
            ranks_send(r, &bytes, r->rank - step);
            break;
        }
        if (r->rank + step < r->size) {
            struct cursor c;

            ranks_receive(r, &bytes, r->rank + step);
            c = cursor_make("message", "tree", bytes.data, bytes.len);
            add_share(b, &c);
        }
    }
    vec_deinit(&bytes);
}

/* ---- the plan ---- */

static void pack_plan(const struct builder *b, struct bytes *out)
{
    pack_share(b, out);
    pack_canon(out, &b->canon);
    pack_array(out, b->frames, b->tree.frames.len, sizeof *b->frames);
    pack_array(out, b->first_profile, b->process_count + 1, sizeof *b->first_profile);
    for (size_t i = 0; i < b->process_count; i++)
        pack_array(out, b->metrics[i], b->processes[i].event_count, sizeof **b->metrics);
}

/* Replaces this rank's own share by the whole. */
static void unpack_plan(struct builder *b, struct cursor *c)
{
    size_t n;

    for (size_t i = 0; i < b->process_count; i++)
        process_deinit(&b->processes[i]);
    b->process_count = b->unreadable = 0;
    calltree_deinit(&b->tree);
    calltree_init(&b->tree);
    /* The tree is merged into an empty one in its own order, so frames keep their numbers. */
    add_share(b, c);
    unpack_canon(c, &b->canon);
    b->frames = unpack_array(c, &n, sizeof *b->frames);
    b->first_profile = unpack_array(c, &n, sizeof *b->first_profile);
    b->metrics = xcalloc(b->process_count + 1, sizeof *b->metrics);
    for (size_t i = 0; i < b->process_count; i++)
        b->metrics[i] = unpack_array(c, &n, sizeof **b->metrics);
}

void ranks_share_plan(struct builder *b)
{
    struct bytes bytes = {0};

    if (b->ranks->size == 1)
        return;
    if (!b->ranks->rank)
        pack_plan(b, &bytes);
    ranks_broadcast(b->ranks, &bytes);
    if (b->ranks->rank) {
        struct cursor c = cursor_make("message", "plan", bytes.data, bytes.len);

        unpack_plan(b, &c);
    }
    vec_deinit(&bytes);
}

/* ---- second pass: batches and tallies to rank 0 ---- */

struct hq_error *ranks_keep_batch(struct builder *b, const struct batch *batch)
{
    struct bytes bytes = {0};
    struct hq_error *err;

    pack_batch(&bytes, batch);
    vec_push(&b->outgoing_lengths, bytes.len);
    err = spool_append(b->outgoing, bytes.data, bytes.len);
    vec_deinit(&bytes);
    return err;
}

static struct hq_error *send_all(struct builder *b, const struct tally *all)
{
    struct bytes bytes = {0};
    const uint8_t *at;

    HQ_TRY(spool_read(b->outgoing, &at));
    for (size_t i = 0; i < b->outgoing_lengths.len; i++) {
        struct bytes message = {.data = (uint8_t *)at, .len = b->outgoing_lengths.data[i]};

        ranks_send(b->ranks, &message, 0);
        at += message.len;
    }
    tally_pack(all, &bytes);
    ranks_send(b->ranks, &bytes, 0);
    vec_deinit(&bytes);
    return NULL;
}

static struct hq_error *receive_rank(struct builder *b, int rank, struct tally *all, struct bytes *bytes)
{
    size_t first = b->batch_count * (size_t)rank / (size_t)b->ranks->size;
    size_t end = b->batch_count * ((size_t)rank + 1) / (size_t)b->ranks->size;
    struct hq_error *err = NULL;
    struct cursor c;

    for (size_t i = first; i < end && !err; i++) {
        struct batch batch;

        ranks_receive(b->ranks, bytes, rank);
        c = cursor_make("message", "batch", bytes->data, bytes->len);
        unpack_batch(&c, &batch);
        err = assembly_add(b->assembly, &batch);
        batch_deinit(&batch);
    }
    if (err)
        return err;
    ranks_receive(b->ranks, bytes, rank);
    c = cursor_make("message", "tally", bytes->data, bytes->len);
    tally_merge_packed(all, &c);
    return cursor_error(&c);
}

struct hq_error *ranks_collect(struct builder *b, struct tally *all)
{
    struct bytes bytes = {0};
    struct hq_error *err = NULL;

    if (b->ranks->rank)
        return send_all(b, all);
    for (int rank = 1; rank < b->ranks->size && !err; rank++)
        err = receive_rank(b, rank, all, &bytes);
    vec_deinit(&bytes);
    return err;
}
