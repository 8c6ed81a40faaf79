/* SPDX-License-Identifier: BSD-3-Clause */
/* Files beside the measurements, for readers: the image of the vDSO, the sources of programs of devices. */
#ifndef HQ_PRELOAD_FILE_BESIDE_H
#define HQ_PRELOAD_FILE_BESIDE_H

#include <stdint.h>

/* Keeps the bytes as a file of the name, if there is none: one of the name is the same in all processes. What cannot be
 * written is left out. Not in signal handlers. */
void beside_keep(const char *name, const void *data, uint64_t bytes);

#endif
