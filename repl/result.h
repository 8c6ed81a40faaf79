/* SPDX-License-Identifier: BSD-3-Clause */
/* A result on its way out: which format, and where to. */
#ifndef HQ_REPL_RESULT_H
#define HQ_REPL_RESULT_H

#include "repl/session.h"

/* Checks that a format exists, before the query runs: HQ_USAGE with its place and the nearest one. */
struct hq_error *result_check(const struct statement *st);

/*
 * Prints the table: `as FORMAT to FILE`, `| COMMAND`, `> FILE`, `>> FILE`, or standard output, at a prompt through the
 * pager if it is taller than the terminal; a format by the view if the statement names none. Notes follow on standard
 * error.
 */
struct hq_error *result_show(const struct session *s, const struct statement *st, const struct table *t);

/* Like result_show, for a text that is no table: help, listings. */
struct hq_error *result_text(const struct session *s, const struct statement *st, const char *text);

#endif
