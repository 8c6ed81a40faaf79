/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts put together in a buffer without libc's printf. Each returns where the next part goes; what does not fit is
 * cut. Safe in signal handlers. */
#ifndef HQ_PRELOAD_TEXT_H
#define HQ_PRELOAD_TEXT_H

#include <stdint.h>

static inline char *append(char *to, const char *end, const char *text)
{
    while (*text && to + 1 < end)
        *to++ = *text++;
    *to = 0;
    return to;
}

static inline char *append_number(char *to, const char *end, uint32_t number)
{
    char digits[12], *at = digits + sizeof digits - 1;

    *at = 0;
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10));
    return append(to, end, at);
}

#endif
