/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/names.h"
#include "common/brackets.h"
#include "common/mem.h"
#include "common/str.h"
#include <ctype.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* The length of what may stand after the arguments. */
static size_t tail_length(const char *s)
{
    static const char *const words[] = {" const", " volatile", " &&", " &", " noexcept", ""};
    const char *start = s;

    while (*s) {
        size_t n = 0;

        if (str_begins(s, " [")) {
            const char *end = strchr(s, ']');

            n = end ? (size_t)(end + 1 - s) : 0;
        } else if (str_begins(s, " requires ") || (*s == '@' && s[1])) {
            n = strlen(s);
        }
        for (size_t i = 0; !n && *words[i]; i++)
            if (str_begins(s, words[i]))
                n = strlen(words[i]);
        if (!n)
            break;
        s += n;
    }
    return (size_t)(s - start);
}

/* Whether s stands right behind `operator` of a conversion, of new and delete, or of a literal: what follows up to the
 * arguments is part of the name. */
static bool converts(const char *name, const char *s)
{
    return s - name >= 8 && !memcmp(s - 8, "operator", 8) && (s - name == 8 || !is_word(s[-9])) &&
           (*s == ' ' || *s == '"') && s[1] != '<';
}

struct scan {
    const char *arguments; /* the last top-level "(" that only a tail follows */
    const char *space;     /* the last top-level space before it */
    const char *colons;    /* after the last top-level "::" before the end of the scan */
    const char *template;  /* the arguments of a template that end with the scan, with what stands before them */
};

/* One pass over what is outside of brackets, up to `end`. */
static struct scan scan_name(const char *name, const char *end)
{
    struct scan r = {0};
    bool converting = false;

    for (const char *s = name; s < end; s++) {
        size_t skip = name_operator(name, s);

        if (skip) {
            s += skip - 1;
        } else if (strchr("<({[", *s)) {
            const char *close = name_bracket_end(name, s);

            if (close && close + 1 == end && *s == '<' && s > name)
                r.template = s[-1] == ' ' ? s - 1 : s;
            if (!close || close >= end)
                break;
            size_t tail = *s == '(' ? tail_length(close + 1) : 0;
            if (*s == '(' && !close[1 + tail])
                r.arguments = s;
            s = tail && str_begins(close + 1 + tail, "::") ? close + tail : close;
        } else if ((converting |= converts(name, s))) {
            continue;
        } else if (*s == ' ' && s[1] != '<' && !(s - name >= 8 && !memcmp(s - 8, "operator", 8))) {
            if (!r.arguments)
                r.space = s;
        } else if (*s == ':' && s[1] == ':') {
            const char *generic = s[2] == '<' && s > name ? name_bracket_end(name, s + 2) : NULL;

            if (generic && generic + 1 == end) {
                r.template = s; /* Rust: `insert::<u64>` */
                break;
            }
            r.colons = s + 2;
            s++;
        }
    }
    return r;
}

/* Returns the part in the first brackets behind * or & of names such as `void (*f(int))(double)`, `int (&f())[3]` and
 * `void (A::*f(int))(double)`; NULL for other names. *length: of the name and its arguments. */
static const char *within_declarator(const char *name, size_t *length, size_t *no_arguments)
{
    for (const char *s = name, *close; *s; s = close + 1) {
        s += strcspn(s, "<({[");
        close = *s ? name_operator(name, s) ? s : name_bracket_end(name, s) : NULL;
        if (!close)
            return NULL;
        if (*s != '(' || s == name || s[-1] != ' ' || !close[1] || !strchr("([", close[1]))
            continue;
        const char *own = s + 1, *arguments = NULL;

        for (const char *t = own, *end; t < close; t = end + 1) {
            end = name_operator(name, t) ? t + name_operator(name, t) - 1 : name_bracket_end(name, t);
            if (!end && (*t == '*' || *t == '&') && (t == own || str_begins(t - 2, "::")))
                own = t + 1;
            if (end && *t == '(' && end + 1 + tail_length(end + 1) >= close)
                arguments = t;
            end = end ? end : t;
        }
        if (!arguments || own == s + 1)
            continue;
        *length = (size_t)(close - own);
        *no_arguments = (size_t)(arguments - own);
        return own;
    }
    return NULL;
}

/* Endings that compilers append to the name of a procedure that they made from another one: the body of a parallel
 * region (`regions`), a copy or a part (`clones`). */
static const char *const regions[] = {"._omp_fn.", ".omp_outlined", NULL};
static const char *const clones[] = {".isra.", ".part.", ".constprop.", ".cold", ".lto_priv.", ".llvm.", NULL};

static bool begins_with_one_of(const char *s, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (str_begins(s, *prefixes))
            return true;
    return false;
}

static size_t without_suffix(const char *name)
{
    for (const char *dot = strchr(name, '.'); dot && dot > name; dot = strchr(dot + 1, '.'))
        if ((begins_with_one_of(dot, regions) || begins_with_one_of(dot, clones)) && !strpbrk(dot, ":< "))
            return (size_t)(dot - name);
    return strlen(name);
}

