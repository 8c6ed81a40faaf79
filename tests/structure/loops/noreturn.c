/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An error that is raised five calls deep does not return: what stands behind such a call is the code of something
 * else, here of a loop, which does not begin in front of it.
 *
 *! build: gcc -O2 | gcc -Os | clang -O2
 *! units: loops units
 *! units: counted in units when gcc
 */
#include <setjmp.h>
#include <stdlib.h>
struct state {
    jmp_buf *out;
    int depth, code;
};
#define STEP __attribute__((noinline, noclone))
STEP int leave(struct state *s, int code)
{
    s->code = code;
    if (s->out)
        longjmp(*s->out, 1);
    if (s->depth > 3) {
        s->depth--;
        leave(s, code + 1);
    }
    abort();
}
STEP int message(struct state *s, int code)
{
    s->depth++;
    return leave(s, code * 3);
}
STEP int raised(struct state *s, int code)
{
    s->depth++;
    return message(s, code + 1);
}
STEP int failed(struct state *s, int code)
{
    s->depth += 2;
    return raised(s, code + 7);
}
STEP int argument(struct state *s, int code)
{
    s->depth += 3;
    return failed(s, code + 2);
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
        argument(s, 2);
    if (to > 1000)
        argument(s, 3);
    while (from < to) { /* @units */
        const unsigned char *next = decoded(text + from, strict);
        if (!next)
            return -1;
        from = (int)(next - text);
        n++; /* @counted */
    }
    if (n > 500)
        argument(s, 3);
    return n;
}
int main(int argc, char **argv)
{
    struct state s = {0};

    return units(&s, (const unsigned char *)argv[0], argc, 4, argc > 2);
}
