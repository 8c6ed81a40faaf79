/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/fit.h"
#include "common/mem.h"
#include "common/shorten.h"
#include <string.h>

/* The bytes of s that take `columns`. */
static size_t bytes_of(const char *s, size_t columns)
{
    size_t bytes = 0, at = 0;

    while (s[bytes]) {
        uint32_t c;
        size_t n = utf8_next(s + bytes, 4, &c);

        at += utf8_width_n(s + bytes, n);
        if (at > columns)
            break;
        bytes += n;
    }
    return bytes;
}

/* Cuts what was added from `start` on. */
static void cut_middle(struct str *out, size_t start, size_t width, const char *dots)
{
    size_t gap = utf8_width(dots);
    size_t whole = utf8_width(str_cstr(out) + start);
    if (whole <= width || width <= gap)
        return;
    AUTO_FREE char *text = xstrdup(out->s + start);
    size_t head = (width - gap) / 3, tail = width - gap - head;

    size_t from = bytes_of(text, head), to = bytes_of(text, whole - tail), mark = strlen(dots);
    bool told = (from >= mark && !memcmp(text + from - mark, dots, mark)) || !strncmp(text + to, dots, mark);

    str_truncate(out, start + from);
    str_add(out, told ? "" : dots);
    str_add(out, text + to);
}

void text_fit(struct str *out, const char *s, size_t width, const char *dots)
{
    size_t start = out->len;

    name_shorten(out, s, width, dots);
    cut_middle(out, start, width, dots);
}
