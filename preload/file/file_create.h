/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The birth of a measurement file (file.c is its life): its name, and what its header says of the process. As safe as
 * all of file.h: in signal handlers, without locks.
 */
#ifndef HQ_PRELOAD_FILE_FILE_CREATE_H
#define HQ_PRELOAD_FILE_FILE_CREATE_H

#include "format/measurement.h"

#include <stddef.h>

struct file_birth {
    uint32_t pid, serial;
    uint64_t cpu_before_ns; /* CPU time that the process used before it executed this program */
};

/* Creates an empty file and gives its name in `path`; returns a descriptor, or a negative errno value. */
int file_create(char *path, size_t bytes, struct file_birth *birth);

/* Fills in a header of zeros, but for the magic, which says that the file can be read, and what is allocated. */
void file_begin_header(struct hqm_header *header, const struct file_birth *birth);

#endif
