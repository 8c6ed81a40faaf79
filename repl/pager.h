/* SPDX-License-Identifier: BSD-3-Clause */
/* Text into a program: `| COMMAND` after a query, and the pager for a result that is taller than the terminal. */
#ifndef HQ_REPL_PAGER_H
#define HQ_REPL_PAGER_H

#include "common/err.h"
#include <stdbool.h>
#include <stddef.h>

/* Runs COMMAND in a shell with the text as its standard input and waits for it. A reader that stops early is fine. */
struct hq_error *pager_pipe(const char *command, const char *text, size_t len);

/* Runs COMMAND in a shell on our own terminal and waits; HQ_USAGE if it fails. */
struct hq_error *pager_run(const char *command);

/*
 * The user's pager: $HQ_PAGER, $PAGER, else less (told to leave colours alone). NULL if there is none to be used: the variable is
 * empty or "cat", or the terminal is dumb.
 */
const char *pager_command(void);

/* Whether the text has more lines than the terminal on `fd`; false if it is no terminal. */
bool pager_is_taller(const char *text, size_t len, int fd);

#endif
