/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole traces in other tools' formats. */
#ifndef HQ_DB_EXPORT_TRACE_H
#define HQ_DB_EXPORT_TRACE_H

#include "db/db.h"
#include <stdio.h>

/*
 * Writes every trace record as Chrome's trace events (JSON): pairs of begin and end for each procedure, inlined
 * procedure and loop on the call path, one process a rank (or process), one thread a profile. A sample stands for the
 * period before it; where none is, nothing is open. HQ_USAGE if the database holds no trace.
 */
struct hq_error *db_export_chrome(const struct db *db, FILE *out);

#endif
