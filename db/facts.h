/* SPDX-License-Identifier: BSD-3-Clause */
/* What `info` tells about a run: from the processes' own records into the model. */
#ifndef HQ_DB_FACTS_H
#define HQ_DB_FACTS_H

#include "db/model.h"
#include "db/process.h"

/* Keys of info, and the reason of a loss, that tell whether the measurements are whole. */
#define FACT_SAMPLES        "samples"
#define FACT_DAMAGED_FILES  "measurement files with damaged parts"
#define FACT_LOST_TO_DAMAGE "damaged measurement file"

/* Processes in canonical order. `unreadable`: measurement files that were left out. */
void facts_add(struct model *m, const struct process *processes, size_t count, size_t unreadable);

/* Puts the texts of all source files that scopes name, as far as they can be read, into the model. */
void facts_add_sources(struct model *m);

#endif
