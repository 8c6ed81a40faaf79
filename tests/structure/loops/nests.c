/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops with what is expected of them: see tests/structure/loops.py. Tags stand in comments: @name.
 *
 *! build: gcc -O0 | gcc -O1 | gcc -O2 | gcc -O3 | gcc -O3 -march=haswell -funroll-loops
 *! build: clang -O0 | clang -O1 | clang -O2 | clang -O3
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

static inline double dot(const double *a, const double *b, int n)
{
    double sum = 0;

    for (int k = 0; k < n; k++) /* @k */
        sum += a[k] * b[k];     /* @dotbody */
    return sum;
}

/*! multiply: loops i i/j i/j/k                 when -O[123] */
/*! multiply: loops i i/j                       when -O0 */
/*! multiply: dotbody in i/j/k                  when -O[123] */
/*! multiply: inline dot in i/j                 when -O[123] */
NOINLINE void multiply(double *restrict c, const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)     /* @i */
        for (int j = 0; j < n; j++) /* @j */
            c[i * n + j] = dot(a + i * n, b + j * n, n);
}

/* A vector body and its remainder are one loop. */
/*! scale: loops s */
/*! scale: scalebody in s */
NOINLINE void scale(float *restrict to, const float *restrict from, float by, int n)
{
    for (int i = 0; i < n; i++) /* @s */
        to[i] = from[i] * by;   /* @scalebody */
}

/* Three loops in a row stay three. */
/*! row: loops r1 r2 r3 */
NOINLINE double row(const double *a, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) /* @r1 */
        sum += a[i];
    for (int i = 1; i < n; i++) /* @r2 */
        sum -= a[i] / a[i - 1];
    for (int i = n; i > 0; i--) /* @r3 */
        sum = sum * 0.5 + a[i - 1];
    return sum;
}

/* while, do, and a loop that is left in the middle: `for (;;)` is no code, the first statement is where it begins. */
/*! kinds: loops w d f                          when gcc -O[123] */
/*! kinds: count 3 */
/*! kinds: fbody in f                           when gcc -O[123] */
/*! kinds: source loops w d ever               when gcc -O[123] */
/*! kinds: source fbody in ever                when gcc -O[123] */
NOINLINE int kinds(const char *s, int n)
{
    int found = 0;

    while (*s && n > 0) { /* @w */
        found += *s++ == 'x';
        n--;
    }
    do {
        found = found * 31 + n;
    } while (found & 1 && n++ < 100); /* @d */
    for (;;) {                        /* @ever */
        int c = getchar();            /* @f */

        if (c == EOF)
            break;
        found ^= c; /* @fbody */
    }
    return found;
}

/* Each switch leads to its own cases: were its table not known, it could lead to those of the other, and both loops
 * would be one. There are as many cases as aarch64's compilers want for a table. */
#define CASES(what) \
    what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7) what(8) what(9) what(10) what(11) what(12) \
        what(13) what(14) what(15) what(16) what(17) what(18) what(19)
#define UP(k) \
    case k: \
        act(k, i + k * n); \
        break;
#define DOWN(k) \
    case k: act(i - k, n ^ k); break;

NOINLINE int act(int what, int n)
{
    __asm__ volatile("" ::: "memory");
    return what + n;
}

/*! two_switches: loops first_switch second_switch */
NOINLINE void two_switches(int n)
{
    for (int i = 0; i < n; i++) /* @first_switch */
        switch (act(n, i)) {
            CASES(UP)
        }
    for (int i = n; i > 0; i--) /* @second_switch */
        switch (act(i, n)) {
            CASES(DOWN)
        }
}

/* The index is compared in memory, where nothing is optimised, and one table ends where the next one begins. */
/*! kept_switches: loops first_kept second_kept    when -O0 */
NOINLINE void kept_switches(unsigned i, int n)
{
    while (act(n--, 3) > 3) /* @first_kept */
        switch (i) {
            CASES(UP)
        }
    while (act(n++, 3) < 9) /* @second_kept */
        switch (i) {
            CASES(DOWN)
        }
}

/* A switch inside a loop: the jump table must not break it, nor must the call that does not return. */
/*! run: loops v */
/*! run: case3 in v */
NOINLINE int run(const unsigned char *code, int n)
{
    int x = 0;

    for (int pc = 0; pc < n; pc++) /* @v */
        switch (code[pc]) {
        case 0: x += 1; break;
        case 1: x ^= pc; break;
        case 2: x = -x; break;
        case 3: x += printf("%d\n", x); break; /* @case3 */
        case 4: x *= 3; break;
        case 5: x -= code[0]; break;
        case 6:
            if (x > 100)
                abort();
            break;
        case 7: x = x << 2 | 1; break;
        default: fprintf(stderr, "bad\n"); exit(2);
        }
    return x;
}

/* Two ways into one loop. */
/*! irreducible: count 1 */
NOINLINE int irreducible(int n, int way)
{
    int x = n;

    if (way)
        goto middle;
top:
    x = x * 5 + getchar();
middle:
    x ^= getchar();
    if (x % 1000)
        goto top;
    return x;
}

/* Code behind a call that does not return is no loop. */
/*! straight: count 0 */
NOINLINE int straight(int n)
{
    if (n == 3)
        exit(n);
    if (n == 4)
        abort();
    printf("%d\n", n);
    return n;
}

struct node {
    struct node *next, *down;
    int value;
};

/* A loop inside inlined code, twice at different places. */
static inline int length(const struct node *l)
{
    int n = 0;

    while (l) { /* @len */
        n += l->value;
        l = l->next;
    }
    return n;
}

/*! grid: loops g g/len len                     when -O[123] */
/*! grid: inline length in g                    when -O[123] */
NOINLINE int grid(const struct node *l)
{
    int n = length(l);

    for (; l; l = l->down) /* @g */
        n += length(l);
    return n;
}

/* What is hoisted out of a loop by the compiler goes back to its line. */
/*! hoist: loops h */
/*! hoist: hoisted in h */
NOINLINE void hoist(double *a, const double *b, int n, double x, double y)
{
    for (int i = 0; i < n; i++) /* @h */
        a[i] = b[i] * (x / y);  /* @hoisted */
}

int main(int argc, char **argv)
{
    double a[16] = {1}, b[16] = {2}, c[16];
    float f[8] = {0}, g[8] = {1};
    struct node node = {0};

    multiply(c, a, b, argc);
    scale(f, g, 2, argc);
    hoist(a, b, argc, 1, 2);
    return (int)row(a, argc) + kinds(argv[0], argc) + run((unsigned char *)argv[0], argc) + irreducible(argc, 1) +
           straight(argc) + grid(&node);
}
