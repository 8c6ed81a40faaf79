/* SPDX-License-Identifier: BSD-3-Clause */
/* The image of the vDSO, code of the kernel that is in no file: that of this process is that of all of this kernel. */
#ifndef HQ_DB_PERF_VDSO_H
#define HQ_DB_PERF_VDSO_H

#include "db/perf/event.h"

#include <stddef.h>

/* Our own, as an ELF file of `size` bytes; it is there as long as the process. */
struct perf_vdso {
    const void *image;
    size_t size;
    uint8_t build_id[PERF_BUILD_ID], build_id_len; /* 0: it has none */
};

/* False: there is none in this process. */
bool perf_vdso_own(struct perf_vdso *out);

/*
 * A descriptor of a file with the image that has this build-id, of PERF_BUILD_ID bytes: our own, or one that perf has
 * kept below ~/.debug. -1: there is none. To be closed.
 */
int perf_vdso_open(const uint8_t *build_id);

#endif
