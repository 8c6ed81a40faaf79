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
    uint32_t plain;              /* those that are levels of one recursion have one */
    uint32_t level;              /* so many of their calls are under way, or more where it is the highest */
    bool begun;                  /* it has an `fn=` line, not only calls to it */
};

struct cg_graph {
    VEC(struct cg_function) functions;
    struct keymap function_keys; /* symbol, file: procedures of several files may have one name */
    struct keymap symbol_keys;   /* object, name */
    struct keymap plain_keys;    /* object, file, name without what --separate-callers and --separate-recs add */
    uint32_t levels;             /* the highest of its functions: f'2 stands for more calls of f, too */
    VEC(struct cg_cost) costs;
    VEC(struct cg_call) calls;
    VEC(int64_t) numbers; /* event_count of each cost and call */
    size_t event_count;
    const uint32_t *metrics;
    uint32_t profile;
};

/* callgrind_graph.c */
void cg_graph_init(struct cg_graph *g);
void cg_graph_clear(struct cg_graph *g);
void cg_graph_deinit(struct cg_graph *g);
/* Some writers leave the callee's file out where it is another: then it is the one function of that name. */
void cg_join_callees(struct cg_graph *g);

/*
 * Makes call paths of the graph: the inclusive cost of each call in the file is shared out to the paths on which it is
 * made, so that what comes into a path by its call is what it costs itself and by the calls that it makes (by
 * iterative proportional fitting; Sinkhorn, Knopp: Concerning nonnegative matrices and doubly stochastic matrices,
 * 1967). The costs of functions and lines are exact, those of call paths estimates. By default callgrind tells a call
 * of a function that is under way already by its name (f'2, a level of the recursion). Then a path holds f once, and
 * f'2 below it only, so that the inclusive cost of a function is the file's, whatever is recursive. Where a path comes
 * back to a function, and nothing in between can be there once only, it ends, and what it costs is that of the call
 * above. So it does at calls of less than a hundred-thousandth of the whole.
 * False: the graph has recursions whose levels it does not tell (--separate-recs=1, other writers), above which
 * inclusive costs are too low.
 */
bool cg_give(struct cg_graph *g, struct import *im); /* callgrind_paths.c */

#endif
