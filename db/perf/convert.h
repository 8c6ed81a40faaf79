/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of `hq record --by=perf` (format/stream.h) become measurement files beside them, one a process image, as the
 * collector writes them: with stacks unwound. Done once, before a recording is read.
 */
#ifndef HQ_DB_PERF_CONVERT_H
#define HQ_DB_PERF_CONVERT_H

#include "common/err.h"

/*
 * Unwinds the streams of a database directory, or of a directory of measurements, that have not been, or have grown
 * since; anything else is left alone. HQ_DATA if a stream is none, or nothing can be written there.
 */
struct hq_error *perf_convert(const char *input);

/*
 * After recording: writes the names of the kernel's procedures that were sampled (HQS_KERNEL). That they are not to be
 * had is no error.
 */
void perf_keep_kernel_names(const char *stream); /* kernel_names.c */

#endif
