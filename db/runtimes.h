/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which load modules are runtimes (runtimes.def), by the names of their files: MPI, OpenMP, what drives a graphics
 * processor, what MPI is built on, the C library. Code of any other module is the program's, or a library's that works
 * for it. A runtime that is linked statically has no module of its own and cannot be told from the program.
 */
#ifndef HQ_DB_RUNTIMES_H
#define HQ_DB_RUNTIMES_H

#include <stdbool.h>

enum runtime_kind {
    RUNTIME_MPI,
    RUNTIME_OPENMP,
    RUNTIME_GPU,
    RUNTIME_SUPPORT, /* MPI's only where it is reached from MPI */
    RUNTIME_SYSTEM,  /* belongs to whoever calls it */
};

struct runtime {
    const char *match; /* of the file's name, with * and ? */
    const char *name;  /* Open MPI */
    enum runtime_kind kind;
};

/* The runtime of a load module by its path; NULL if it is none. */
const struct runtime *runtime_of_module(const char *path);

/* Whether it is the library of MPI that C calls, not one for another language or a part of it. */
bool runtime_is_mpi_of_c(const char *path);

/* Whether a program, by the path of its executable, starts the ranks of others (launchers.def). */
bool is_launcher(const char *command);

#endif
