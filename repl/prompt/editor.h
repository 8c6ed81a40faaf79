/* SPDX-License-Identifier: BSD-3-Clause */
/* `\e`: a query in the user's editor. */
#ifndef HQ_REPL_PROMPT_EDITOR_H
#define HQ_REPL_PROMPT_EDITOR_H

#include "common/err.h"
#include "common/str.h"

/* Opens the text in $VISUAL, $EDITOR or vi and replaces *out by what was saved. */
struct hq_error *editor_run(const char *text, struct str *out);

#endif
