/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursion along a call path, for people: f > f > f is f (x 3), and so with cycles of several procedures. */
#ifndef HQ_QUERY_RECURSION_H
#define HQ_QUERY_RECURSION_H

#include <stddef.h>
#include <stdint.h>

/*
 * How often the steps that begin at `at` follow one another: the block of *period steps that saves most of the path. 1
 * if it is less than 3 times: then there is nothing to fold. path: a number for each step, equal where the steps are.
 */
size_t recursion_times(const uint32_t *path, size_t len, size_t at, size_t *period);

#endif
