/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts that are in the measurement file once, so that nodes that they name are found again. No lock; any thread, not
 * signal handlers. */
#ifndef HQ_PRELOAD_FILE_NAMES_H
#define HQ_PRELOAD_FILE_NAMES_H

#include <stdatomic.h>
#include <stdint.h>

enum { NAMES_MAX = 1024 }; /* different ones; of more there is nothing */

struct names {
    struct name {
        _Atomic uint64_t hash;   /* 0: free */
        _Atomic uint32_t string; /* 0: another thread is about to write it */
    } name[NAMES_MAX];
};

/* The offset of a text in the strings of the file; 0: there is no space, or there are too many. */
uint32_t names_string(struct names *names, const char *text);

/* In a forked child, whose file is another. */
void names_forget(struct names *names);

#endif
