/* SPDX-License-Identifier: BSD-3-Clause */
/* Characters of UTF-8 and how wide a terminal shows them (str.h). */
#include "common/str.h"
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

struct range {
    uint32_t first, last;
};

/* Ours rather than wcwidth, which depends on the locale that happens to be set. */
static const struct range no_width[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},   {0x0e31, 0x0e31},
    {0x0e34, 0x0e3a}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e},   {0x2060, 0x2064},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
};
static const struct range double_width[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x2e80, 0x303e}, {0x3041, 0xa4cf},
    {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60}, {0xffe0, 0xffe6},
    {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

static bool is_within(uint32_t code, const struct range *r, size_t n)
{
    for (size_t i = 0; i < n && r[i].first <= code; i++)
        if (code <= r[i].last)
            return true;
    return false;
}

bool utf8_controls(uint32_t code)
{
    static const struct range controls[] = {
        {0, 0x1f},        {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200e, 0x200f},   {0x2028, 0x202e},
        {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
    };

    return is_within(code, controls, sizeof controls / sizeof *controls);
}

void utf8_put_line(const char *s, FILE *out)
{
    AUTO_STR struct str line = {0};

    for (size_t n = strlen(s), len; n; s += len, n -= len) {
        uint32_t code;

        len = utf8_next(s, n, &code);
        if ((utf8_controls(code) && code != '\n' && code != '\t') || (code == 0xfffd && len == 1))
            str_addc(&line, '?');
        else
            str_addn(&line, s, len);
    }
    str_addc(&line, '\n');
    fwrite(str_cstr(&line), 1, line.len, out);
}

void utf8_tell_line(const char *s, FILE *out)
{
    if (isatty(fileno(out)))
        utf8_put_line(s, out);
    else
        fprintf(out, "%s\n", s);
}

static size_t code_width(uint32_t code)
{
    if (code < 0x300)
        return 1;
    if (is_within(code, no_width, sizeof no_width / sizeof *no_width))
        return 0;
    return is_within(code, double_width, sizeof double_width / sizeof *double_width) ? 2 : 1;
}

size_t utf8_next(const char *s, size_t n, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)s;
    size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf8 ? 4 : 0;
    uint32_t c = len <= 1 ? p[0] : p[0] & (0x7fu >> len);

    *code = 0xfffd;
    if (len == 0 || len > n)
        return 1;
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 1;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 1;
    *code = c;
    return len;
}

size_t utf8_width_n(const char *s, size_t n)
{
    size_t width = 0;

    for (size_t len; n; s += len, n -= len) {
        uint32_t code;

        if ((unsigned char)*s < 0x80) { /* nearly always */
            len = 1;
            width++;
            continue;
        }
        len = utf8_next(s, n, &code);
        width += code_width(code);
    }
    return width;
}

size_t utf8_width(const char *s)
{
    return utf8_width_n(s, strlen(s));
}

size_t utf8_fit(const char *s, size_t width)
{
    size_t n = strlen(s), at = 0;

    while (at < n) {
        uint32_t code;
        size_t len = utf8_next(s + at, n - at, &code), columns = code_width(code);

        if (columns > width)
            break;
        width -= columns;
        at += len;
    }
    return at;
}

void str_pad(struct str *out, const char *s, size_t width)
{
    size_t columns = utf8_width(s);

    str_add(out, s);
    if (columns < width)
        str_repeat(out, ' ', width - columns);
}
