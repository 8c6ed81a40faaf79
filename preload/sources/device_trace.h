/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of what devices did and the host waited for, in the measurement file. Where its size is bounded
 * (--max-size) they are the newest; what older commands cost stays, as sums by call path and queue. Any thread, not in
 * signal handlers. There is a measurement file.
 */
#ifndef HQ_PRELOAD_SOURCES_DEVICE_TRACE_H
#define HQ_PRELOAD_SOURCES_DEVICE_TRACE_H

#include "format/measurement.h"

#include <stdbool.h>

/* False: there is no space. */
bool device_trace_command(const struct hqm_command *record);
bool device_trace_host(const struct hqm_host *record);

/* In a forked child, whose file is another. */
void device_trace_forget(void);

#endif
