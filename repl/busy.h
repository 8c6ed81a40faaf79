/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A progress line for work that cannot say how far it is: after a second it counts the seconds. Only on a terminal; see
 * common/progress.h. A second one at the same time stays invisible.
 */
#ifndef HQ_REPL_BUSY_H
#define HQ_REPL_BUSY_H

struct busy;

/* NULL, which busy_end allows, if standard error is no terminal. */
struct busy *busy_begin(const char *what);
void busy_end(struct busy *b);

#endif
