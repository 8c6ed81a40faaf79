/* SPDX-License-Identifier: BSD-3-Clause */
/* The prompt: reads, runs, until Ctrl-D or `quit`. */
#ifndef HQ_REPL_PROMPT_PROMPT_H
#define HQ_REPL_PROMPT_PROMPT_H

#include "repl/session.h"

/* Reads and runs statements until `quit` or the end of input. */
void prompt_run(struct session *s);

#endif
