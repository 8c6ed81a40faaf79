/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterations of three procedures that take 0.5, 0.3 and 0.2 of its time and touch new pages at rates of 1 : 3 : 0.5,
 * all by CPU time: whatever else runs, takes from each its share. An iteration is the phase "iteration", of 94 to 106
 * parts of a hundred of MS.
 *
 *     folded COUNT MS
 */
#include "hq.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noipa))
enum { PAGE = 4096, PAGES = 4096 };
#define PAGES_PER_MS 8.0 /* at rate 1 */

static char *memory;
static long touched;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static inline __attribute__((always_inline)) void work(double from, double ms, double rate)
{
    long first = touched;

    for (double t = now() - from; t < ms; t = now() - from)
        while ((double)(touched - first) < t * rate * PAGES_PER_MS) {
            if (touched % PAGES == 0)
                madvise(memory, (size_t)PAGES * PAGE, MADV_DONTNEED);
            memory[touched++ % PAGES * PAGE] = 1;
        }
}

static NOINLINE double first(double at, double ms)
{
    work(at, 0.5 * ms, 1);
    return at + 0.5 * ms;
}

static NOINLINE double second(double at, double ms)
{
    work(at, 0.3 * ms, 3);
    return at + 0.3 * ms;
}

static NOINLINE double third(double at, double ms)
{
    work(at, 0.2 * ms, 0.5);
    return at + 0.2 * ms;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 200;
    double ms = argc > 2 ? atof(argv[2]) : 50;
    unsigned random = 12345;

    memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    madvise(memory, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
    for (int i = 0; i < count; i++) {
        double length = ms * (0.94 + 0.12 * ((random = random * 1103515245 + 12345) >> 16 & 1023) / 1023), at;

        hq_phase_begin("iteration");
        at = first(now(), length);
        at = second(at, length);
        third(at, length);
        hq_phase_end();
    }
    return 0;
}
