/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages of a measurement file that are zeros where records are: what a power cut, or a copy that skipped what it could
 * not read, leaves behind. A file that was cut off or is still growing has none: there the counts end before.
 */
#ifndef HQ_DB_BUILD_ZEROED_H
#define HQ_DB_BUILD_ZEROED_H

#include "common/str.h"
#include "db/measurement.h"

/* Adds "the page at byte 4096 (texts), ..." for each; nothing if all are there. False if nothing was added. */
bool zeroed_pages(const struct measurement *m, struct str *out);

#endif
