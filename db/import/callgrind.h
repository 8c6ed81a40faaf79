/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callgrind profiles ("Callgrind Format Specification" of valgrind's manual): a graph of functions with their own costs
 * by line, and of calls with the inclusive costs of the callees. One graph is one part of the file, the costs of one
 * thread.
 */
#ifndef HQ_DB_IMPORT_CALLGRIND_H
#define HQ_DB_IMPORT_CALLGRIND_H

#include "common/map.h"
#include "common/vec.h"
#include "db/import/input.h"
#include "db/import/target.h"

enum { CG_EVENTS_MAX = 64 };

struct cg_cost {
    uint32_t function, file, line, costs;
}; /* costs: index of its first number */
struct cg_call {
    uint32_t caller, callee, file, line, costs;
};
struct cg_function {
    uint32_t name, file, object; /* texts in im->names */
    uint32_t symbol;             /* those of one object and name have one */
    bool begun;                  /* it has an `fn=` line, not only calls to it */
};

struct cg_graph {
    VEC(struct cg_function) functions;
    struct keymap function_keys; /* symbol, file: procedures of several files may have one name */
    struct keymap symbol_keys;   /* object, name */
    VEC(struct cg_cost) costs;
    VEC(struct cg_call) calls;
    VEC(int64_t) numbers; /* event_count of each cost and call */
    size_t event_count;
    const uint32_t *metrics;
    uint32_t profile;
};

/*
 * Makes call paths of the graph: the cost of a function is shared out to its callers in proportion to the first event's
 * inclusive cost of their calls (as gprof does; Graham, Kessler, McKusick: gprof: a call graph execution profiler,
 * 1982), so the totals of functions and lines are exact and those of call paths are estimates. Recursive calls end a
 * path, and so do calls of less than a hundred-thousandth of the whole.
 */
void cg_give(struct cg_graph *g, struct import *im); /* callgrind_paths.c */

#endif
