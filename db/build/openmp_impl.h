/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by openmp.c and openmp_bodies.c: procedures that compilers made of the bodies of regions, tasks and targets.
 */
#ifndef HQ_DB_BUILD_OPENMP_IMPL_H
#define HQ_DB_BUILD_OPENMP_IMPL_H

#include "db/build/attribution.h"

enum outlined_kind { NOT_KNOWN, NOT_OUTLINED, BODY_OF_REGION, BODY_OF_TASK };

struct outlined { /* of a procedure */
    enum outlined_kind kind;
    const char *file; /* of a region's body: where it is written; "" and 0 not known */
    uint32_t line;
    const char *call_file; /* and without a line where it is opened, likewise */
    uint32_t call_line;
    bool is_league;     /* of teams */
    bool is_task;       /* seen to be created as one: gcc gives regions and tasks the same names */
    const char *opener; /* the procedure that was seen to open it, NULL none */
    bool is_target;     /* of a target region, which runs on the host */
    uint32_t task;      /* scope of the task's procedure that a region is written in, plus 1; 0 none */
};

/* ---- openmp_bodies.c ---- */

/* The record of a procedure; by its name alone at first. */
struct outlined *outlined_at(struct module_work *w, uint32_t procedure);
/* The procedure that holds the code of a frame; STRUCTURE_NONE. */
uint32_t procedure_at(const struct attribution *a, const struct tree_frame *f);
/* The call into the runtime that a frame is below; what a thread of the runtime begins with, if that has called it. */
uint32_t entry_above(const struct attribution *a, uint32_t frame);
/* Is it code that an OpenMP runtime has called? */
bool is_called_by_runtime(const struct attribution *a, const struct tree_frame *f);

#endif
