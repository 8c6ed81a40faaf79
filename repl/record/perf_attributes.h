/* SPDX-License-Identifier: BSD-3-Clause */
/* The event of perf_event_open(2) that `hq record --by=perf` asks the kernel for, and whether the kernel allows it. */
#ifndef HQ_REPL_RECORD_PERF_ATTRIBUTES_H
#define HQ_REPL_RECORD_PERF_ATTRIBUTES_H

#include "repl/record/perf_tap.h"

#include <linux/perf_event.h>

/* Of the event that a tap opens for each task and processor, with sampling off; `kernel`: kernel code too. */
struct perf_event_attr perf_attributes(const struct tap_options *o, bool kernel);

/* Mappings are told with build-ids: from Linux 5.12 on, older kernels refuse the event (EINVAL). */
void perf_ask_build_ids(struct perf_event_attr *attr, bool ask);

/* The descriptor of an event of a task on a processor; -1 and errno. */
int perf_event_begin(struct perf_event_attr *attr, pid_t task, int cpu);

#endif
