/* SPDX-License-Identifier: BSD-3-Clause */
/* What `info` tells about a run: from the processes' own records into the model. */
#ifndef HQ_DB_FACTS_H
#define HQ_DB_FACTS_H

#include "db/model.h"
#include "db/process.h"

/* Processes in canonical order. `unreadable`: measurement files that were left out. */
void facts_add(struct model *m, const struct process *processes, size_t count, size_t unreadable);

/* Puts the texts of all source files that scopes name, as far as they can be read, into the model. */
void facts_add_sources(struct model *m);

#endif
