/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The insides of runtimes (runtimes.def). Of a call into one, the entry that was called is shown, and what the runtime,
 * the C library and the loader do below it counts for the entry, unless `set internals on`. What they call back
 * outside of these stays, below the entry.
 *
 * A call path keeps all of its frames: before the first one inside stands a frame that is the entry itself, whose code
 * has the flag HQDB_CODE_ENTRY and a PROCEDURE for its scope; those inside have HQDB_CODE_INSIDE. So either tree can be
 * made of them (fuse.h).
 */
#ifndef HQ_DB_FOLDING_H
#define HQ_DB_FOLDING_H

#include "db/model/model.h"
#include "db/runtimes.h"

/* The code that a frame belongs to. */
enum inside {
    OUTSIDE,      /* the program's, or a library's */
    ENTRY,        /* called from there into a runtime */
    INSIDE,       /* below that */
    ENTRY_OF_MPI, /* as ENTRY; what MPI is built on belongs to it too */
    INSIDE_OF_MPI,
};

/* Follows from the runtime that its load module is (NULL: none) and whose its caller is. */
enum inside inside_of(const struct runtime *runtime, enum inside caller);

/* The frame of a code below `parent`, with one that stands for the entry before it if it is that: `called`, if that
 * is a procedure of MPI, else (it may be NULL) the code's own procedure. */
uint32_t folding_frame(struct model *m, uint32_t parent, uint32_t code, enum inside inside, const char *called);

/*
 * A procedure of MPI as C spells it: MPI_Recv, if `name` is that, its name for profiling (PMPI_Recv), or what it is
 * called in Fortran (mpi_recv_, MPI_RECV, ompi_recv_f, mpi_recv_f08_) or left for by a jump (ompi_mpi_finalize). NULL:
 * none of these; the caller frees it.
 */
char *mpi_name_in_c(const char *name);

#endif
