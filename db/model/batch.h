/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A batch: some successive profiles on their way into the database, coded as the file wants them. Batches are made by
 * any number of workers and put together in order (assembly.h), and the result does not depend on where the
 * cuts lie.
 */
#ifndef HQ_DB_MODEL_BATCH_H
#define HQ_DB_MODEL_BATCH_H

#include "common/vec.h"
#include "db/model/canon.h"
#include "db/coded.h"
#include "db/model/tally.h"
#include "db/trace_code.h"

struct value_list {
    struct db_value *data;
    size_t len, cap;
};
struct trace_list {
    struct db_trace_record *data;
    size_t len, cap;
};

/* Of marks, or of growth: a record for each profile that has any. */
struct coded_index {
    struct hqdb_coded_index *data;
    size_t len, cap;
};

struct batch {
    uint32_t first, count; /* profiles */
    struct bytes values, trace, marks, growth;
    VEC(struct hqdb_value_index) index;  /* [profile][metric], offsets within `values` */
    VEC(struct hqdb_trace_block) blocks; /* offsets within `trace` */
    struct coded_index mark_index;       /* offsets within `marks` */
    struct coded_index growth_index;     /* offsets within `growth` */
    struct bytes *runs;                  /* [metric] the values by frame, see assembly.c */
    struct value_list *all;              /* [metric] scratch until batch_finish */
    size_t metric_count;
};

void batch_init(struct batch *b, uint32_t first_profile, size_t metric_count);
void batch_deinit(struct batch *b);

/*
 * Adds the next profile. `values` (one list a metric) may be in any order and name a frame twice; they are sorted and
 * summed in place. Frames are the canonical ones.
 */
void batch_add(struct batch *b, const struct canon *c, struct tally *t, struct value_list *values);
/* More of the trace of the profile added last, in order of time; but for the last time in multiples of
 * HQDB_TRACE_RECORDS. */
void batch_trace(struct batch *b, const struct db_trace_record *records, size_t count);

/* The marks of the profile added last, in order of time. */
void batch_marks(struct batch *b, const struct db_mark *marks, size_t count);

/* Adds the growth that was counted at the profile's marks and samples, in order of time; after its marks. */
void batch_growth(struct batch *b, const struct growth_list *growth, const struct mark_list *marks);

/* After the last profile. */
void batch_finish(struct batch *b, const struct canon *c);

/* Does the profile take part in the statistics of a metric? Launchers do not where there are ranks; metrics of devices
 * are those of queues, all others those of threads. */
bool profile_counts(const struct canon *c, uint32_t profile, uint32_t metric);

#endif
