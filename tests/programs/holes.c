/* SPDX-License-Identifier: BSD-3-Clause */
/* holes PAGES: a program with one thread unmaps PAGES, works, and maps them again by MAP_FIXED: nobody has mapped
 * anything there meanwhile, and nobody else writes there. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile unsigned sum;

/* Another call path for each `way`, so that what keeps call paths grows. */
__attribute__((noinline)) static void deep(int depth, unsigned way)
{
    if (!depth) {
        for (int i = 0; i < 20000; i++)
            sum += (unsigned)i;
    } else if (way & 1) {
        deep(depth - 1, way >> 1);
        sum++;
    } else {
        deep(depth - 1, way >> 1);
        sum += 2;
    }
}

static void work(void)
{
    for (unsigned i = 0; i < 3000; i++)
        deep(16, i * 2654435761u >> 8);
}

int main(int argc, char **argv)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = argc > 1 ? (size_t)atol(argv[1]) : 64, bytes = pages * page;

    for (int round = 0; round < 4; round++) {
        unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), in_core;
        size_t others = 0, wrong = 0;

        munmap(p, bytes);
        work();
        for (size_t i = 0; i < bytes; i += page)
            others += mincore(p + i, page, &in_core) == 0;
        if (mmap(p, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p)
            return 1;
        memset(p, 0x5a, bytes);
        work();
        for (size_t i = 0; i < bytes; i++)
            wrong += p[i] != 0x5a;
        munmap(p, bytes);
        printf("%zu pages of others, %zu bytes changed\n", others, wrong);
    }
    return 0;
}
