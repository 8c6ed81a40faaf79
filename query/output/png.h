/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cells as a PNG (ISO/IEC 15948; RGBA, blank cells transparent), appended in base 64. A cell is `across` by `down`
 * pixels: not every viewer enlarges a picture without blurring it.
 */
#ifndef HQ_QUERY_OUTPUT_PNG_H
#define HQ_QUERY_OUTPUT_PNG_H

#include "query/picture/picture.h"
#include "common/str.h"

/* Appends; `across` and `down` are at least 1. */
void png_base64(struct str *out, const struct picture *p, uint32_t across, uint32_t down);

#endif
