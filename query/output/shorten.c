/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/shorten.h"
#include "common/mem.h"
#include "common/names.h"
#include <ctype.h>
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

/* ---- the name in its parts ---- */

struct part {
    const char *s;
    size_t len;  /* with template arguments */
    size_t bare; /* without */
};

enum { PARTS_MAX = 64 };

struct parts {
    struct part list[PARTS_MAX];
    size_t count;
};

static struct part part_of(const char *s, size_t len)
{
    size_t bare = 0;

    /* operator<, and the brackets of Rust and of lambdas, are no template arguments. */
    bool is_operator = len > 8 && !strncmp(s, "operator", 8);

    if (is_operator)
        bare = 8 + name_operator(s, s + 8) + (s[8] == ' ' ? strcspn(s + 8, "<(") : 0);
    while (bare < len && ((s[bare] != '<' && (s[bare] != '(' || is_operator)) || !bare) && *s != '{' && *s != '(')
        bare++;
    if (*s == '{' || *s == '(' || *s == '<')
        bare = len;
    while (bare && strchr(" :", s[bare - 1]))
        bare--;
    return (struct part){s, len, bare < len ? bare : len};
}

/* Cuts a name without arguments at each :: outside of brackets. */
static void cut(const char *name, size_t len, struct parts *out)
{
    size_t from = 0;
    int depth = 0;

    out->count = 0;
    for (size_t i = 0; i < len && out->count < PARTS_MAX - 1; i++) {
        size_t operator= depth == 0 ? name_operator(name, name + i) : 0;

        if (operator) {
            i += operator- 1;
        } else if (depth == 0 && i >= from + 8 && !strncmp(name + i - 8, "operator", 8) && strchr(" \"", name[i])) {
            break;
        } else if (strchr("<({[", name[i])) {
            depth++;
        } else if (strchr(">)}]", name[i])) {
            depth -= depth > 0;
        } else if (depth == 0 && name[i] == ':' && name[i + 1] == ':' && name[i + 2] != '<') {
            out->list[out->count++] = part_of(name + from, i - from);
            from = i + 2;
            i++;
        }
    }
    out->list[out->count++] = part_of(name + from, len - from);
}

static bool begins(const struct part *p, const char *with)
{
    return p->len >= strlen(with) && !strncmp(p->s, with, strlen(with));
}

/* What rustc puts behind a name. */
static bool is_hash(const struct part *p)
{
    return p->len == 17 && *p->s == 'h' && strspn(p->s + 1, "0123456789abcdef") >= 16;
}

/* What says nothing by itself: which procedure it lies in does. */
static bool is_nameless(const struct part *p)
{
    return (begins(p, "operator") && p->len > 8 && !isalnum((unsigned char)p->s[8]) && p->s[8] != '_') ||
           *p->s == '{' || begins(p, "$_") || begins(p, "(anonymous") || begins(p, "_M_invoke") || is_hash(p);
}

static void add_last(struct str *out, const char *s, size_t len)
{
    struct parts p;

    cut(s, len, &p);
    str_addn(out, p.list[p.count - 1].s, p.list[p.count - 1].bare);
}

/* {lambda(int, int)#2} is {lambda#2}; <a::B<C> as d::E> is <B as E>. */
static void add_part(struct str *out, const struct part *p, bool bare, const char *dots)
{
    const char *end = p->s + p->len, *as = NULL;

    if (begins(p, "{lambda(")) {
        for (const char *s = end; s-- > p->s;)
            if (*s == '#') {
                str_addf(out, "{lambda%.*s", (int)(end - s), s);
                return;
            }
    }
    for (const char *s = p->s; *p->s == '<' && s + 4 < end && !as; s++)
        if (!strncmp(s, " as ", 4))
            as = s;
    if (as) {
        str_addc(out, '<');
        add_last(out, p->s + 1, (size_t)(as - p->s - 1));
        str_add(out, " as ");
        add_last(out, as + 4, (size_t)(end - 1 - (as + 4)));
        str_addc(out, '>');
        return;
    }
    str_addn(out, p->s, p->bare);
    if (!bare && p->bare < p->len)
        str_addf(out, p->s[p->bare] == '(' ? "(%s)" : p->s[p->bare] == ' ' ? " <%s>" : "<%s>", dots);
}

/*
 * The outermost name, and from the last one that says something on. `bare`: without brackets and what follows them, but
 * for the numbers of parallel regions.
 */
static void add_ends(struct str *out, const char *whole, bool bare, const char *dots)
{
    struct name_parts name = name_split(whole);
    struct parts p;
    size_t last, first = 0;

    cut(name.name, name.no_arguments, &p);
    p.count -= p.count > 1 && is_hash(&p.list[p.count - 1]);
    for (last = p.count - 1; last > 0 && is_nameless(&p.list[last]);)
        last--;
    while (first < last && begins(&p.list[first], "(anonymous"))
        first++;
    if (first < last) {
        add_part(out, &p.list[first], true, dots);
        str_add(out, "::");
    }
    if (last > first + 1 || (first && first == last))
        str_addf(out, "%s::", dots);
    for (size_t i = last; i < p.count; i++) {
        bool call = bare && i > last && i + 1 == p.count && begins(&p.list[i], "operator()") && *p.list[i - 1].s == '{';

        if (i > last && !call)
            str_add(out, "::");
        if (!call)
            add_part(out, &p.list[i], bare, dots);
    }
    const char *tail = name.name + name.no_arguments;
    if (!bare && name.no_arguments < name.length && *tail == '(') {
        const char *end = bracket_end(tail, tail);

        str_addf(out, tail[1] == ')' ? "()%s" : "(%s)%s", tail[1] == ')' ? "" : dots, end ? end + 1 : "");
        if (tail[1] == ')' && end)
            str_add(out, end + 1);
    } else {
        const char *region = strstr(tail, "._omp_fn."), *clang = strstr(tail, ".omp_outlined");

        if (region || clang)
            str_addn(out, region ? region : clang, strcspn(region ? region : clang, "]"));
        else if (!bare)
            str_addn(out, tail, name.length - name.no_arguments);
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
    for (int bare = 0; bare < 2; bare++) {
        str_truncate(out, start);
        add_ends(out, str_cstr(&known), bare, dots);
        if (utf8_width(out->s + start) <= width)
            return;
    }
}
