/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns that say nothing: metrics of which nothing was measured at all, and derived ones that are blank in every row.
 */
#ifndef HQ_QUERY_OUTPUT_COLUMNS_H
#define HQ_QUERY_OUTPUT_COLUMNS_H

#include "common/str.h"
#include "query/table.h"

/* False for the first one, for what the query names, and where there are no rows. */
bool column_is_silent(const struct table *t, size_t c);

/* Whether a row has a value in it that is not zero. */
bool column_has_value(const struct table *t, size_t c);

/* "(without a value: io_read, lock_wait; `columns` shows them)", or nothing. */
void columns_tell_silent(const struct table *t, struct str *out);

#endif
