/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of MPI that a build on several ranks needs. MPICH and Open MPI differ in their binary interface, so these
 * few calls stand in a library of their own (db/mpi/shim.c), which is compiled once for each MPI that is installed, and
 * loaded only when `hq build` was started by its launcher: hq itself needs no MPI.
 *
 * Messages are bytes of any length. A failure of MPI ends all ranks, as MPI does by default.
 */
#ifndef HQ_DB_MPI_SHIM_H
#define HQ_DB_MPI_SHIM_H

#include <stdint.h>

#define HQ_MPI_SYMBOL "hq_mpi_functions"

struct hq_mpi {
    void (*start)(int *rank, int *size);
    void (*send)(const void *data, uint64_t bytes, int to);
    uint64_t (*next_size)(int from); /* waits; the length of the next message */
    void (*receive)(void *data, uint64_t bytes, int from);
    void (*broadcast)(void *data, uint64_t bytes); /* from rank 0 */
    void (*abort)(int status);                     /* ends all ranks */
    void (*end)(void);
};

#endif
