/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call paths of many processes as one tree of addresses, before structure is known: what hpcprof's merge of
 * calling context trees is ([tracing], section 4). Every worker fills its own; they are merged pairwise.
 * Parents come before children. Its size depends on how many different call paths there are, not on how many profiles.
 */
#ifndef HQ_DB_BUILD_CALLTREE_H
#define HQ_DB_BUILD_CALLTREE_H

#include "common/intern.h"
#include "common/map.h"
#include "common/vec.h"
#include "format/measurement.h"
#include <stdbool.h>

/* In place of a module: what a frame at the top stands for. */
#define TREE_NO_MODULE 0xffffffffu /* offset: an address that lies in no module */
#define TREE_THREAD    0xfffffffeu /* offset: creator + 1, 0 unknown */
#define TREE_PARTIAL   0xfffffffdu /* offset: enum hqm_partial */
/* In place of a module below other frames; a phase may also be at the top. */
#define TREE_REGION    0xfffffffcu /* offset: opening + 1; its parent is the call that opened the region */
#define TREE_WAIT      0xfffffffbu /* offset: 0; its parent is a region, at whose end the thread waits */
#define TREE_PHASE     0xfffffffau /* offset: text of its name; its parent is the call that began it, or made that call */
/* offset: path of the kernel's program (measurement.h) << 32 | text of a command's name; its parent is the function
 * that enqueued it */
#define TREE_DEVICE    0xfffffff9u
#define TREE_NONE      0xffffffffu /* no parent; not found */

struct tree_frame {
    uint64_t offset;
    uint32_t module, parent;
};
/* The call that created threads and some above it, innermost first: the first one may lie in code without a name. */
enum { TREE_CREATOR_SITES = 6 };
struct tree_site {
    uint64_t offset;
    uint32_t module, zero;
}; /* TREE_NONE: there are no more */
struct tree_creator {
    struct tree_site sites[TREE_CREATOR_SITES];
};

/* The code of a parallel region: the procedure that its threads run (`body`), and the procedure that the call which
 * opens it enters (`callee`). Module TREE_NONE: not known. */
struct tree_opening {
    struct tree_site body, callee;
    uint32_t runtime, zero; /* enum hqm_runtime */
};

/* In tree_module.flags: no load module, but the code in none of a process; `path` is the measurement that names it
 * (db/generated.h). */
#define TREE_GENERATED 0x80000000u
/* Likewise: an OpenMP runtime; the C library and the loader. */
#define TREE_OPENMP    0x40000000u
#define TREE_SYSTEM    0x20000000u

struct tree_module {
    uint32_t path, build_id; /* texts; build_id in hexadecimal */
    uint32_t directory;      /* text: of the measurements, where the image of the vDSO is */
    uint32_t flags;          /* HQM_MODULE_*, TREE_GENERATED, TREE_OPENMP, TREE_SYSTEM */
};

struct calltree {
    struct intern strings;
    struct keymap module_keys; /* path, build_id */
    VEC(struct tree_module) modules;
    struct keymap frames;   /* struct tree_frame */
    struct keymap creators; /* struct tree_creator */
    struct keymap openings; /* struct tree_opening */
    VEC(bool) sampled;      /* [frame] it has values of its own */
};

void calltree_init(struct calltree *t);
void calltree_deinit(struct calltree *t);

/* The number of the module of that path and build-id, which is added if it is not there. `directory` is where the file
 * lies that tells of it first; flags (HQM_MODULE_*) add up. */
uint32_t calltree_module(struct calltree *t, const char *path, const char *build_id, const char *directory,
                         uint32_t flags);
/* TREE_NONE if it is not there. */
uint32_t calltree_find_module(const struct calltree *t, const char *path, const char *build_id);

static inline const struct tree_frame *calltree_frame(const struct calltree *t, uint32_t frame)
{
    return keymap_key(&t->frames, frame);
}
/* The number of the frame, which is added if it is not there. */
uint32_t calltree_add(struct calltree *t, struct tree_frame f);
static inline uint32_t calltree_find(const struct calltree *t, struct tree_frame f)
{
    return keymap_find(&t->frames, &f);
}

/* remap[frame of from] = frame of into; the caller frees it. */
uint32_t *calltree_merge(struct calltree *into, const struct calltree *from);

#endif
