/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/shorten.h"
#include "common/mem.h"
#include "common/names.h"
#include <stdbool.h>
#include <string.h>

/* Spellings that everybody knows by another name. The longer ones stand first. */
static const struct {
    const char *spelt, *known;
} familiar[] = {
    {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"},
    {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>", "std::string"},
    {"std::basic_string_view<char, std::char_traits<char> >", "std::string_view"},
    {"std::basic_string_view<char, std::char_traits<char>>", "std::string_view"},
    {"std::__cxx11::", "std::"},
    {"std::__1::", "std::"},
};

static void add_familiar(struct str *out, const char *name)
{
    while (*name) {
        size_t n = 0;
        for (size_t i = 0; !n && i < sizeof familiar / sizeof *familiar; i++)
            if (!strncmp(name, familiar[i].spelt, strlen(familiar[i].spelt))) {
                n = strlen(familiar[i].spelt);
                str_add(out, familiar[i].known);
            }
        if (!n)
            str_addc(out, *name);
        name += n ? n : 1;
    }
}

/* How deeply nested brackets may be before what is in them is left out. */
struct limits {
    int round, angle;
};

static bool closes(const char *name, const char *s)
{
    return *s == ')' || (*s == '>' && !(s > name && s[-1] == '-'));
}

/* The bracket that closes the one at s; NULL if none does. */
static const char *bracket_end(const char *name, const char *s)
{
    int depth = 0;

    for (; *s; s++) {
        depth += *s == '(' || *s == '<' ? 1 : closes(name, s) ? -1 : 0;
        if (depth == 0)
            return s;
    }
    return NULL;
}

static void add_within(struct str *out, const char *name, struct limits limits, const char *dots)
{
    /* Rust: in `<A as B>::f` the first bracket holds the name itself. */
    int depth = *name == '<' ? -1 : 0;

    for (const char *s = name; *s; s++) {
        size_t operator= name_operator(name, s);
        const char *end = NULL;

        if (operator) {
            str_addn(out, s, operator);
            s += operator- 1;
            continue;
        }
        if ((*s == '(' && strncmp(s, "(anonymous", 10) != 0) || *s == '<') {
            int limit = *s == '(' ? limits.round : limits.angle;
            if (depth++ >= limit)
                end = bracket_end(name, s);
        } else if (closes(name, s) && depth > 0) {
            depth--;
        }
        str_addc(out, *s);
        if (!end || end == s + 1)
            continue;
        str_add(out, dots);
        s = end - 1;
    }
}

void name_shorten(struct str *out, const char *name, size_t width, const char *dots)
{
    static const struct limits steps[] = {{99, 99}, {0, 99}, {0, 3}, {0, 2}, {0, 1}, {0, 0}};
    struct str known AUTO_STR = {0};
    size_t start = out->len;

    if (utf8_width(name) <= width) {
        str_add(out, name);
        return;
    }
    add_familiar(&known, name);
    const char *whole = str_cstr(&known);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        str_truncate(out, start);
        add_within(out, whole, steps[i], dots);
        if (utf8_width(out->s + start) <= width)
            return;
        whole = name_split(str_cstr(&known)).name;
    }
    AUTO_FREE char *least = xstrdup(out->s + start);
    size_t length;
    const char *last = name_last(least, &length);

    str_truncate(out, start);
    if (last > least + 2)
        str_addf(out, "%s::", dots);
    str_add(out, last);
}
