/* SPDX-License-Identifier: BSD-3-Clause */
/* A chart as svg. */
#ifndef HQ_QUERY_OUTPUT_CHART_H
#define HQ_QUERY_OUTPUT_CHART_H

#include "common/err.h"
#include "query/picture/chart.h"
#include <stdio.h>

/* Writes it as SVG, sizes in pixels. What cannot be written is seen by who closes the file. */
struct hq_error *chart_write(const struct chart *c, FILE *out);

#endif
