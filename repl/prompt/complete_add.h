/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of completion (complete.h), for the files that it is made of. */
#ifndef HQ_REPL_PROMPT_COMPLETE_ADD_H
#define HQ_REPL_PROMPT_COMPLETE_ADD_H

#include "repl/prompt/complete.h"

struct completion {
    const struct session *session;
    struct arena *arena;
    struct candidates *out;
    const char *text; /* all that stands before the cursor */
    const char *word; /* what is typed of it, without an opening quote */
    size_t length;
    char quote; /* before the word, 0: none */
};

/* Offers a text, each once. */
void completion_push(struct completion *c, const char *text, const char *help); /* complete.c */
/* Offers a text if it begins with what is typed. */
void completion_add(struct completion *c, const char *text, const char *help);

/* ---- complete_files.c ---- */

/* Files and directories whose paths begin with the word. */
void completion_files(struct completion *c);
/* Databases, before what may be the way to one, or another tool's data. */
void completion_databases(struct completion *c);
/* Programs, by $PATH. */
void completion_commands(struct completion *c);
/* The last word of `!COMMAND ...`; false if the text is none. */
bool completion_shell(struct completion *c);
/* The escapes that the prompt knows besides the language; false if the text is none. */
bool completion_escapes(struct completion *c);

#endif
