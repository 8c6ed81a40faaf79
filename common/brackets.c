/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/brackets.h"
#include "common/str.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

size_t name_operator(const char *name, const char *s)
{
    if (s - name < 8 || memcmp(s - 8, "operator", 8) != 0 || (s - name > 8 && is_word(s[-9])))
        return 0;
    /* The longer ones stand first: of `operator+<int>` only + is the operator. */
    static const char *const symbols[] = {
        "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
        "++",  "--",  "+=",  "-=",  "*=", "/=", "%=", "^=", "&=", "|=", "->", "<",  ">",  "=",
        "+",   "-",   "*",   "/",   "%",  "^",  "&",  "|",  "~",  "!",  ",",  NULL};
    for (size_t i = 0; symbols[i]; i++)
        if (str_begins(s, symbols[i]))
            return strlen(symbols[i]);
    return 0;
}

/* The bracket that closes the one that opens at s; 0: none opens. In an expression, `(a < b)` or `((a)<(b))`, < is a
 * comparison. */
static char closing(const char *name, const char *s)
{
    static const char call[] = "operator()"; /* a template's: `operator()<int>` */
    size_t at = (size_t)(s - name), n = sizeof call - 1;

    switch (*s) {
    case '(': return ')';
    case '[': return ']';
    case '{': return '}';
    case '<':
        if (!at || (s[-1] == ')' && at >= n && !memcmp(s - n, call, n)))
            return '>';
        return s[-1] == ')' || (s[-1] == ' ' && s[1] == ' ') ? 0 : '>';
    default: return 0;
    }
}

/* Returns the length of an operator, an arrow, a character or a text at `s`, which hold no brackets; 0 for anything
 * else. */
static size_t passed_over(const char *name, const char *s)
{
    size_t n = name_operator(name, s);
    const char *end;

    if (n)
        return n;
    if (*s == '-' && s[1] == '>')
        return 2;
    if (*s == '\'' && s[1] && s[2] == '\'')
        return 3;
    end = *s == '"' ? strchr(s + 1, '"') : NULL;
    return end ? (size_t)(end + 1 - s) : 0;
}

enum { DEEPEST = 1000 };

const char *name_bracket_end(const char *name, const char *s)
{
    char open[DEEPEST];
    size_t depth = 0, skip;

    if (!closing(name, s) || name_operator(name, s))
        return NULL;
    for (; *s; s += skip ? skip : 1) {
        char end = closing(name, s);

        skip = passed_over(name, s);
        if (skip)
            continue;
        if (end) {
            if (depth == DEEPEST)
                return NULL;
            open[depth++] = end;
        } else if (*s == '>') {
            depth -= open[depth - 1] == '>'; /* else a comparison */
        } else if (strchr(")]}", *s)) {
            size_t at = depth;

            while (at && open[at - 1] != *s)
                at--; /* a < that was never closed is a comparison */
            depth = at ? at - 1 : depth;
        }
        if (!depth)
            return s;
    }
    return NULL;
}
