/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a measurement file (format/measurement.h) that may be cut off, damaged, or still growing. Opening checks
 * every segment once; afterwards records are reached without copying, and no number in them is believed: a string that
 * is not there is "", a lane that is not there is empty.
 */
#ifndef HQ_DB_MEASUREMENT_H
#define HQ_DB_MEASUREMENT_H

#include "common/err.h"
#include "common/file.h"
#include "common/str.h"
#include "common/vec.h"
#include "format/measurement.h"
#include <stdbool.h>

/* A segment that was checked: count records of record_size bytes lie at data. */
struct measured_segment {
    uint16_t kind, record_size;
    uint32_t lane, first, count;
    const uint8_t *data;
};

struct measurement {
    struct file_map map;
    struct hqm_header header;
    struct measured_segment *segments; /* by kind, lane, first */
    size_t segment_count;
    bool lost_segments; /* there were some that could not be read */
};

/* HQ_DATA if the header is not that of a measurement file. */
struct hq_error *measurement_open(const char *path, struct measurement *out);
/* False for the file of a process that was killed before it had begun to measure: nothing of it is missing. */
bool measurement_has_begun(const char *path);
void measurement_close(struct measurement *m);

/* The file of a load module: of the program's the path by which it was started, where that is another (a link's). */
const char *measurement_module_path(const struct measurement *m, const struct hqm_module *module);
/* Adds its build-id in hex; nothing if it has none. */
void measurement_build_id(const struct hqm_module *module, struct str *out);

/* The text at `offset`, in the file; "" if it is not there. */
const char *measurement_string(const struct measurement *m, uint32_t offset);

/*
 * Steps through the records of a kind and lane in order:
 *     struct measured m = measured_records(f, HQM_CELLS, lane);
 *     for (const struct hqm_cell *c; (c = measured_next(&m));) ...
 * In lane 0 records that are all zeros are skipped. `number` is that of the record just given.
 */
struct measured {
    const struct measured_segment *at, *end;
    uint32_t i, number;
};
struct measured measured_records(const struct measurement *m, enum hqm_kind kind, uint32_t lane);
const void *measured_next(struct measured *m);

/* One record by its number, NULL if it is not there. */
const void *measurement_record(const struct measurement *m, enum hqm_kind kind, uint32_t lane, uint32_t number);

/* The lanes that have nodes, cells or a trace: ascending. Calls end with *lane = 0. */
bool measurement_next_lane(const struct measurement *m, uint32_t *lane);

#endif
