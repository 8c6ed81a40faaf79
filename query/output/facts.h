/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of facts for people: info, metrics, profiles. */
#ifndef HQ_QUERY_OUTPUT_FACTS_H
#define HQ_QUERY_OUTPUT_FACTS_H

#include "query/output.h"

/* Names first, then what is said of each; with several columns each under its heading. */
void facts_put(const struct table *t, const struct output_options *o, FILE *out);

#endif
