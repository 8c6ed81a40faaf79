/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits under way. A thread that waits is not sampled (preload/waits/idle.h): its record says where it waits and since
 * when. The time from then until the process ended, or until now if it still runs, counts as if it had been sampled.
 */
#ifndef HQ_DB_BUILD_WAITING_H
#define HQ_DB_BUILD_WAITING_H

#include "common/map.h"
#include "db/measurement.h"

struct process;

/* The waits of a file: lane -> address of its thread's record. The file may go on changing. Ended with map_deinit. */
struct map waiting_find(const struct measurement *m);

struct waiting {
    uint32_t thread; /* number */
    uint32_t node, event;
    uint32_t weight; /* periods */
};

/* The wait of a lane, if one is under way and has taken a period; p->header.end_us is its end. */
bool waiting_of(const struct map *waits, const struct process *p, uint32_t lane, struct waiting *out);

/* When the life of a process ends as far as its file tells: of one that runs on this host that is now. Microseconds
 * since its start. */
uint64_t waiting_until(const char *path, const struct hqm_header *header);

#endif
