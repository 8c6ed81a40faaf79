/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/numbers.h"
#include "common/search.h"

#include <stdlib.h>

int compare_u64(const void *pa, const void *pb)
{
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

    return (a > b) - (a < b);
}

size_t numbers_sort(uint64_t *numbers, size_t count)
{
    size_t n = 0;

    if (count)
        qsort(numbers, count, sizeof *numbers, compare_u64);
    for (size_t i = 0; i < count; i++) {
        if (!n || numbers[n - 1] != numbers[i])
            numbers[n++] = numbers[i];
    }
    return n;
}

size_t numbers_from(const uint64_t *numbers, size_t count, uint64_t least)
{
    return SEARCH(i, count, numbers[i] < least);
}

uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}
