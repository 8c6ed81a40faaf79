/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damaged structure files: bytes, numbers, names and whole lines are changed, so that what is behind the parser's first
 * check is reached too.
 */
#ifndef HQ_TESTS_UNIT_GIVEN_FUZZ_H
#define HQ_TESTS_UNIT_GIVEN_FUZZ_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads a damaged file and asks it for addresses: it must be refused with a sentence that names the file and the line,
 * or give every address two chains of scopes, from a statement to a file. NULL if so, else what was wrong, to be freed.
 * state NULL: the file as it is. *read: whether it was read.
 */
char *given_fuzz_round(uint64_t *state, bool *read);

#endif
