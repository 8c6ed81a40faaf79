/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts batches together, in the order of profiles, and writes the sections of values and traces. */
#ifndef HQ_DB_MODEL_ASSEMBLY_H
#define HQ_DB_MODEL_ASSEMBLY_H

#include "db/model/batch.h"

struct assembly;

/* The writer must have no open section: the assembly keeps one open (the trace) until it is finished. */
struct assembly *assembly_create(const struct canon *c, struct writer *w, const char *directory);
struct hq_error *assembly_add(struct assembly *a, const struct batch *b);
/* Writes everything; the tally is that of all batches. */
struct hq_error *assembly_finish(struct assembly *a, struct tally *t);
void assembly_destroy(struct assembly *a);

#endif
