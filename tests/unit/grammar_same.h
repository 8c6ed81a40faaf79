/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether two statements mean the same: their trees, places aside. */
#ifndef HQ_TESTS_UNIT_GRAMMAR_SAME_H
#define HQ_TESTS_UNIT_GRAMMAR_SAME_H

#include "query/grammar/ast.h"

/* NULL if they do; else what differs, for a message. */
const char *grammar_difference(const struct statement *a, const struct statement *b);

#endif
