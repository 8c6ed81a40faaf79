/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g */
/*
 * million [DIGITS]: makes 10 to the power of DIGITS (6) different call paths, each of which allocates once: at each of
 * DIGITS levels one of ten calls is made. So ALLOC records each of them, whatever the machine; prints how many there
 * were.
 */
#include <stdio.h>
#include <stdlib.h>

static long made;

static __attribute__((noinline, noipa)) void level(int left)
{
    if (!left) {
        void *volatile p = malloc(16);

        free(p);
        made++;
        return;
    }
    left--;
    level(left);
    level(left);
    level(left);
    level(left);
    level(left);
    level(left);
    level(left);
    level(left);
    level(left);
    level(left);
    __asm__ volatile(""); /* no jump in place of the last call */
}

int main(int argc, char **argv)
{
    level(argc > 1 ? atoi(argv[1]) : 6);
    printf("%ld\n", made);
    return 0;
}
