/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program and the style of the page, as the build made them of query/output/page/ (one classic script: module
 * scripts do not run from file://). Empty if the build found no esbuild.
 */
#ifndef HQ_QUERY_REPORT_BUNDLE_H
#define HQ_QUERY_REPORT_BUNDLE_H

#include "common/embed.h"

/* The page's program and style sheet; empty where they could not be built (no esbuild). */
struct embedded bundle_program(void);
struct embedded bundle_style(void);

#endif
