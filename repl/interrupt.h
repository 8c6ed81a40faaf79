/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ctrl-C. Outside a prompt it ends the program as it always does. At a prompt it is caught: it empties the line that
 * is being edited, or cancels the query that runs, never the session.
 */
#ifndef HQ_REPL_INTERRUPT_H
#define HQ_REPL_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* Set by the signal handler; whoever works for long looks at it now and then and gives up. */
extern volatile sig_atomic_t interrupt_flag;

/* From now on SIGINT sets the flag. System calls that wait (reading from a pipe) are not restarted. */
void interrupt_catch(void);

/* Whether SIGINT came since the last call; clears the flag. */
bool interrupt_take(void);

/* Output to a pipe whose reader has gone ends the output, not the session: SIGPIPE is ignored from now on. */
void interrupt_ignore_pipe(void);

#endif
