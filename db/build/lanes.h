/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the nodes of one measurement file to frames of a call tree. A lane is a tree of nodes that several threads may
 * have used one after another; where its paths begin depends on the thread: at the top for the initial thread, below a
 * THREAD frame for a created one, and below a PARTIAL frame where the outer end is unknown. What ran inside of a
 * parallel region hangs below the call path that opened it, in whichever thread and lane that was.
 *
 * Threads are named here by their position in lanes.threads.
 */
#ifndef HQ_DB_BUILD_LANES_H
#define HQ_DB_BUILD_LANES_H

#include "db/build/calltree.h"
#include "db/measurement.h"

/* In lanes.roots and lane_map.frames, beside frames of the tree and TREE_NONE, which is the top. */
#define LANES_NOWHERE 0xfffffffdu

/* A phase by the call path that began it, which holds those around it. */
struct lane_phase {
    uint32_t name;  /* text; 0: of a damaged file */
    uint32_t begun; /* frame */
    uint32_t outer; /* the phase around it, TREE_NONE none */
    uint32_t depth; /* how many are around it */
    uint32_t shown; /* its frame, as the first path in it has it; TREE_NONE: there was none yet */
};

struct lanes {
    struct hqm_thread *threads;
    size_t thread_count;
    struct map by_number; /* thread number -> position */
    uint32_t *roots;      /* [thread] frame its paths begin below, TREE_NONE: none */
    uint32_t *modules;    /* module number in nodes - 1 -> module of the tree */
    size_t module_count;
    const struct measurement *measurement;
    struct openers { /* lanes in which regions were opened, kept for the next one */
        struct lane **data;
        size_t len, cap;
    } openers;
    struct map regions; /* name of a region in the file -> frame */
    unsigned nested;
    VEC(struct lane_phase) phases; /* that were looked for */
    struct map phase_at;           /* name of a phase in the file -> its place there */
    uint32_t generated;            /* that of code in no module, TREE_NO_MODULE if it has no names */
};

/*
 * For the first pass: adds modules and roots to the tree. `directory` is where the file lies; `names` the file itself
 * if there are names for its code that lies in no module (db/generated.h), else NULL.
 */
void lanes_init(struct lanes *l, const struct measurement *m, struct calltree *tree, const char *directory,
                const char *names);
/* For the second pass: looks them up. `names` is the file, whether it has names or not. */
void lanes_find(struct lanes *l, const struct measurement *m, const struct calltree *tree, const char *names);
void lanes_deinit(struct lanes *l);

/* Position of a thread, TREE_NONE if it has no record. */
uint32_t lanes_thread(const struct lanes *l, uint32_t number);
/* The module of a node, in the tree; TREE_NO_MODULE: none that is known. */
static inline uint32_t lanes_module(const struct lanes *l, const struct hqm_node *n)
{
    uint32_t number = n->kind_module & ((1u << HQM_MODULE_BITS) - 1);

    if (!number)
        return l->generated;
    return number <= l->module_count && l->modules[number - 1] != KEYMAP_NONE ? l->modules[number - 1] : TREE_NO_MODULE;
}

/* Forgets the threads for which keep[position] is TREE_NONE. */
void lanes_limit(struct lanes *l, const uint32_t *keep);
/* The call path that created a thread, added to the tree; TREE_NONE unknown. */
uint32_t lanes_creator_frame(struct lanes *l, const struct measurement *m, struct calltree *tree, size_t thread);

/* Whether it has one that is not in the file. */
bool lanes_creator_is_lost(const struct lanes *l, const struct measurement *m, size_t thread);

/* The frame of a region, by its name in the file (lane << 32 | node), added to the tree; TREE_NONE: of a damaged file.
 */
uint32_t lanes_region(struct lanes *l, struct calltree *tree, uint64_t name); /* lane.c */

/* Like lanes_region, but adds nothing: TREE_NONE also if the frame is not in the tree. */
uint32_t lanes_find_region(struct lanes *l, const struct calltree *tree, uint64_t name);

struct lane_map { /* [node] for paths that begin at `root` */
    uint32_t root, *frames;
    uint8_t *entered; /* how many of the phases that the node lies in are above its frame; the others would be below */
};
struct lane {
    uint32_t number;
    struct lanes *lanes;
    struct hqm_node *nodes;
    uint32_t *base; /* [node] the node of the phase that it lies in, 0 none */
    uint32_t node_count;
    bool damaged; /* nodes are missing or lead nowhere */
    VEC(struct lane_map) maps;
    VEC(uint32_t) path; /* scratch */
};

void lane_init(struct lane *lane, struct lanes *lanes, const struct measurement *m, uint32_t number);
void lane_deinit(struct lane *lane);

/* The frame of a node in a thread, added or looked up; TREE_NONE if the node is damaged or, when looking up, not there.
 */
uint32_t lane_add(struct lane *lane, struct calltree *tree, uint32_t thread, uint32_t node);
uint32_t lane_find(struct lane *lane, const struct calltree *tree, uint32_t thread, uint32_t node);

/* The trace of a lane, with the thread of each record. */
struct lane_record {
    uint64_t time_us;
    uint32_t thread, node, event, weight;
};
struct lane_trace {
    const struct lanes *lanes;
    struct measured records;
    uint32_t thread;
};
struct lane_trace lane_trace_start(const struct measurement *m, const struct lane *lane);
bool lane_trace_next(struct lane_trace *t, struct lane_record *out);

#endif
