/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterations of three procedures that take 0.5, 0.3 and 0.2 of its time and touch new pages and allocate bytes at rates
 * of 1 : 3 : 0.5, all by CPU time: whatever else runs, takes from each its share. An iteration is the phase
 * "iteration", of 94 to 106 parts of a hundred of MS. Prints for each what it has taken of CPU time and elapsed (ms),
 * at which part of that the second and third procedure began, and how many pages it touched and bytes it allocated.
 *
 *     folded COUNT MS
 */
#include "hq.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noipa))
enum { PAGE = 4096, PAGES = 256, BLOCK = 1000 };
#define PAGES_PER_MS  8.0 /* at rate 1 */
#define BLOCKS_PER_MS 32.0

static char *memory;
static long touched, blocks;

static double clock_ms(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double now(void)
{
    return clock_ms(CLOCK_THREAD_CPUTIME_ID);
}

static void touch(void)
{
    if (touched % PAGES == 0)
        madvise(memory, (size_t)PAGES * PAGE, MADV_DONTNEED);
    memory[touched++ % PAGES * PAGE] = 1;
}

static void allocate(void)
{
    void *volatile block = malloc(BLOCK);

    free(block);
    blocks++;
}

static inline __attribute__((always_inline)) void work(double from, double ms, double rate)
{
    long pages = touched, allocated = blocks;

    for (double t = now() - from; t < ms; t = now() - from) {
        if ((double)(touched - pages) < t * rate * PAGES_PER_MS)
            touch();
        if ((double)(blocks - allocated) < t * rate * BLOCKS_PER_MS)
            allocate();
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

struct iteration {
    double cpu, elapsed, second, third;
    long pages, bytes;
};

static struct iteration iterate(double ms)
{
    double begin = clock_ms(CLOCK_MONOTONIC), cpu = now(), at, at_second, at_third, elapsed;
    long pages = touched, allocated = blocks;

    at = first(cpu, ms);
    at_second = clock_ms(CLOCK_MONOTONIC) - begin;
    at = second(at, ms);
    at_third = clock_ms(CLOCK_MONOTONIC) - begin;
    third(at, ms);
    elapsed = clock_ms(CLOCK_MONOTONIC) - begin;
    return (struct iteration){now() - cpu,        elapsed,         at_second / elapsed,
                              at_third / elapsed, touched - pages, BLOCK * (blocks - allocated)};
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 200;
    double ms = argc > 2 ? atof(argv[2]) : 50;
    struct iteration *done = calloc((size_t)count, sizeof *done);
    unsigned random = 12345;

    memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || !done)
        return 1;
    madvise(memory, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
    for (int i = 0; i < count; i++) {
        double length = ms * (0.94 + 0.12 * ((random = random * 1103515245 + 12345) >> 16 & 1023) / 1023);

        hq_phase_begin("iteration");
        done[i] = iterate(length);
        hq_phase_end();
    }
    for (int i = 0; i < count; i++)
        printf("%.4f %.4f %.5f %.5f %ld %ld\n", done[i].cpu, done[i].elapsed, done[i].second, done[i].third,
               done[i].pages, done[i].bytes);
    free(done);
    return 0;
}
