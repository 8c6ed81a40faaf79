/* SPDX-License-Identifier: BSD-3-Clause */
/* When to measure: --delay, --duration, --stopped, and the program's own hq_start and hq_stop (hq.h). */
#ifndef HQ_PRELOAD_WINDOW_H
#define HQ_PRELOAD_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* Is now, in microseconds since the start of the measurement file, a time to measure? Safe in signal handlers. */
bool window_is_open(uint64_t now_us);

#endif
