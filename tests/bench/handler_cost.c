/* SPDX-License-Identifier: BSD-3-Clause */
/* A build of the collector, linked with --wrap=sample, that measures what a sample costs in the handler and prints the
 * median at the end. */
#include "preload/handler.h"
#include "preload/file/lane.h"
#include "preload/thread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

enum { ROOM = 1 << 16 };
static unsigned cost[ROOM];
static _Atomic unsigned count;
static unsigned long long first_tsc;
static struct timespec first_time;

void __real_sample(int, uint64_t, const ucontext_t *);
void __wrap_sample(int, uint64_t, const ucontext_t *);

void __wrap_sample(int event, uint64_t weight, const ucontext_t *context)
{
    unsigned long long start = __rdtsc();
    unsigned n;

    __real_sample(event, weight, context);
    n = count++;
    if (n < ROOM)
        cost[n] = (unsigned)(__rdtsc() - start);
}

static int compare(const void *a, const void *b)
{
    return (*(const unsigned *)a > *(const unsigned *)b) - (*(const unsigned *)a < *(const unsigned *)b);
}

static __attribute__((constructor)) void begin(void)
{
    first_tsc = __rdtsc();
    clock_gettime(CLOCK_MONOTONIC, &first_time);
}

static __attribute__((destructor)) void report(void)
{
    unsigned n = count < ROOM ? count : ROOM;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)(now.tv_sec - first_time.tv_sec) + (double)(now.tv_nsec - first_time.tv_nsec) / 1e9;
    double ns = seconds * 1e9 / (double)(__rdtsc() - first_tsc);
    qsort(cost, n, sizeof *cost, compare);
    if (!n || !getenv("HQ_COST_FILE"))
        return;
    FILE *file = fopen(getenv("HQ_COST_FILE"), "w");
    const struct memo *memo = self.lane ? &self.lane->memo : NULL;
    /* 95 % interval of the median, by order statistics. */
    unsigned half = (unsigned)(0.98 * sqrt(n)), low = n / 2 > half ? n / 2 - half : 0,
             high = n / 2 + half < n ? n / 2 + half : n - 1;
    fprintf(file, "samples %u\np10_ns %.0f\nmedian_ns %.0f\np90_ns %.0f\np99_ns %.0f\n", n, cost[n / 10] * ns,
            cost[n / 2] * ns, cost[n / 10 * 9] * ns, cost[n / 100 * 99] * ns);
    fprintf(file, "low_ns %.0f\nhigh_ns %.0f\n", cost[low] * ns, cost[high] * ns);
    if (memo)
        fprintf(file, "memo_hits %.3f\nframes_reused %.3f\n", (double)memo->hits / n,
                (double)memo->frames_reused / (double)(memo->frames_reused + memo->frames_walked));
    fclose(file);
}
