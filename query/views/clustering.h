/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts, or visits, that are alike (González, Giménez, Labarta, Automatic detection of parallel applications
 * computation phases, IPDPS 2009). Each is a point whose dimensions are expressions of its metrics, scaled to the range
 * that they have; dense groups of points are clusters (query/folding/dbscan.h), the costliest is the first, what is in
 * none is noise. The views `clusters`, `trace of clusters` and `fold of cluster` look at the same ones where they are
 * asked for with the same words.
 */
#ifndef HQ_QUERY_CLUSTERING_H
#define HQ_QUERY_CLUSTERING_H

#include "query/folding/dbscan.h"
#include "query/views/stretches.h"

enum { CLUSTERING_NAMED = 8 }; /* clusters that pictures tell apart: so many colours are told apart */

struct clustering {
    struct run *run;
    struct trace trace;   /* of its profiles */
    struct visits bursts; /* in the order of profiles and time */
    const char *doubt;    /* why they may be others than they seem; NULL: they are right. In the table's arena */
    size_t dimensions;
    const char *names[DBSCAN_DIMENSIONS];
    double *values; /* [bursts][dimensions] */
    double *points; /* the same, scaled, of those that have all values: */
    uint32_t *burst_of;
    size_t point_count;
    uint32_t *cluster; /* [bursts], DBSCAN_NOISE */
    uint32_t count;    /* clusters */
    double eps;
    uint32_t least;
};

/*
 * Finds the clusters that the query's view asks for by `of`, `between`, `by`, `eps` and `min`. `c` is zero but for its
 * run and its trace, which the caller has made (trace_init); the measures of the run's selection become those of
 * stretches. clustering_deinit also after an error.
 */
struct hq_error *clustering_make(struct clustering *c);
void clustering_deinit(struct clustering *c);

/* Where of half of the points the neighbour lies that makes a core of them: what eps has to reach. */
double clustering_distance(const struct clustering *c);

/* The name and colour of a cluster, or of DBSCAN_NOISE, in pictures. */
const char *clustering_name(const struct clustering *c, uint32_t cluster, struct arena *arena);
uint32_t clustering_colour(uint32_t cluster);

#endif