size_t name_without_clone(const char *symbol, size_t length)
{
    size_t end = 0;

    for (size_t i = 1; i < length; i++) {
        if (symbol[i] != '.')
            continue;
        if (begins_with_one_of(symbol + i, regions))
            end = 0;
        else if (!end && begins_with_one_of(symbol + i, clones))
            end = i;
    }
    return end ? end : length;
}

struct name_parts name_split(const char *name)
{
    size_t length = strlen(name), no_arguments;
    struct scan r = scan_name(name, name + length);
    const char *within = strstr(name, " (") ? within_declarator(name, &length, &no_arguments) : NULL;

    if (within)
        return (struct name_parts){within, length, no_arguments};
    if (!r.arguments || r.arguments == name)
        return (struct name_parts){name, length, without_suffix(name)};
    if (r.space) {
        length -= (size_t)(r.space + 1 - name);
        name = r.space + 1;
    }
    return (struct name_parts){name, length, (size_t)(r.arguments - name)};
}

static bool same(const char *a, size_t n, const char *b)
{
    return strlen(b) == n && !memcmp(a, b, n);
}

bool name_is(const char *name, const char *word)
{
    if (!strcmp(name, word))
        return true;
    if (!strpbrk(name, "(."))
        return false;
    struct name_parts p = name_split(name);

    return same(p.name, p.length, word) || same(p.name, p.no_arguments, word);
}

/* The length of a name without template arguments at its end. */
static size_t without_template(const char *name, size_t n)
{
    struct scan r = scan_name(name, name + n);

    return r.template ? (size_t)(r.template - name) : n;
}

bool name_ends(const char *name, const char *word)
{
    struct name_parts p = name_split(name);
    size_t want = strlen(word), lengths[3] = {p.length, p.no_arguments, without_template(p.name, p.no_arguments)};

    for (int i = 0; i < 3; i++) {
        size_t n = lengths[i];

        if (n == want && !memcmp(p.name, word, n))
            return true;
        if (n < want + 2 || memcmp(p.name + n - want, word, want) != 0)
            continue;
        struct scan r = scan_name(p.name, p.name + n - want);

        if (r.colons == p.name + n - want)
            return true;
    }
    return false;
}

const char *name_last(const char *name, size_t *length)
{
    struct name_parts p = name_split(name);
    size_t n = without_template(p.name, p.no_arguments);
    struct scan r = scan_name(p.name, p.name + n);
    const char *from = r.colons && r.colons < p.name + n ? r.colons : p.name;

    *length = (size_t)(p.name + n - from);
    return from;
}

bool name_is_address(const char *name)
{
    return strstr(name, "+0x");
}

bool name_is_structor(const char *name)
{
    size_t n;
    const char *last = name_last(name, &n);
    struct name_parts p = name_split(name);

    if (*last == '~')
        return true;
    if (last < p.name + 2 || last[-1] != ':')
        return false;
    size_t before = without_template(p.name, (size_t)(last - 2 - p.name));

    return before >= n && !memcmp(p.name + before - n, last, n) && (before == n || !is_word(p.name[before - n - 1]));
}

bool glob_matches(const char *glob, const char *text, size_t length)
{
    const char *end = text + length, *star = NULL, *retry = NULL;

    while (text < end) {
        if (*glob == '*') {
            star = glob++;
            retry = text;
        } else if (*glob && (*glob == '?' || *glob == *text)) {
            glob++;
            text++;
        } else if (star) {
            glob = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return !*glob;
}

bool name_matches_glob(const char *name, const char *glob)
{
    struct name_parts p;
    const char *last;
    size_t n;

    if (glob_matches(glob, name, strlen(name)))
        return true;
    if (!strpbrk(name, "(:<"))
        return false;
    p = name_split(name);
    if (glob_matches(glob, p.name, p.length) || glob_matches(glob, p.name, p.no_arguments))
        return true;
    last = name_last(name, &n);
    return glob_matches(glob, last, n);
}

bool path_ends(const char *path, const char *word)
{
    while (str_begins(word, "./") || str_begins(word, "../"))
        word += word[1] == '/' ? 2 : 3;

    size_t n = strlen(path), want = strlen(word);

    if (want > n || want == 0 || strcmp(path + n - want, word))
        return false;
    return want == n || word[0] == '/' || path[n - want - 1] == '/';
}

bool path_matches_glob(const char *path, const char *glob)
{
    for (const char *s = path; s; s = strchr(s, '/')) {
        if (s != path || *s == '/')
            s += *s == '/';
        if (glob_matches(glob, s, strlen(s)))
            return true;
    }
    return glob_matches(glob, path, strlen(path));
}

char *name_folded(const char *name)
{
    struct name_parts parts = name_split(name);
    char *folded = xstrndup(parts.name, parts.no_arguments);

    for (char *p = folded; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return folded;
}

bool name_matches_folded(const char *glob, const char *folded)
{
    char lower[64];
    size_t n = 0;

    for (; glob[n] && n + 1 < sizeof lower; n++)
        lower[n] = (char)tolower((unsigned char)glob[n]);
    lower[n] = 0;
    return glob_matches(lower, folded, strlen(folded));
}
