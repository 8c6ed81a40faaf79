/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the prompt's history is kept: below the user's state directory, readable by the user alone. */
#ifndef HQ_REPL_PROMPT_LINE_HISTORY_H
#define HQ_REPL_PROMPT_LINE_HISTORY_H

#define HISTORY_LENGTH 1000

/*
 * The history file: $HQ_HISTORY, else $XDG_STATE_HOME/hq/history, else ~/.local/state/hq/history. Makes the directories
 * that are missing. The caller frees it. NULL if there is no such place (no home, or HQ_HISTORY is empty): then
 * nothing is kept.
 */
char *history_path(void);

#endif
