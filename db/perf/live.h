/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples that are unwound while they are recorded, beyond `hq record --by=perf --max-size`: of each only the call path
 * is kept, as format/stream.h tells (HQS_PARTIAL). Records wait until none that is older can come any more, since
 * processors' buffers are emptied one after the other.
 */
#ifndef HQ_DB_PERF_LIVE_H
#define HQ_DB_PERF_LIVE_H

#include "db/perf/event.h"

struct perf_live;

/* vdso: path of the file with its image; NULL: none. */
struct perf_live *perf_live_begin(const struct perf_layout *layout, const char *vdso);
void perf_live_end(struct perf_live *l);

/* Adds a record, which is copied. All that tell of processes and mappings must come, also those from before the first
 * sample. */
void perf_live_add(struct perf_live *l, const uint8_t *record, size_t size);

/* Unwinds the samples whose time is at most `until` (UINT64_MAX: all) and hands their new records on, one after the
 * other. */
typedef void perf_live_put(void *arg, const uint8_t *record, size_t size);
void perf_live_take(struct perf_live *l, uint64_t until, perf_live_put *put, void *arg);

#endif
