/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that the program finds in place of MPI's: for each row of calls.def that of C, and those of Fortran as
 * its compilers and libraries spell them. Fortran 2008's under MPICH call those of C. */
#include "preload/export.h"
#include "preload/mpi/call.h"

#include <stddef.h>

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

#define P0  uintptr_t a1
#define P1  P0
#define P2  P1, uintptr_t a2
#define P3  P2, uintptr_t a3
#define P4  P3, uintptr_t a4
#define P5  P4, uintptr_t a5
#define P6  P5, uintptr_t a6
#define P7  P6, uintptr_t a7
#define P8  P7, uintptr_t a8
#define P9  P8, uintptr_t a9
#define P10 P9, uintptr_t a10
#define P11 P10, uintptr_t a11
#define P12 P11, uintptr_t a12
#define P13 P12, uintptr_t a13
#define P14 P13, uintptr_t a14
#define A0  a1
#define A1  A0
#define A2  A1, a2
#define A3  A2, a3
#define A4  A3, a4
#define A5  A4, a5
#define A6  A5, a6
#define A7  A6, a7
#define A8  A7, a8
#define A9  A8, a9
#define A10 A9, a10
#define A11 A10, a11
#define A12 A11, a12
#define A13 A12, a13
#define A14 A13, a14

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
        static struct wrapper wrapper = {#symbol, shape_, parameters, when_, language_, n, symbol, NULL}; \
        uintptr_t words[CALL_WORDS] = {JOIN(A, n)}; \
        return call_made(&wrapper, words, CALLER); \
    }

#define FORTRAN(name, arguments, shape, when, n) \
    WRAP(mpi_##name, arguments, shape, when, LANGUAGE_FORTRAN, n) \
    WRAP(mpi_##name##_, arguments, shape, when, LANGUAGE_FORTRAN, n) \
    WRAP(mpi_##name##__, arguments, shape, when, LANGUAGE_FORTRAN, n) \
    WRAP(mpi_##name##_f08_, arguments, shape, when, LANGUAGE_F08, n)

#define CALL(name, fortran, arguments, shape, when) \
    WRAP(MPI_##name, arguments, shape, when, LANGUAGE_C, arguments) \
    FORTRAN(fortran, arguments, shape, when, MORE(arguments))
#define TEXT(name, fortran, arguments, shape, when) \
    WRAP(MPI_##name, arguments, shape, when, LANGUAGE_C, arguments) \
    FORTRAN(fortran, arguments, shape, when, MORE(MORE(MORE(arguments))))
#define WIDE(name, fortran, arguments, shape, when) \
    CALL(name, fortran, arguments, shape, when) \
    WRAP(MPI_##name##_c, arguments, shape, when, LANGUAGE_WIDE, arguments)
#include "preload/mpi/calls.def"
