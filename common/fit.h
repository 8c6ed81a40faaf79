/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of procedures in a given number of columns. */
#ifndef HQ_COMMON_FIT_H
#define HQ_COMMON_FIT_H

#include "common/str.h"
#include <stddef.h>

/* Adds to `out` what is shown of a name in `width` columns: first arguments are left out, then it is cut in the middle;
 * more of the end is kept than of the start. `dots` stands for what is missing. */
void text_fit(struct str *out, const char *s, size_t width, const char *dots);

#endif
