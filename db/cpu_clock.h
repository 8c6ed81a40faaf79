/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts about the clocks that sample CPUTIME (enum hqm_clock). */
#ifndef HQ_DB_CPU_CLOCK_H
#define HQ_DB_CPU_CLOCK_H

#include "common/str.h"
#include "format/measurement.h"

/* In a few words, for the line at the end of a recording. */
const char *clock_name(enum hqm_clock clock);

/*
 * In a sentence: what is known to be wrong with its samples, and why there was no better clock. Nothing if the file
 * does not tell.
 */
void clock_describe(const struct hqm_header *header, struct str *out);

#endif
