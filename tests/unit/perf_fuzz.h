/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of the kernel that are damaged by what their records mean: perf.data and streams of `hq record --by=perf`,
 * whose samples lie in a real program's code; or the program's file is the damaged one, or both are.
 */
#ifndef HQ_TESTS_UNIT_PERF_FUZZ_H
#define HQ_TESTS_UNIT_PERF_FUZZ_H

#include <stdint.h>

struct perf_fuzz_counts {
    long long imported, converted, refused;
};

/* One round in `dir`, an empty directory. NULL if all is well, else what was wrong, to be freed. */
char *perf_fuzz_round(const char *dir, uint64_t state, struct perf_fuzz_counts *counts);

#endif
