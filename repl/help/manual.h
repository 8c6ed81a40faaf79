/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The manual pages, made from the command table and the words of the language: hq.1, hq-COMMAND.1 for each command, and
 * hq-language.5. `hq --manual` lists them, `hq --manual PAGE` prints one; `make install` puts them in place.
 */
#ifndef HQ_REPL_HELP_MANUAL_H
#define HQ_REPL_HELP_MANUAL_H

#include "repl/command.h"

/* One name a line. */
void manual_list(const struct command *const *table, struct str *out);

/* The page in man(7) markup. HQ_USAGE if there is no such page. */
struct hq_error *manual_page(const struct command *const *table, const char *page, struct str *out);

#endif
