/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/given/spelling.h"
#include <string.h>

/* One character of n bytes. A byte that is no UTF-8 is told as U+FFFD, which itself has three. */
static bool is_held(uint32_t code, size_t n)
{
    return code >= 0x20 && code != 0x7f && code != 0xfffe && code != 0xffff && !(code == 0xfffd && n == 1);
}

static void add_character(struct str *out, const char *s, size_t n, uint32_t code)
{
    if (code == '\\') {
        str_add(out, "\\\\");
    } else if (!is_held(code, n)) {
        for (size_t i = 0; i < n; i++)
            str_addf(out, "\\x%02x", (unsigned char)s[i]);
    } else {
        char one[5] = {0};

        memcpy(one, s, n);
        xml_escape(out, one);
    }
}

void spelling_add(struct str *out, const char *text)
{
    for (size_t n = strlen(text), len; n; text += len, n -= len) {
        uint32_t code;

        len = utf8_next(text, n, &code);
        add_character(out, text, len, code);
    }
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool spelling_read(struct str *out, const char *value)
{
    for (; *value; value++) {
        if (*value != '\\') {
            str_addc(out, *value);
            continue;
        }
        value++;
        if (*value == '\\') {
            str_addc(out, '\\');
            continue;
        }
        int high = *value == 'x' ? digit(value[1]) : -1, low = high < 0 ? -1 : digit(value[2]);

        if (low < 0 || !(high || low))
            return false;
        str_addc(out, (char)(high << 4 | low));
        value += 2;
    }
    return true;
}
