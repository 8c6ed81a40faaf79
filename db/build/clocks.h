/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clock offsets: `hq build --clock-offsets FILE`. Each process keeps the time of its own host; where the clocks of
 * hosts are known to differ, the file tells what has to be added to bring them together. A line is host NAME OFFSET
 * every process of a host rank NUMBER OFFSET      every process of a rank; in addition to its host's OFFSET is a time
 * with an optional sign: -1.5ms, 0.25s, +300us. A # begins a comment.
 */
#ifndef HQ_DB_BUILD_CLOCKS_H
#define HQ_DB_BUILD_CLOCKS_H

#include "db/build/process.h"

/* Shifts the starts of the processes. HQ_USAGE names the line that is wrong, or the host or rank that is not there. */
struct hq_error *clocks_apply(const char *file, struct process *processes, size_t count);

#endif
