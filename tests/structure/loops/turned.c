/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops whose way round is a condition in their body: `if (found) ...` ends it, and the condition of the loop stands
 * elsewhere in the code. And `do ... while` whose brace has a line of its own, which clang gives to the jump.
 *
 *! build: gcc -O1 | gcc -O2 | clang -O1 | clang -O2 | clang -O3
 *! next: loops variables variables/search when clang
 *! level: loops register
 *! alike: loops words when -O2
 *! copy: loops ever
 *! descend: only nodes nodes/children when clang
 *! descend: source only nodes nodes/up nodes/up/children when clang
 *! twice: loops rows rows/columns when clang -O2
 */
#include <string.h>

/* What is done before the loop is left is of the last line of the loop. */
__attribute__((noinline)) void next(const int *marker, int *at, int n)
{
    int place = 0, j;

    for (int i = 0; i < n; i++) {         /* @variables */
        for (j = place + 1; j < n; j++) { /* @search */
            if (marker[j] == 1) {
                place = j;
                break;
            }
        }
        at[i] = place + marker[i];
    }
}

struct variable {
    unsigned char kind, index;
};

static int reaches(const struct variable *v, int n)
{
    while (n-- > 0) { /* @register */
        const struct variable *one = &v[n];
        if (one->kind != 3)
            return one->index + 1;
    }
    return 0;
}

/* Inlined: that nothing is found leads to code of the caller. */
__attribute__((noinline)) int level(const struct variable *v, int n, int more)
{
    int found = reaches(v, n);

    return found > more ? found : more;
}

/* Code from above the loop was moved into it. */
__attribute__((noinline)) long alike(const char *in, const char *match, const char *limit)
{
    const char *start = in;

    if (in < limit) {
        {
            unsigned long a, b;
            memcpy(&a, in, 8);
            memcpy(&b, match, 8);
            if (a ^ b)
                return __builtin_ctzl(a ^ b) >> 3;
        }
        in += 8, match += 8;
        while (in < limit) { /* @words */
            unsigned long a, b;
            memcpy(&a, in, 8);
            memcpy(&b, match, 8);
            if (!(a ^ b)) {
                in += 8, match += 8;
                continue;
            }
            in += __builtin_ctzl(a ^ b) >> 3;
            return in - start;
        }
    }
    if (in < limit + 4 && *in == *match)
        in++;
    return in - start;
}

struct graph {
    int *list, *first, *end, *place, *leader, *number, *seen, *stored, *parent, *at;
};

int grow(int **list, int count);

/* The two loops are one in the code, whose header is of no line. */
__attribute__((noinline)) int descend(struct graph *g, const int *rows, int count, int column, int *next, int *found)
{
    for (int k = 0; k < count; k++) { /* @nodes */
        int node = g->place[rows[k]], up, at, end;

        if (node == -1)
            continue;
        g->parent[node] = -1;
        at = g->first[node];
        end = g->end[node];
        do {
            while (at < end) { /* @children */
                int child = g->list[at++], mark = g->seen[child], to;

                if (mark == column)
                    continue;
                g->seen[child] = column;
                to = g->place[child];
                if (to == -1) {
                    g->list[(*next)++] = child;
                    if (*next >= *found && grow(&g->list, *next))
                        return 1;
                } else if (g->stored[g->leader[g->number[to] + 1] - 1] != -1) {
                    if (g->stored[to] > to)
                        g->stored[to] = to;
                } else {
                    g->at[node] = at;
                    up = node;
                    node = g->leader[g->number[to] + 1] - 1;
                    g->parent[node] = up;
                    g->stored[node] = to;
                    at = g->first[node];
                    end = g->end[node];
                }
            }
            up = g->parent[node];
            if (up == -1)
                break;
            node = up;
            at = g->at[node];
            end = g->end[node];
        } while (up != -1); /* @up */
    }
    return 0;
}

__attribute__((noinline)) int grow(int **list, int count)
{
    return *list && count > 99;
}

/* clang-format off */
__attribute__((noinline)) void copy(char *to, const char *from, const char *end)
{
    do {
        memcpy(to, from, 16);
        to += 16;
        from += 16;
    }
    while (to < end); /* @ever */
}
/* clang-format on */

/* Two statements, of which the last one has the way round. */
__attribute__((noinline)) void twice(const int *first, const double *x, const double *y, double *a, double *b, int n)
{
    for (int i = 0; i < n; i++)                         /* @rows */
        for (int j = first[i]; j < first[i + 1]; j++) { /* @columns */
            *a++ = __builtin_fabs(x[j]) * 0.5 * y[i];
            *b++ = __builtin_fabs(x[j]) * 0.5 * a[i];
        }
}

static int marker[9], at[9];
static struct variable v[9];
static struct graph graph;
static char from[64], to[64];
static double x[9], y[9], a[99], b[99];

int main(int count, char **text)
{
    (void)text;
    next(marker, at, count);
    descend(&graph, marker, count / 9, count, at, at);
    copy(to, from, to + 32);
    twice(marker, x, y, a, b, count);
    return level(v, count, at[0]) + (int)alike(from, to, from + count);
}
