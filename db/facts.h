/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the facts about a run that `info` shows into the model, from the processes' own records. */
#ifndef HQ_DB_FACTS_H
#define HQ_DB_FACTS_H

#include "db/db.h"
#include "db/model/model.h"
#include "db/build/process.h"
#include "structure/given/given.h"

/* Keys of info, and the reason of a loss, that tell whether the measurements are whole. */
#define FACT_SAMPLES        "samples"
#define FACT_PARTIAL        "partial paths" /* as they were taken: regions are not joined yet */
#define FACT_DAMAGED_FILES  "measurement files with damaged parts"
#define FACT_LOST_TO_DAMAGE "damaged measurement file"
#define FACT_LEFT_OUT       "measurement files that are damaged and left out"

/* Microseconds, weighed by themselves, that samples of CPUTIME stand for; there only if these weigh differently. */
#define FACT_WEIGHT "CPUTIME that a sample stands for, on average by weight"

/* Processors and kernel: "AMD EPYC 7763, 2 processors, Linux 6.1.0"; of several hosts all that differ. */
#define FACT_MACHINE "machine"

#define FACT_TRACE "trace" /* there only if it is not whole */

/* Of the commands that were recorded and all that they waited for, by the kernel's count; there only where that is
 * known. */
#define FACT_CPU         "CPU time"
/* Of it, what no clock of hq's has seen; there only where it is 1 % or more. */
#define FACT_CPU_LOADING "CPU time before measuring"

/* How long threads wanted a processor and had none: there only where the kernel has told, under REALTIME. */
#define FACT_DELAY    "without a processor"
/* How many images of processes others have made by exec: there only if there are any. */
#define FACT_EXECUTED "programs executed in place of another"

/* Events that only some of the processes measured, "ALLOC_BYTES: 1 of 3, ...": there only if there are any. */
#define FACT_PARTLY "measured by some processes only"

/* Processes in canonical order. `unreadable`: measurement files that were left out. */
void facts_add(struct model *m, const struct process *processes, size_t count, size_t unreadable);

/* One of them, as a text. */
void facts_add_number(struct model *m, const char *key, uint64_t x);

/* By which clocks CPUTIME was sampled, and FACT_CPU (facts_clocks.c). */
void facts_add_clocks(struct model *m, const struct process *processes, size_t count);
void facts_add_cpu_time(struct model *m, const struct process *processes, size_t count);

/* Their events; those of the first process come first (facts_events.c). */
void facts_add_events(struct model *m, const struct process *processes, size_t count, const struct process *first);

/* Looks up a key of info: the text is the database's, NULL if there is none. */
const char *facts_text(const struct db *db, const char *key);
/* The number that it has, 0 without one. */
uint64_t facts_number(const struct db *db, const char *key);
/* When the traces begin to be whole, in seconds from the start of the run; 0: they are. */
double facts_trace_from(const struct db *db);
/* How long threads wanted a processor and had none, and wanted one in all, in seconds; false: it is not known. */
bool facts_delay(const struct db *db, double *delay, double *wanted);
/* In how many of the processes an event was measured; false: in all, as far as is known. */
bool facts_partly(const struct db *db, const char *event, unsigned *of, unsigned *all);
/* Whether something of the measurements it was made of is missing. */
bool facts_damaged(const struct db *db);

/*
 * Tells that the call paths of a file are no measured ones. Its value begins with `estimates` then, and goes on with
 * FACT_AS_FILED where the inclusive costs of procedures, each as a whole, are those that the file has.
 */
#define FACT_CALL_PATHS "call paths"
#define FACT_AS_FILED   "estimates that keep inclusive costs of functions"
bool facts_paths_estimated(const struct db *db, bool *as_filed);

/* A group that a structure file brings, as a statement with its place: `solver.xml:12: group solver = cg, "x"`. */
#define FACT_GROUP "group"
void facts_add_groups(struct model *m, const struct given *given);

/* Puts the texts of all source files that scopes name, as far as they can be read, into the model. */
void facts_add_sources(struct model *m);

#endif
