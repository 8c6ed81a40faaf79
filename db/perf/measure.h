/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples on their way into a measurement file (format/measurement.h): what the collector would have written. */
#ifndef HQ_DB_PERF_MEASURE_H
#define HQ_DB_PERF_MEASURE_H

#include "common/err.h"
#include "common/intern.h"
#include "common/map.h"
#include "common/vec.h"
#include "format/measurement.h"

struct measure_lane { /* of one thread */
    struct hqm_thread thread;
    VEC(struct hqm_node) nodes;
    struct keymap children; /* parent, kind and module, offset -> node - 1 */
    struct map cells;       /* node -> cell */
    VEC(struct hqm_cell) cell;
    VEC(struct hqm_trace) trace;
};

struct measure {
    struct hqm_header header;
    VEC(uint8_t) strings;
    VEC(struct hqm_info) info;
    VEC(struct hqm_event) events;
    VEC(struct hqm_module) modules;
    VEC(struct measure_lane *) lanes; /* by thread number */
};

void measure_init(struct measure *m);
void measure_deinit(struct measure *m);

/* Copies the text into the file's strings, and returns its offset; 0 for "". */
uint32_t measure_string(struct measure *m, const char *text);
void measure_info(struct measure *m, const char *key, const char *value);

/* Thread numbers come in order; `time_us` as in a trace. */
void measure_begin_thread(struct measure *m, uint32_t number, uint32_t tid, uint32_t creator, uint64_t time_us);
void measure_end_thread(struct measure *m, uint32_t number, uint64_t time_us);

/* The child of a node of that thread, made if it is not there; 0 is the root. */
uint32_t measure_child(struct measure *m, uint32_t thread, uint32_t parent, enum hqm_node_kind kind, uint32_t module,
                       uint64_t offset);

/* A sample of event 0 that stands for one period. */
void measure_sample(struct measure *m, uint32_t thread, uint32_t node, uint64_t time_us);

/* Writes the file; its threads are those with samples, and the initial one. Errors: HQ_DATA, it cannot be written. */
struct hq_error *measure_write(struct measure *m, const char *path);

#endif
