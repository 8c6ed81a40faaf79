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

int main(void)
{
    int a[8] = {9, 9, 9, 9, 9, 9, 9, 9}, left[8] = {1, 1, 1, 1, 1, 1, 1, 1};

    return cycle(a, left, 8, 3);
}
