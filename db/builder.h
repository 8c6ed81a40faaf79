/* SPDX-License-Identifier: BSD-3-Clause */
/* The build itself, without the questions of where to and whether (prepare.c). */
#ifndef HQ_DB_BUILDER_H
#define HQ_DB_BUILDER_H

#include "db/build.h"
#include "db/sources.h"

struct hq_error *build_database(const struct source_files *files, const struct build_options *options, const char *path,
                                const struct sources_state *state);

#endif
