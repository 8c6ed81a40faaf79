/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code in a loop that is of the procedure around, or of no statement at all: a loop of an inlined procedure stays one.
 *
 *! build: gcc -O2 | gcc -O3 | gcc -O3 -march=haswell | clang -O1 | clang -O2 | clang -O3 -march=haswell
 *! total: loops rows rows/columns
 *! total: columns in rows/columns
 *! both: loops rows rows/columns
 *! fill: loops squares squares squares when gcc|-O1
 */
enum { N = 256, MANY = 32000 };

float x[N][N], y[N][N], one[MANY], two[MANY], three[MANY], vector[MANY];

static inline __attribute__((always_inline)) float sum(float m[N][N])
{
    float s = 0;

    for (int i = 0; i < N; i++)     /* @rows */
        for (int j = 0; j < N; j++) /* @columns */
            s += m[i][j];
    return s;
}

static inline __attribute__((always_inline)) void squares(float *out)
{
    for (int i = 0; i < MANY; i++) /* @squares */
        out[i] = 1.0f / (float)((i + 1) * (i + 1));
}

__attribute__((noinline)) float total(void)
{
    return sum(x);
}

__attribute__((noinline)) float both(void)
{
    return sum(x) + sum(y);
}

__attribute__((noinline)) void fill(void)
{
    squares(one);
    squares(two);
    squares(three);
}

int main(void)
{
    fill();
    return total() + both() > 1;
}
