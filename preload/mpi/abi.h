/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI of this process: its binary interface, a row of abi.def, and what is asked of it by the profiling interface.
 * No header of an MPI is used: handles pass through as words, of which abi->handle_bytes count.
 */
#ifndef HQ_PRELOAD_MPI_ABI_H
#define HQ_PRELOAD_MPI_ABI_H

#include <stdbool.h>
#include <stdint.h>

struct abi {
    const char *name, *symbol, *versions[4];
    const char *world; /* the symbol whose address is MPI_COMM_WORLD; NULL: world_handle */
    uintptr_t world_handle;
    int handle_bytes;            /* of handles in C: 4 or 8 */
    int proc_null, root;         /* the same in Fortran */
    int grid, graph, dist_graph; /* kinds of topologies: MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */
    intptr_t in_place, status_ignore, statuses_ignore;
    int in_status, pending; /* classes of errors: MPI_ERR_IN_STATUS, MPI_ERR_PENDING */
    /* MPI_Status, in C and as integers of Fortran: its size, and offsets in it. The count is one of bytes. Where
     * count_shift is 1, it is 31 bits above the 32 at status_count: those that stand above the bit for cancelled ones.
     */
    int status_bytes, status_source, status_error, status_cancelled, status_count, count_shift;
    /* The functions of Fortran call those of C by their names, so these count, and so do those of Fortran 2008 that
     * have buffers. Those that have none call the profiling interface. */
    bool fortran_is_c;
};

/* The functions of MPI's profiling interface, with words for its handles. */
struct mpi {
    const struct abi *abi; /* NULL: one that abi.def does not have; nothing else may be used then */
    int (*type_size)(uintptr_t type, long long *bytes);
    int (*error_class)(int error, int *which);
    int (*comm_rank)(uintptr_t comm, int *rank);
    int (*comm_test_inter)(uintptr_t comm, int *flag);
    int (*comm_group)(uintptr_t comm, uintptr_t *group);
    int (*comm_remote_group)(uintptr_t comm, uintptr_t *group);
    int (*group_size)(uintptr_t group, int *size);
    int (*group_free)(uintptr_t *group);
    int (*group_translate)(uintptr_t from, int count, const int *ranks, uintptr_t to, int *translated);
    int (*topo_test)(uintptr_t comm, int *kind);
    int (*cartdim_get)(uintptr_t comm, int *dimensions);
    int (*cart_shift)(uintptr_t comm, int dimension, int distance, int *source, int *target);
    int (*graph_neighbors_count)(uintptr_t comm, int rank, int *count);
    int (*graph_neighbors)(uintptr_t comm, int rank, int room, int *ranks);
    int (*dist_graph_neighbors_count)(uintptr_t comm, int *sources, int *targets, int *weighted);
    int (*dist_graph_neighbors)(uintptr_t comm, int room, int *sources, int *weights, int more, int *targets,
                                int *their_weights);
    uintptr_t (*comm_f2c)(int), (*type_f2c)(int), (*request_f2c)(int), (*message_f2c)(int); /* NULL: the same number */
    uintptr_t world;
    /* Addresses of what Fortran has for MPI_STATUS(ES)_IGNORE and MPI_IN_PLACE, by several spellings. */
    const void *fortran_ignore[10], *fortran_in_place[4];
};

/* `function` is one of that MPI. Found at the first call; the same ever after. */
const struct mpi *mpi_of(const void *function);

/* Is the pointer what MPI_STATUS_IGNORE (or MPI_STATUSES_IGNORE), and MPI_IN_PLACE, are in Fortran? */
bool mpi_is_fortran_ignore(const struct mpi *mpi, const void *status);
bool mpi_is_fortran_in_place(const struct mpi *mpi, const void *buffer);

#endif
