/* SPDX-License-Identifier: BSD-3-Clause */
/* `help` in the language, from the tables of query/grammar/words.h, the output formats and the commands. */
#ifndef HQ_REPL_HELP_HELP_H
#define HQ_REPL_HELP_HELP_H

#include "common/err.h"
#include "common/str.h"

/*
 * Adds what there is to say about a word of the language: a view, clause, statement, setting, function, row attribute,
 * output format or topic. NULL or "language": the overview. HQ_USAGE with the nearest word if it is none of these.
 */
struct hq_error *help_word(const char *word, struct str *out);

/* Calls each(arg, word) for every word that help_word knows. */
void help_each(void (*each)(void *arg, const char *word), void *arg);

#endif
