/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of devices, from a measurement file to the database. Each queue becomes a profile: the values of a command
 * count there, once, at the call path of the thread that enqueued it. Their times are brought to the host's clock
 * (device_clock.h); how long a command took stays what the device says.
 */
#ifndef HQ_DB_BUILD_DEVICES_H
#define HQ_DB_BUILD_DEVICES_H

#include "db/build/lanes.h"
#include "db/model/model.h"
#include "db/build/process.h"

enum { DEVICE_TICK_NS = 1000 }; /* what a weight of 1 stands for in traces of queues */

/* Whether the traces of queues are those of this event's metric (devices_fill.c). */
bool devices_are_traced(const struct process_event *e);

/* For the first pass: queues, as threads of the process too, and commands, with their call paths in the tree. */
void devices_scan(struct process *p, const struct measurement *m, struct lanes *lanes, struct calltree *tree);

/* device_code.c: the code of what a frame (TREE_DEVICE) says a device did. It has one scope wherever it was asked for;
 * a kernel has one for each program, whose source, where the collector has kept it beside the measurements, the model
 * gets too. */
uint32_t devices_code(struct model *m, const struct calltree *tree, const struct tree_frame *f);

/* Queues and commands into the model. `frames`: the tree's frame -> the model's. */
void devices_add(const struct process *p, const uint32_t *frames, uint32_t first_profile, struct model *model);

/* For the second pass: values and traces of the queues' profiles (devices_fill.c). */
void devices_fill(const struct process *p, const struct process_places *places, struct process_data *out);

#endif
