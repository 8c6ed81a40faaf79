/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions for the views of traces: which profiles and instants a picture shows, and what ran there.
 *
 * A picture of h rows and w columns reads h profiles and looks up w instants in each by binary search ([tracing],
 * section 5.2): its cost is O(h w log t), however long the traces are.
 */
#ifndef HQ_QUERY_VIEWS_TRACE_H
#define HQ_QUERY_VIEWS_TRACE_H

#include "query/picture/picture.h"
#include "query/run.h"
#include "query/choose/slices.h"
#include "query/choose/visits.h"

struct trace {
    struct run *run;
    struct timeline time;
    uint32_t *profiles; /* that are selected, in the order of the rows; if one has a rank, only those with a rank */
    uint32_t profile_count;
    bool threads, processes; /* there are profiles of different threads, processes: labels name them */
    uint32_t *shown;         /* of these, the ones that are looked at */
    uint32_t shown_count;
    uint64_t from_us, to_us; /* of the run */
    uint32_t width;          /* instants */
    uint32_t *contexts;      /* [shown_count][width] context + 1 of the sample there, 0 blank */
    struct map items;        /* context -> cell value of the picture */
};

/* most: how many profiles are looked at, systematically chosen; 0: all. `queues`: those of devices too. `trace` is
 * zeroed first. */
/* trace_look.c */
struct hq_error *trace_init(struct trace *t, struct run *run, uint32_t width, uint32_t most, bool queues);
void trace_deinit(struct trace *t);

/* Fills `contexts`. */
struct hq_error *trace_look(struct trace *t);

/*
 * Says if much more of the picture is filled than the profiles have processor time: gaps of a few periods are taken for
 * delays of one that runs.
 */
void trace_note_filled(const struct trace *t);

/* Says how far the times of queues of devices may be off, if any is among the profiles. */
void trace_note_clock(const struct trace *t);

/* The middle of column x. */
static inline uint64_t trace_instant(const struct trace *t, uint32_t x)
{
    return t->from_us + (uint64_t)(((double)x + 0.5) * (double)(t->to_us - t->from_us) / t->width);
}

/* Width and height of a picture: asked for, or what suits the output; `used` columns are taken by labels. */
uint32_t trace_width(const struct run *run, uint32_t used); /* trace_common.c */
uint32_t trace_height(const struct run *run, uint32_t otherwise);
/* Whether the rows of the table are wanted: a format that draws the picture does not need them. */
bool trace_wants_rows(const struct run *run);

/* Returns the meaning of blank cells. Static. */
const char *trace_blank(const struct trace *t);

/* "rank 3 thread 1": as short as the profiles at hand allow; in the arena. */
const char *trace_label(const struct trace *t, uint32_t profile, struct arena *arena);

/* A row of a visit, "rank 3 thread 1 #7 (cut)", with values of its own; of: what it is a row of, for its id. */
struct node node_of_visit(struct run *run, const struct trace *t, const struct visit *v, const char *of,
                          const double *slots);

/* Levels of the call path: procedures and inlined procedures, 1 the outermost. */
uint32_t trace_depth(const struct tree *tree, uint32_t context);
/* The procedure at a level of a context's call path, the deepest one if the path is shorter; HQDB_NONE for paths
 * without. */
uint32_t trace_ancestor(const struct tree *tree, uint32_t context, uint32_t level);
/* The level of a picture: asked for, else the outermost one at which rows are not mostly of one procedure. */
uint32_t trace_level(const struct trace *t);
/* The cell value for the procedure that a context is. */
uint32_t trace_item(struct trace *t, struct picture *p, uint32_t context);

/* A column of numbers that are no costs: rank, thread, time. */
void trace_column(struct table *table, const char *name, enum dim dim);
/* A row named by the procedure that a context is. */
struct row *trace_row(struct table *table, const struct tree *tree, uint32_t context);

/* Whether all that matches are commands of devices, whose visits are in the traces of queues: threads have none. A note
 * tells where only some are. A scope of the host is in these traces too, above the commands that it gave, but no queue
 * visits it. */
bool trace_is_of_devices(struct run *run, const uint8_t *mark);
/* A sentence for who asks for the visits of threads to them, in the run's arena; NULL: something else was asked for. */
const char *trace_device_hint(struct run *run);

#endif
