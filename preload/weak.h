/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weak references of the program to what nobody has: to OpenMP, MPI or OpenCL, by programs that do without. The loader
 * has bound them to our wrappers, so the program would take the library for there. They are made NULL again, before
 * main. Constructors of libraries have run then, and what is opened by dlopen is bound later: so the wrappers
 * themselves do something sensible where there is nothing behind them.
 */
#ifndef HQ_PRELOAD_WEAK_H
#define HQ_PRELOAD_WEAK_H

/* While there is one thread. */
void weak_forget(void);

#endif
