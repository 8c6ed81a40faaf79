/* SPDX-License-Identifier: BSD-3-Clause */
/* Four ranks, and two halves that are other ranks to each other: what goes only to those above, or only to the other
 * half; what is exchanged in place. In a half ranks are in reverse. */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char *argv[])
{
    int me, in[8] = {0}, out[8] = {0}, many[16] = {0}, two[2] = {2, 2}, at[2] = {0, 2};
    int counts[4], places[4], ones[4], apart[4];
    MPI_Datatype types[4];
    MPI_Comm half, between;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Scan(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) {
        counts[i] = 1 + (me ^ i);
        ones[i] = 1;
        types[i] = (me + i) % 2 ? MPI_DOUBLE : MPI_INT;
        places[i] = i * 4;
        apart[i] = i * 8;
    }
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, many, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, many, ones, apart, types, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, me / 2, -me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, me < 2 ? 3 : 1, 0, &between);
    MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, between);
    MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, between);
    MPI_Allgatherv(in, 2, MPI_INT, out, two, at, MPI_INT, between);
    MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, between);
    MPI_Bcast(in, 5, MPI_INT, me == 0 ? MPI_ROOT : me == 1 ? MPI_PROC_NULL : 1, between);
    MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, me == 3 ? MPI_ROOT : me == 2 ? MPI_PROC_NULL : 0, between);
    MPI_Gatherv(in, 2, MPI_INT, out, two, at, MPI_INT, me == 3 ? MPI_ROOT : me == 2 ? MPI_PROC_NULL : 0, between);
    MPI_Reduce(in, out, 7, MPI_INT, MPI_SUM, me == 0 ? MPI_ROOT : me == 1 ? MPI_PROC_NULL : 1, between);
    return MPI_Finalize();
}
