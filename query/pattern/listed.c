/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/pattern/listed.h"
#include "common/str.h"
#include <ctype.h>
#include <string.h>

/* Reads what stands for itself; returns where it ends. */
static const char *read_literal(const char *at, struct str *out)
{
    for (; *at; at++) {
        bool protected = *at == '\\' && at[1] != '\\' && ispunct((unsigned char)at[1]);

        if (!protected && !isalnum((unsigned char)*at) && !strchr("_:~<>, &-", *at))
            break;
        at += protected;
        str_addf(out, "%c", *at);
    }
    return at;
}

/* `^name$`, or `^before(a|b)after$`: from behind the ^. Returns where it ends, NULL if it is neither. */
static const char *read_names(const char *at, struct arena *arena, struct listed_names *out)
{
    AUTO_STR struct str before = {0}, after = {0};
    size_t first = out->len;

    at = read_literal(at, &before);
    if (*at == '(') {
        at += !str_begins(at, "(?:") ? 1 : 3;
        for (char end = '|'; end == '|'; end = *at++) {
            AUTO_STR struct str name = {0};

            at = read_literal(at, &name);
            if (!name.len || (*at != '|' && *at != ')'))
                return NULL;
            vec_push(out, (const char *)arena_strdup(arena, str_cstr(&name)));
        }
        at = read_literal(at, &after);
    } else {
        vec_push(out, (const char *)"");
    }
    for (size_t i = first; i < out->len; i++)
        out->data[i] = arena_printf(arena, "%s%s%s", str_cstr(&before), out->data[i], str_cstr(&after));
    return *at == '$' ? at + 1 : NULL;
}

void listed_in_regex(const char *regex, struct arena *arena, struct listed_names *out)
{
    const char *at = regex;

    do
        at = *at == '^' ? read_names(at + 1, arena, out) : NULL;
    while (at && *at++ == '|');
    if (!at || at[-1])
        vec_clear(out);
}
