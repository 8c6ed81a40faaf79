/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report: a database as one HTML file that a browser opens without a server (doc/page.md). What it shows is
 * computed by the program in query/output/page/ from the data that is gathered here: the calling context tree as the
 * settings of the session make it, its values by position and profile, the traces, and tables that hq has answered.
 */
#ifndef HQ_QUERY_REPORT_REPORT_H
#define HQ_QUERY_REPORT_REPORT_H

#include "common/err.h"
#include "query/query.h"
#include <stdio.h>

/* An answer from elsewhere that the page shows as it is. */
struct report_answer {
    const char *title;
    const struct table *table;
    const char *picture; /* svg; NULL none */
};

struct report_options {
    const char *name;             /* of the database as the reader would type it: `hq NAME "..."` */
    const char *settings;         /* statements that lead to the session's state, `set inline off; `; "" none */
    const char *const *questions; /* [question_count] whose answers the page shows besides */
    size_t question_count;
    const struct report_answer *answers; /* [answer_count] behind these */
    size_t answer_count;
    const char *compare; /* the database to compare with, as query_env.find_db takes it; NULL none */
    uint64_t budget;     /* bytes of the file; traces, values by profile and small calls give way. 0: no limit */
    bool with_source;    /* texts of source files that the database does not hold are looked for on disk */
};

/* The properties of the file that was written. */
struct report_result {
    uint64_t bytes, records; /* of the file; of the traces in the database */
    uint32_t trace_every;    /* 1: every record of the traces is there; k: one in k; 0: none */
    bool profiles;           /* values by profile are there */
    double coarse; /* > 0: calls below this share of all metrics have one value by profile for all they hold */
    double cut;    /* > 0: such calls are left out of the tree, and a row below each caller stands for them */
};

/* Writes the page. HQ_USAGE if this hq was built without its program, HQ_DATA if the stream fails. `done` may be NULL.
 */
struct hq_error *report_write(struct query_env *env, const struct report_options *o, FILE *out,
                              struct report_result *done);

#endif
