/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that the program finds in place of MPI's: for each row of calls.def that of C, and those of Fortran as
 * its compilers and libraries spell them. Fortran 2008's with buffers (mpi_send_f08ts_) under MPICH call those of C.
 *
 * A name without an underscore (mpi_send, of Fortran by -fno-underscoring) is left alone: libraries call functions of
 * their own so (Rmpi), which would come here with other arguments. */
#include "preload/exact/front.h"
#include "preload/export.h"
#include "preload/mpi/call.h"
#include "preload/sources/exact.h"
#include "preload/words.h"

#include <stddef.h>

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

#define P0 P1
#define A0 A1

#define MORE_0      1
#define MORE_1      2
#define MORE_2      3
#define MORE_3      4
#define MORE_4      5
#define MORE_5      6
#define MORE_6      7
#define MORE_7      8
#define MORE_8      9
#define MORE_9      10
#define MORE_10     11
#define MORE_11     12
#define MORE_12     13
#define MORE_13     14
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define MORE(n)     JOIN(MORE_, n)

#define WRAP(symbol, parameters, shape_, when_, language_, n) \
    uintptr_t symbol(JOIN(P, n)); \
    EXPORT uintptr_t symbol(JOIN(P, n)) \
    { \
        static struct wrapper wrapper = {#symbol, shape_, parameters, when_, language_, n, NULL}; \
        uintptr_t words[CALL_WORDS] = {JOIN(A, n)}; \
        return call_made(&wrapper, words, CALLER); \
    }

#define FORTRAN(name, arguments, shape, when, n) \
    WRAP(mpi_##name##_, arguments, shape, when, LANGUAGE_FORTRAN, n) \
    WRAP(mpi_##name##__, arguments, shape, when, LANGUAGE_FORTRAN, n) \
    WRAP(mpi_##name##_f08_, arguments, shape, when, LANGUAGE_F08, n)

/* The name of before the standard had it. */
#define BEFORE_NOW(name, arguments, shape)
#define BEFORE_INIT(name, arguments, shape) WRAP(MPIX_##name, arguments, shape, INIT, LANGUAGE_C, arguments)

#define CALL(name, fortran, arguments, shape, when) \
    WRAP(MPI_##name, arguments, shape, when, LANGUAGE_C, arguments) \
    BEFORE_##when(name, arguments, shape) FORTRAN(fortran, arguments, shape, when, MORE(arguments))
#define TEXT(name, fortran, arguments, shape, when) \
    WRAP(MPI_##name, arguments, shape, when, LANGUAGE_C, arguments) \
    FORTRAN(fortran, arguments, shape, when, MORE(MORE(MORE(arguments))))
#define WIDE(name, fortran, arguments, shape, when) \
    CALL(name, fortran, arguments, shape, when) \
    WRAP(MPI_##name##_c, arguments, shape, when, LANGUAGE_WIDE, arguments)
#include "preload/mpi/calls.def"

/* A program that was linked with a tool for MPI has functions of MPI in itself, which call the profiling interface, and
 * so has a tool that is preloaded before the collector (LD_PRELOAD="TOOL:$LD_PRELOAD" in a script). */
static void tell_of_own(void)
{
#define CALL(name, ...) "MPI_" #name,
    static const char *const names[] = {
#include "preload/mpi/calls.def"
    };

    front_tell(names, sizeof names / sizeof *names, "calls of these are not counted");
}

static __attribute__((constructor)) void tell_what_is_not_seen(void)
{
    tell_of_own();
    if (hq_exact_wanted_by_program("mpi_init") || hq_exact_wanted_by_program("mpi_init_thread"))
        hq_exact_warn(
            "the program calls MPI by Fortran's names without underscores: such calls are counted under MPICH alone");
}
