/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Debug information from a debuginfod server, through elfutils' client library, which is opened at run time and only
 * when DEBUGINFOD_URLS is set: nothing is asked of the network unless the user has said where.
 */
#ifndef HQ_STRUCTURE_DEBUGINFOD_H
#define HQ_STRUCTURE_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

/* The path of the file in the client's cache, to be freed; NULL if there is none. */
char *debuginfod_find(const uint8_t *build_id, size_t size);

#endif
