/* SPDX-License-Identifier: BSD-3-Clause */
/* What must hold for any text whatever, as query and as beginning of one. */
#ifndef HQ_TESTS_UNIT_GRAMMAR_FUZZ_H
#define HQ_TESTS_UNIT_GRAMMAR_FUZZ_H

#include "tests/unit/grammar_random.h"
#include <stdbool.h>
#include <stddef.h>

/* Parses, prints and parses again; asks what may stand at `cursor`. Places lie in the text. Returns NULL, or what does
 * not hold (free it). */
char *fuzz_text(const char *text, size_t length, size_t cursor, bool *parses);

/* A random text: a sentence of the grammar, a damaged one, or a heap of tokens. */
void fuzz_random(const struct grammar *g, uint64_t *state, struct str *out);

#endif
