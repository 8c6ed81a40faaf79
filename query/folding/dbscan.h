/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DBSCAN (Ester, Kriegel, Sander, Xu, A density-based algorithm for discovering clusters, KDD 1996): a point with
 * `least` points within eps of it, itself among them, is a core; cores within eps of each other are of one cluster;
 * what is within eps of a core belongs to the nearest one's; the rest is noise. Exact, by a grid whose cells have a
 * diagonal of eps (Gunawan, A faster algorithm for DBSCAN, 2013): all points of a cell are neighbours, so a dense one
 * is never looked at point by point.
 */
#ifndef HQ_QUERY_DBSCAN_H
#define HQ_QUERY_DBSCAN_H

#include <stddef.h>
#include <stdint.h>

enum { DBSCAN_DIMENSIONS = 4 }; /* at most */
#define DBSCAN_NOISE UINT32_MAX

/* points[i * dimensions + k], finite. cluster[i] becomes the number of its cluster, from 0 in the order of their first
 * points, or DBSCAN_NOISE. Returns how many clusters there are. */
uint32_t dbscan(const double *points, size_t count, unsigned dimensions, double eps, uint32_t least, uint32_t *cluster);

#endif
