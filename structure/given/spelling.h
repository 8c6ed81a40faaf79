/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts in structure files. XML 1.0 cannot hold every byte that a name or path may have, so there is one spelling for
 * all of them: a backslash is written \\, and a byte that is no part of a character of UTF-8, or of one that XML cannot
 * hold or changes (controls, U+FFFE, U+FFFF), is written \xHH with two hexadecimal digits. Nothing else begins with a
 * backslash, so reading gives the bytes that were written.
 */
#ifndef HQ_STRUCTURE_GIVEN_SPELLING_H
#define HQ_STRUCTURE_GIVEN_SPELLING_H

#include "common/str.h"

/* Adds a text as it stands between the quotes of an attribute. */
void spelling_add(struct str *out, const char *text);
/* Adds what the value of an attribute stands for; false if it has a backslash that means nothing, or a byte 0. */
bool spelling_read(struct str *out, const char *value);

#endif
