/* SPDX-License-Identifier: BSD-3-Clause */
/* Text into a program: `| COMMAND` after a query, and the pager for a result that is taller than the terminal. */
#ifndef HQ_REPL_PAGER_H
#define HQ_REPL_PAGER_H

#include "common/err.h"
#include "common/str.h"
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * A stream whose first lines are held back: if it ends before there are `lines` of them, on a terminal of `width`
 * columns, they go to standard output, else the command is started and gets everything. Writing to it fails once the
 * user interrupts or the command has gone, so that nobody goes on writing for nothing; neither is an error in the end.
 */
struct pager {
    FILE *stream;
    const char *command; /* private, as is all below */
    size_t lines, width, seen, column;
    bool escape; /* in an escape sequence */
    struct str held;
    int fd; /* of the command's standard input; -1 before it is started */
    pid_t pid;
    struct hq_error *error; /* it could not be started */
    bool stopped;           /* nobody reads any more */
};

/* lines 0: the command is started for any text. width 0: lines are never broken. The pager must not move until
 * pager_close. */
struct hq_error *pager_open(struct pager *p, const char *command, size_t lines, size_t width);
/* Waits for the command. `error` is what the writer came to: returned unless it was only told to stop. */
struct hq_error *pager_close(struct pager *p, struct hq_error *error);

/* Runs COMMAND in a shell on our own terminal and waits; HQ_USAGE if it fails. */
struct hq_error *pager_run(const char *command);

/*
 * The user's pager: $HQ_PAGER, $PAGER, else less (told to leave colours alone). NULL if there is none to be used: the
 * variable is empty or "cat", or the terminal is dumb.
 */
const char *pager_command(void);

#endif
