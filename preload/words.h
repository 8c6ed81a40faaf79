/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of functions whose arguments are all words: P3 are three parameters, A3 the same as arguments. For tables of
 * calls that say how many each has (preload/mpi/calls.def, preload/gpu/calls.def).
 */
#ifndef HQ_PRELOAD_WORDS_H
#define HQ_PRELOAD_WORDS_H

#include <stdint.h>

#define P1  uintptr_t a1
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
#define A1  a1
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

#endif
