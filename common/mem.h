/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocation that does not return NULL, and scope guards.
 *
 * When memory ends, these functions print one sentence and end the process with status 3 (HQ_DATA). A command that runs
 * out of memory for its own small structures has nothing better to do, and an error path after every string would be
 * code that no test enters. Sizes that come from a file are a different matter: the reader bounds them by the size of
 * the file first. The collector, which lives in somebody else's process, must never use these functions.
 */
#ifndef HQ_COMMON_MEM_H
#define HQ_COMMON_MEM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *xmalloc(size_t size) __attribute__((malloc, alloc_size(1), returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, alloc_size(1, 2), returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((alloc_size(2), returns_nonnull));
/* n * size is checked for overflow, as in xcalloc. */
void *xreallocarray(void *p, size_t n, size_t size) __attribute__((alloc_size(2, 3), returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
/* At most n bytes of s, then a NUL. */
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), malloc, returns_nonnull));
_Noreturn void mem_exhausted(void);
/* For a call that has just failed: ends so too if it did for lack of memory or of descriptors (errno). Whoever went on
 * as if there were nothing to be had would make a database that lacks something, and lacks it later too. */
void mem_end_if_refused(void);
/* The process may allocate so many bytes in all; beyond, memory ends (not counted: files that are mapped to be read).
 */
void mem_limit(uint64_t bytes);

static inline void mem_free_at(void *p)
{
    free(*(void **)p);
}

static inline void mem_fclose_at(FILE **f)
{
    if (*f)
        fclose(*f);
}

static inline void mem_close_at(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* Locals that are released when they go out of scope; initialise them (NULL, NULL, -1) at once. */
#define AUTO_FREE   __attribute__((cleanup(mem_free_at)))
#define AUTO_FCLOSE __attribute__((cleanup(mem_fclose_at)))
#define AUTO_CLOSE  __attribute__((cleanup(mem_close_at)))
/* AUTO(fn): fn takes a pointer to the variable, as every NAME_deinit in this project does. */
#define AUTO(fn)    __attribute__((cleanup(fn)))

/* Takes the value out of a guarded variable, so that the guard has nothing left to release. */
#define MEM_STEAL(var) \
    ({ \
        __typeof__(var) mem_stolen_ = (var); \
        (var) = NULL; \
        mem_stolen_; \
    })

#endif
