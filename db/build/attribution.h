/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of attribution (attribute.c): a call tree of addresses on its way to the model's frames. openmp.c gives
 * parallel regions, and the procedures that compilers made of them, the names and places that the programmer gave them.
 */
#ifndef HQ_DB_BUILD_ATTRIBUTION_H
#define HQ_DB_BUILD_ATTRIBUTION_H

#include "common/map.h"
#include "common/progress.h"
#include "db/build/attribute.h"
#include "db/folding.h"
#include "db/build/roles.h"
#include "db/runtimes.h"
#include "structure/known.h"
#include "structure/callee.h"
#include "structure/structure.h"
#include "structure/taken.h"

struct place {
    enum role role;
    uint32_t procedure;
}; /* of one address; a scope of the structure */

struct module_work {
    const char *path, *build_id;
    char *file;                       /* to read instead of path: the image of the vDSO */
    const struct given_module *given; /* what is said of it from outside; NULL */
    struct {
        uint64_t *data;
        size_t len, cap;
    } offsets;            /* sorted, each once */
    struct place *places; /* [offset] */
    struct structure structure;
    struct known known;
    uint32_t module;  /* the model's */
    uint32_t *scopes; /* [scope of the structure] the model's, HQDB_NONE: not there yet */
    uint32_t flags;
    bool is_libc;
    const struct runtime *runtime; /* NULL: none */
    struct outlined *outlined;     /* [scope of the structure] openmp.c; NULL: no region has its body there */
    struct callees *callees;       /* what it calls of other modules, once that was asked for */
    bool callees_sought;
    struct taken_list taken;         /* where it takes the addresses of bodies of regions */
    struct offloaded_list offloaded; /* procedures of target regions */
};

struct attribution {
    const struct calltree *tree;
    const struct attribute_options *options;
    struct model *model;
    struct module_work *modules;
    uint32_t nowhere;  /* LINE of code in no module, made when needed */
    uint32_t *frames;  /* [tree frame] model's frame */
    uint8_t *elidable; /* [tree frame] depth below the top + 1 of a frame that may be left out; 0: none */
    uint8_t *inside;   /* [tree frame] enum inside */
    struct map bodies; /* frame of a region -> its body: module << 32 | scope of the structure */
    struct progress progress;
};

/* The collector's own work, which has no address; one in its load module is a function of an extension, known by the
 * wrapper alone. */
static inline bool is_own_work(const struct attribution *a, const struct tree_frame *f)
{
    return f->module < a->tree->modules.len && a->modules[f->module].flags & HQM_MODULE_COLLECTOR && !f->offset;
}

static inline bool is_openmp_module(const struct module_work *w)
{
    return w->runtime && w->runtime->kind == RUNTIME_OPENMP;
}
static inline bool is_openmp_code(const struct attribution *a, const struct tree_frame *f)
{
    return f->module < a->tree->modules.len && is_openmp_module(&a->modules[f->module]);
}

/* ---- attribute_modules.c ---- */

/* Finds the load modules of the tree, the addresses in each, and recovers their structure. Warns of files that are not
 * here. */
struct hq_error *modules_recover(struct attribution *a);

/* The function of another module that a load module calls at that place (a frame's offset), NULL if that is not known:
 * the file is not here, or it is no call through the linkage table. */
const char *modules_callee(struct attribution *a, uint32_t module, uint64_t offset);

/* The name of what the program called, where a stripped runtime went on by a jump (Debian's libgomp: from GOMP_barrier
 * to where it waits), so that the frame above is the caller's. NULL if that is not known. */
const char *modules_called(struct attribution *a, const struct tree_frame *f);

/* Looks for where a load module takes the addresses of procedures that hold those places (taken.h). */
void modules_taken(struct module_work *w, const uint64_t *inside, size_t count);

/* ---- attribute.c ---- */

/* A scope of a structure as one of the model, with its parents. Only what call paths really touch gets there. */
uint32_t convert_scope(struct attribution *a, struct module_work *w, uint32_t scope);
/* Is a frame what a thread was created to run? */
bool begins_thread(const struct attribution *a, const struct tree_frame *f);
/* The top of an elidable chain: TREE_NONE or a thread's root. */
uint32_t chain_top(const struct attribution *a, uint32_t frame);
/* The name of the procedure at a frame, NULL if it is in no module. */
const char *frame_name(const struct attribution *a, const struct tree_frame *f);
/* The place of an address among those that were asked for. */
size_t index_of(const struct module_work *w, uint64_t offset);
/* The procedure that holds a scope, STRUCTURE_NONE if there is none. */
uint32_t procedure_of(const struct structure *s, uint32_t scope);

