/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop whose condition the compiler has threaded away: what leaves it says nothing of where it begins. */
/*! build: gcc -O2 | gcc -O3 */
__attribute__((noinline)) int relax(int *a, int level, int sweep)
{
    __asm__ volatile("" ::: "memory");
    return a[level] == sweep;
}

__attribute__((noinline)) void visit(int *a, int level)
{
    __asm__ volatile("" ::: "memory");
    a[level]++;
}

/* The V cycle of a multigrid solver. */
/*! cycle: loops whole whole/sweeps */
__attribute__((noinline)) int cycle(int *a, int *left, int levels, int sweeps)
{
    int level = 0, going = 1, error = 0;

    while (going) {                        /* @whole */
        for (int s = 0; s < sweeps; s++) { /* @sweeps */
            error = relax(a, level, s);
            if (error)
                return error;
        }
        --left[level];
        if (left[level] >= 0 && level != levels - 1) {
            visit(a, level);
            level++;
        } else if (level != 0) {
            visit(a, level - 1);
            --level;
        } else {
            going = 0;
        }
    }
    return error;
}

enum { N = 200 };
double square[N][N];

/* In its last round the second loop is not entered, and what skips it leaves the outer one: neither inner loop lies in
 * the other. */
/*! main: only ? ?/below ?/above rows rows/below rows/above below above when -O3 */
static inline __attribute__((always_inline)) void triangles(int m)
{
    for (int i = 0; i < m; i++) {    /* @rows */
        for (int j = 0; j <= i; j++) /* @below */
            square[i][j] = (double)((i + j) % 100) / m;
        for (int j = i + 1; j < m; j++) /* @above */
            square[i][j] = -999;
    }
}

__attribute__((noinline)) int more(void)
{
    __asm__ volatile("" ::: "memory");
    return 0;
}

/* The ways round that go on by `continue` are a loop of their own for gcc, with the line of the condition in it. */
/*! passes: source loops passing */
__attribute__((noinline)) int passes(int *v, int n)
{
    int sum = 0;

    for (int i = 1;; i++) { /* @passing */
        if (i < n) {
            int l = v[i];

            if (l == 0 || v[l] == 7)
                continue;
            if (v[l] == 9) {
                visit(v, l);
                return 0;
            }
            sum += relax(v, l, n);
            n = v[l];
            i = 0;
        } else {
            visit(v, n);
            if (!more())
                break;
            i = more();
            n = more();
        }
    }
    return sum;
}

int main(void)
{
    int a[8] = {9, 9, 9, 9, 9, 9, 9, 9}, left[8] = {1, 1, 1, 1, 1, 1, 1, 1};

    triangles(N);
    return cycle(a, left, 8, 3) + (square[3][4] > 0);
}
