/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI ranks with known work: rank r solves for (r + 1) times 0.2 s of processor time, and the others wait for the last.
 */
#include <mpi.h>
#include <time.h>

static volatile unsigned long sink;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

__attribute__((noinline, noclone)) void solve(double seconds)
{
    double end = now() + seconds;

    while (now() < end)
        for (long i = 0; i < 2000; i++)
            sink = sink * 6364136223846793005ul + 1;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    solve(0.2 * (rank + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
