/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Line editing with history and completion: readline.c is the only file that knows GNU readline. What is completed, and
 * what `?` lists, comes from the caller.
 */
#ifndef HQ_REPL_PROMPT_READLINE_H
#define HQ_REPL_PROMPT_READLINE_H

#include "repl/prompt/complete.h"
#include <stdbool.h>

struct line_editor {
    /* The candidates for the end of `text`: the lines before and the present one up to the cursor. */
    void (*complete)(void *arg, const char *text, struct arena *arena, struct candidates *out);
    void *arg;
    const char *history; /* file; NULL: history is not kept */
};

/* Reads the history and takes over the window size and suspend signals. The editor must live until line_close. */
void line_open(const struct line_editor *editor);
void line_close(void);

/* Whether lines are edited here, with completion by Tab and a list by `?`: not without readline (readline_none.c). */
extern const bool line_completes;

enum line_result { LINE_TEXT, LINE_END, LINE_INTERRUPTED };

/*
 * Reads a line; `before` is what earlier lines of the same query hold, "" for a first line. *line is to be freed by the
 * caller, NULL unless the result is LINE_TEXT.
 */
enum line_result line_read(const char *prompt, const char *before, char **line);

/* Adds a whole query, of one or more lines, to the history and its file. */
void line_remember(const char *text);

#endif
