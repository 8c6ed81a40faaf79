/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorted arrays of numbers, and their divisors. */
#ifndef HQ_COMMON_NUMBERS_H
#define HQ_COMMON_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* For qsort and bsearch. */
int compare_u64(const void *a, const void *b);
/* The greatest common divisor; of 0 and x it is x. */
uint64_t common_divisor(uint64_t a, uint64_t b);

/* Sorts, and leaves each number once: returns how many there are. */
size_t numbers_sort(uint64_t *numbers, size_t count);

/* The place of the first number that is not less, `count` if there is none. */
size_t numbers_from(const uint64_t *numbers, size_t count, uint64_t least);

#endif
