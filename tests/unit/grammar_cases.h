/* SPDX-License-Identifier: BSD-3-Clause */
/* Plain-text cases of the grammar: see tests/grammar/README. */
#ifndef HQ_TESTS_UNIT_GRAMMAR_CASES_H
#define HQ_TESTS_UNIT_GRAMMAR_CASES_H

#include "common/str.h"
#include <stddef.h>

/* What the parser makes of a script: canonical statements, hints and the error, a line each. Also checks, with test.h's
   macros left to the caller, that the canonical text parses to itself: *unstable is the text that does not, or NULL;
   free it. */
void grammar_show(const char *text, struct str *out, char **unstable);

/* The whole of a file of the source tree; ends the program if it is not there. Free it. */
char *grammar_read(const char *path);

#endif
