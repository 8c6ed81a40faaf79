/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g -fno-optimize-sibling-calls */
/*
 * cold DEPTH SECONDS: at a call depth, drives everything else from the processor's caches and translation buffers again
 * and again: 8 MiB of data, a line at a time, and 2 MiB of code, of which each line returns at once.
 */
#include "burn.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, DATA_BYTES = 8 << 20, CODE_BYTES = 2 << 20 };

__asm__(".text\n.balign 4096\n.type returns, @function\nreturns: .cfi_startproc\n"
        ".rept 32768\nret\n.balign 64\n.endr\n.cfi_endproc\n.size returns, . - returns\n");
extern const char returns[];

static char data[DATA_BYTES];

static __attribute__((noinline, noipa)) int sweep(int x)
{
    for (size_t i = 0; i < sizeof data; i += LINE)
        x += data[i];
    for (size_t i = 0; i < CODE_BYTES; i += LINE)
        ((void (*)(void))(uintptr_t)(returns + i))();
    return x;
}

static __attribute__((noinline, noipa)) int down(int depth, double end)
{
    int x = depth;

    if (depth > 0)
        return down(depth - 1, end) + 1;
    while (thread_seconds() < end)
        x = sweep(x);
    return x;
}

int main(int argc, char **argv)
{
    memset(data, 1, sizeof data);
    return down(argc > 1 ? atoi(argv[1]) : 50, argc > 2 ? atof(argv[2]) : 1) == -1;
}
