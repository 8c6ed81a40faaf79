/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call that a procedure ends with does not return, whatever is called: the C library's malloc_printerr is one of a
 * procedure that ends the program if it is told to. What stands behind a call of it is the code of something else.
 *
 *! build: gcc -O2 | gcc -Os | clang -O2
 *! units: loops units
 *! units: counted in units when gcc
 */
#include <stdlib.h>
#include <unistd.h>

#define STEP __attribute__((noinline, noclone))
struct state {
    int depth, code;
};

STEP int message(struct state *s, int end, int code)
{
    s->code = code;
    if (write(2, "failed\n", 7) != 7)
        s->depth++;
    if (end)
        abort();
    return s->depth;
}
STEP void fail(struct state *s, int code)
{
    message(s, 1, code + 1);
    __builtin_unreachable();
}
STEP const unsigned char *decoded(const unsigned char *p, int strict)
{
    __asm__ volatile("" ::: "memory");
    return strict && *p > 127 ? 0 : p + 1;
}
STEP int units(struct state *s, const unsigned char *text, int from, int to, int strict)
{
    int n = 0;

    if (from < 0)
        fail(s, 2);
    if (to > 1000)
        fail(s, 3);
    while (from < to) { /* @units */
        const unsigned char *next = decoded(text + from, strict);

        if (!next)
            return -1;
        from = (int)(next - text);
        n++; /* @counted */
    }
    if (n > 500)
        fail(s, 3);
    return n;
}

int main(int argc, char **argv)
{
    struct state s = {0, argc};

    return message(&s, 0, 1) + units(&s, (const unsigned char *)argv[0], argc - 1, 2, 0) > 7;
}
