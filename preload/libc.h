/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C library that is there at run time, from 2.28 on. Until 2.34 it was several libraries, of which a program has
 * those that it needs: dlsym itself may be missing. So the collector names no version after 2.28 and none of these
 * libraries; what moved or came later is looked up here. tests/collector/symbols.sh holds the limit.
 */
#ifndef HQ_PRELOAD_LIBC_H
#define HQ_PRELOAD_LIBC_H

#include <link.h>

/* As dlsym of the first library that has it. NULL: the program's C library is too old. Not in signal handlers. */
void *libc_find(const char *name);

/* dlsym, dlopen and dladdr1 of the program's C library, called from the collector. Not in signal handlers. */
void *libc_symbol(void *handle, const char *name);
void *libc_open(const char *name, int flags);
const struct link_map *libc_module_of(const void *address);

/* dl_iterate_phdr and setenv (which replaces) of the program's C library. Not in signal handlers. */
int libc_each_module(int (*each)(struct dl_phdr_info *info, size_t size, void *data), void *data);
void libc_setenv(const char *name, const char *value);

/* A symbol of a library that is found from where `address` is, which need not be loaded for all; NULL if there is none.
 */
void *libc_behind(const void *address, const char *name);

/* Likewise for a call that returns to `address`, else of the first library that has it: where a procedure has left for
 * the function by a jump, as its last thing, what called the procedure need not find it. */
void *libc_behind_call(const void *address, const char *name);

/*
 * As dlsym(RTLD_NEXT), while there is one thread: dlsym is not asked for what no library has, for it would allocate
 * what it has to say, and so move all that the program allocates.
 */
void *libc_find_first(const char *name);

/* Looks up the wrapped functions that were not there at the start, because a plugin has brought libpthread. Not in
 * signal handlers. */
void libc_find_missing(void);

/* For the library of exact events: dlsym and dlvsym (NULL: there is none) themselves, and functions of libpthread and
 * its like where only a plugin has brought them. */
void *hq_exact_dlsym(void);
void *hq_exact_dlvsym(void);
void *hq_exact_beside(const char *name);

/* The text of an error number. */
const char *libc_error(int error);

#endif
