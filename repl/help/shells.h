/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion scripts for shells, made from the command table: `hq --completion bash|zsh`. */
#ifndef HQ_REPL_HELP_SHELLS_H
#define HQ_REPL_HELP_SHELLS_H

#include "repl/command.h"

/* `saved`, `words` and `formats` in place of a shell list what the scripts complete. HQ_USAGE for a shell that is not
 * known. */
struct hq_error *shell_completion(const struct command *const *table, const char *shell, struct str *out);

#endif