/* ---- openers.c ---- */

/* Before structure is recovered: notes where load modules take the addresses of bodies of regions. */
void openers_find(struct attribution *a);
/* The procedure that opens a region with a body (a scope of a module's structure), by its name; NULL: not known. */
const char *opener_name(struct attribution *a, uint32_t region, uint32_t module, uint32_t body);
/* The procedure whose code takes the address of a body, by its name; NULL: not known. */
const char *opener_taker(struct attribution *a, uint32_t module, uint32_t body);
/* The procedure that left for the runtime by a jump, called where the region seems to be opened; STRUCTURE_NONE if the
 * runtime itself is called there. */
uint32_t opener_jumper(struct attribution *a, uint32_t region, struct module_work **w);
/* Whether it is not known what is called there: the runtime, or a procedure that left for it by a jump. */
bool opener_is_unknown(struct attribution *a, uint32_t region, const struct tree_frame *call);
/* The statement that calls the runtime to open the region; NULL: not known. */
const struct structure_scope *opener_call(struct attribution *a, uint32_t region, struct module_work **w);
/* Returns what the recording says of a region, NULL: nothing. */
const struct tree_opening *opener_record(const struct attribution *a, uint32_t region);

/* How much of a name is that of the procedure it was made of (0: not told); false: it is no name of a body. */
bool opener_split_name(const char *name, size_t *base);
/* clang's name of the body of a target region: `__omp_offloading_fe00_a8006c_solve_l12`, of line 12 of `solve`. */
struct opener_offloaded {
    const char *procedure; /* as the linker has it */
    size_t length;
    uint32_t line;
};
bool opener_split_offloaded(const char *name, struct opener_offloaded *out); /* false: it is none */
/* The name of a scope of a structure. */
const char *opener_scope_name(const struct module_work *w, uint32_t scope);
/* The statement at an address, STRUCTURE_NONE if it is in no module, or the collector's own work. */
uint32_t opener_statement(const struct attribution *a, uint32_t module, uint64_t offset);

/* ---- openmp.c ---- */

/* Once, before any scope is converted: which procedures are the bodies of regions. In openmp_bodies.c. */
void openmp_find_bodies(struct attribution *a);
void openmp_deinit(struct module_work *w);

/* The model's scope for a procedure that a compiler made of a region or task, or for its inlined twin; HQDB_NONE: it is
 * not one. */
uint32_t openmp_scope(struct attribution *a, struct module_work *w, uint32_t scope);

/* The frame of a region, which is no address. */
uint32_t openmp_region_code(struct attribution *a, uint32_t frame);
/* The row above a frame that is the body of a target region, or of a region that was seen by its body alone; HQDB_NONE:
 * it is none. */
uint32_t openmp_body_code(struct attribution *a, uint32_t frame);
/* The frame that what is called from inside of an OpenMP runtime hangs below: the program's that called the runtime, in
 * a thread of the runtime the thread's root. Else the parent. */
uint32_t openmp_outside(const struct attribution *a, uint32_t frame);
/* Is it the program's code, called by a thread of the runtime of whose region nothing is known? */
bool openmp_is_idle_call(const struct attribution *a, uint32_t frame);

/* The code of a scope, also at an address: `set inline` and `set normalise` change nothing there. */
static inline uint32_t code_of_scope(struct attribution *a, uint32_t module, uint64_t offset, uint32_t scope)
{
    return model_code(a->model, module, offset, scope, scope);
}

/* ---- openmp_states.c ---- */

/* A fact for each load module that holds a runtime of its own. */
void openmp_note_static(struct attribution *a);
/* The wait at a region's end, a frame that is no address either. */
uint32_t openmp_wait_code(struct attribution *a);

/* The code of a call into an OpenMP runtime by what is done there, HQDB_NONE if the name, that of the procedure at the
 * frame, does not tell. `idle`: it is no call, but what a thread of the runtime begins with. */
uint32_t openmp_state_code(struct attribution *a, const struct tree_frame *f, const char *name, bool idle);
/* Likewise of what such a call, to `caller`, calls within the runtime, if it waits there: libgomp's taskloop for the
 * tasks that it has made. */
uint32_t openmp_inner_wait(struct attribution *a, const struct tree_frame *f, const char *name, const char *caller);

#endif
