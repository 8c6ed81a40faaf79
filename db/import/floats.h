/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values that come as floating-point numbers: gathered first, because the database keeps whole numbers and one scale a
 * metric, which only the total can tell. A series is what becomes one metric.
 */
#ifndef HQ_DB_IMPORT_FLOATS_H
#define HQ_DB_IMPORT_FLOATS_H

#include "db/import/target.h"

struct floats_entry {
    long double sum; /* whole numbers stay exact as far as they can be counted */
    uint64_t count;
};

struct floats {
    struct keymap keys; /* private: series, profile, frame */
    VEC(struct floats_entry) entries;
};

void floats_init(struct floats *f);
void floats_deinit(struct floats *f);
/* Adds to what was added for this series, profile and frame. */
void floats_add(struct floats *f, uint32_t series, uint32_t profile, uint32_t frame, long double value, uint64_t count);

/* The scale that suits a series; HQ_DATA if its total is more than can be counted. */
struct hq_error *floats_scale(const struct floats *f, uint32_t series, const char *path, double *scale);
/* Adds the values of a series to a metric of that scale. */
void floats_give(const struct floats *f, uint32_t series, struct import *im, uint32_t metric, double scale);

#endif
