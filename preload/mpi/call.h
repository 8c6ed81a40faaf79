/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call of MPI by the program, from C or Fortran, as the wrappers see it. Of a call that MPI makes of its own
 * functions below it nothing is counted; what the program calls in a function that MPI calls back counts for itself.
 *
 * A wrapper takes and hands on words, as many as the call has arguments, and knows no types: so handles and pointers of
 * any MPI pass through, and there is one form of call.
 */
#ifndef HQ_PRELOAD_MPI_CALL_H
#define HQ_PRELOAD_MPI_CALL_H

#include "preload/mpi/abi.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CALL_WORDS = 16 }; /* the longest has 13 arguments; Fortran adds the error, and lengths of texts */

/* The shape of a call: the arguments that tell what it moves, by their places; flow.c and complete.c have a function
 * for each. */
enum shape {
    COUNTED, /* nothing that is told */
    SEND,
    SEND_INIT,
    RECV,
    IRECV,
    RECV_INIT,
    PSEND_INIT,
    PRECV_INIT,
    SENDRECV,
    SENDRECV_REPLACE,
    ISENDRECV,
    ISENDRECV_REPLACE,
    MPROBE,
    IMPROBE,
    MRECV,
    IMRECV,
    START,
    STARTALL,
    WAIT,
    TEST,
    WAITALL,
    TESTALL,
    WAITANY,
    TESTANY,
    WAITSOME,
    REQUEST_FREE,
    COMM_FREE,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    NEIGHBOR_ALL, /* allgather and alltoall: blocks of one size */
    NEIGHBOR_ALLGATHERV,
    NEIGHBOR_ALLTOALLV,
    NEIGHBOR_ALLTOALLW,
    FINALIZE,
    ABORT,
    BEGIN, /* of the library */
    SHAPES
};

enum language { LANGUAGE_C, LANGUAGE_WIDE, LANGUAGE_FORTRAN, LANGUAGE_F08 };
enum when { NOW, INIT };

/* One wrapper. */
struct wrapper {
    const char *name;                                /* of the function, as the linker has it */
    uint8_t shape, arguments, when, language, words; /* words: arguments, error and lengths */
    _Atomic(void *) real;
};

struct call {
    const struct wrapper *wrapper;
    const struct mpi *mpi;
    uintptr_t *word; /* the arguments */
    void *real;
    uint64_t time_ns;
};

static inline bool call_is_fortran(const struct call *c)
{
    return c->wrapper->language >= LANGUAGE_FORTRAN;
}

/* ---- Arguments, by their places in C ---- */

static inline int call_int(const struct call *c, int i)
{
    return call_is_fortran(c) ? *(const int *)c->word[i] : (int)c->word[i];
}

static inline void *call_pointer(const struct call *c, int i)
{
    return (void *)c->word[i];
}

/* A count, and one of an array of them. */
int64_t call_count(const struct call *c, int i);
int64_t call_wide(const struct call *c, int i); /* one that is wide whatever the call's name */
int64_t call_count_at(const struct call *c, int i, int at);

/* Handles, as C has them. */
uintptr_t call_comm(const struct call *c, int i);
int64_t call_type_size(const struct call *c, int i);
int64_t call_type_size_at(const struct call *c, int i, int at);
/* The request at place `at` of what the argument points to. */
uintptr_t call_request(const struct call *c, int i, int at);
uintptr_t call_message(const struct call *c, int i);

/* Is the argument MPI_IN_PLACE of the call's language? */
bool call_is_in_place(const struct call *c, int i);

/* ---- The call ---- */

/* Makes a wrapped call and returns its result, which the wrapper returns; `caller` is where the wrapper was called
 * from. */
uintptr_t call_made(struct wrapper *wrapper, uintptr_t *words, const void *caller);

#endif
