/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HQ_QUERY_OUTPUT_PNG_H
#define HQ_QUERY_OUTPUT_PNG_H

#include "query/picture.h"
#include "common/str.h"

/* The cells as a PNG of width x height pixels (ISO/IEC 15948; RGBA, blank cells transparent), appended in base 64. */
void png_base64(struct str *out, const struct picture *p);

#endif
