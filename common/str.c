/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/str.h"
#include "common/mem.h"
#include <string.h>

void str_reserve(struct str *s, size_t more)
{
    size_t need, grown = s->cap < 32 ? 32 : s->cap + s->cap / 2;

    if (__builtin_add_overflow(s->len, more, &need) || __builtin_add_overflow(need, 1, &need))
        mem_exhausted();
    if (need <= s->cap)
        return;
    s->cap = grown < need ? need : grown;
    s->s = xrealloc(s->s, s->cap);
    s->s[s->len] = '\0';
}

void str_addn(struct str *s, const char *text, size_t n)
{
    str_reserve(s, n);
    if (n)
        memcpy(s->s + s->len, text, n);
    s->len += n;
    s->s[s->len] = '\0';
}

void str_add(struct str *s, const char *text)
{
    str_addn(s, text, strlen(text));
}

void str_addc(struct str *s, char c)
{
    str_addn(s, &c, 1);
}

void str_add_hex(struct str *s, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        str_addc(s, digits[bytes[i] >> 4]);
        str_addc(s, digits[bytes[i] & 15]);
    }
}

void str_repeat(struct str *s, char c, size_t n)
{
    str_reserve(s, n);
    memset(s->s + s->len, c, n);
    s->len += n;
    s->s[s->len] = '\0';
}

void str_vaddf(struct str *s, const char *fmt, va_list ap)
{
    va_list again;

    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);

    if (n < 0)
        mem_exhausted();
    str_reserve(s, (size_t)n);
    vsnprintf(s->s + s->len, (size_t)n + 1, fmt, again);
    va_end(again);
    s->len += (size_t)n;
}

void str_addf(struct str *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str_vaddf(s, fmt, ap);
    va_end(ap);
}

void str_truncate(struct str *s, size_t len)
{
    if (len >= s->len)
        return;
    s->len = len;
    s->s[len] = '\0';
}

void str_clear(struct str *s)
{
    str_truncate(s, 0);
}

const char *str_cstr(const struct str *s)
{
    return s->s ? s->s : "";
}

char *str_steal(struct str *s)
{
    str_reserve(s, 0);
    char *text = s->s;

    *s = (struct str){0};
    return text;
}

void str_deinit(struct str *s)
{
    free(s->s);
    *s = (struct str){0};
}

void json_quote(struct str *out, const char *s)
{
    if (!s) {
        str_add(out, "null");
        return;
    }
    str_addc(out, '"');
    for (size_t n = strlen(s), len; n; s += len, n -= len) {
        uint32_t code;

        len = utf8_next(s, n, &code);
        if (code == '"' || code == '\\')
            str_addf(out, "\\%c", *s);
        else if (code == '\n')
            str_add(out, "\\n");
        else if (code == '\t')
            str_add(out, "\\t");
        else if (code < 0x20 || code == 0x7f || code == 0xfffd)
            str_addf(out, "\\u%04x", (unsigned)code);
        else
            str_addn(out, s, len);
    }
    str_addc(out, '"');
}

void csv_quote(struct str *out, const char *s)
{
    size_t n = strlen(s);

    if (!strpbrk(s, "\",\r\n") && !(n && (s[0] == ' ' || s[n - 1] == ' '))) {
        str_addn(out, s, n);
        return;
    }
    str_addc(out, '"');
    for (; *s; s++) {
        if (*s == '"')
            str_addc(out, '"');
        str_addc(out, *s);
    }
    str_addc(out, '"');
}

static const char *xml_entity(uint32_t code)
{
    switch (code) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    case '\'': return "&apos;";
    case '\t': return "&#9;";
    case '\n': return "&#10;";
    case '\r': return "&#13;";
    default: return code < 0x20 || (code >= 0xfffd && code <= 0xffff) ? "\xef\xbf\xbd" : NULL;
    }
}

void xml_escape(struct str *out, const char *s)
{
    for (size_t n = strlen(s), len; n; s += len, n -= len) {
        uint32_t code;

        len = utf8_next(s, n, &code);
        const char *entity = xml_entity(code);

        if (entity)
            str_add(out, entity);
        else
            str_addn(out, s, len);
    }
}

void base64_add(struct str *out, const void *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = data;

    str_reserve(out, n / 3 * 4 + 8);
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)in[i] << 16 | (i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0) | (i + 2 < n ? in[i + 2] : 0);
        const char four[4] = {digits[v >> 18], digits[v >> 12 & 63], i + 1 < n ? digits[v >> 6 & 63] : '=',
                              i + 2 < n ? digits[v & 63] : '='};

        str_addn(out, four, 4);
    }
}
