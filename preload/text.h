/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts without the C library: compared, and put together in a buffer, where each function returns where the next part
 * goes and what does not fit is cut. Safe in signal handlers. */
#ifndef HQ_PRELOAD_TEXT_H
#define HQ_PRELOAD_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Equality, and what stands behind the last slash, without the C library: while the runtime of AddressSanitizer begins,
 * its strcmp and strrchr are there and lead nowhere. */
static inline bool same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static inline const char *last_part(const char *path)
{
    const char *part = path;

    for (; *path; path++)
        part = *path == '/' ? path + 1 : part;
    return part;
}

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

/*
 * A number in decimal digits, or in hexadecimal ones behind 0x; *end is behind it, and `text` if there is none. Not
 * strtoull: built against glibc 2.38 or newer that is another symbol, which older ones do not have.
 */
static inline uint64_t read_number(const char *text, const char **end)
{
    unsigned base = text[0] == '0' && text[1] == 'x' ? 16 : 10;
    const char *at = text + (base == 16 ? 2 : 0);
    uint64_t number = 0;

    for (;; at++) {
        unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a' + 10)
                                                    : 16;

        if (digit >= base)
            break;
        number = number * base + digit;
    }
    *end = at;
    return number;
}

#endif
