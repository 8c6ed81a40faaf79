/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/shorten.h"
#include "common/brackets.h"
#include "common/mem.h"
#include "common/names.h"
#include "common/str.h"
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

/* gfortran: __module_MOD_procedure */
static const char *fortran_procedure(const char *name)
{
    const char *mod = str_begins(name, "__") ? strstr(name + 2, "_MOD_") : NULL;

    return mod && mod > name + 2 && mod[5] ? mod : NULL;
}

static void add_familiar(struct str *out, const char *name)
{
    const char *mod = fortran_procedure(name);

    if (mod) {
        str_addf(out, "%.*s::%s", (int)(mod - name - 2), name + 2, mod + 5);
        return;
    }
    while (*name) {
        size_t n = 0;
        for (size_t i = 0; !n && i < sizeof familiar / sizeof *familiar; i++)
            if (str_begins(name, familiar[i].spelt)) {
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

/* Brackets that are part of what something is called: `(anonymous namespace)`, and Go's `(*Server).Serve`. */
static bool names(const char *name, const char *s)
{
    return str_begins(s, "(anonymous") || (s[1] == '*' && s > name && s[-1] == '.');
}

/* Adds what stands from s on before `end`, which is as deep in brackets as `depth`. */
static void add_within(struct str *out, const char *name, const char *s, const char *end, int depth,
                       struct limits limits, const char *dots)
{
    while (s < end) {
        size_t symbol = name_operator(name, s);
        const char *close = symbol || *s == '[' || *s == '{' || names(name, s) ? NULL : name_bracket_end(name, s);
        size_t n = symbol ? symbol : 1;

        str_addn(out, s, n);
        s += n;
        if (!close || close >= end)
            continue;
        if (depth < (s[-1] == '(' ? limits.round : limits.angle) || close == s)
            add_within(out, name, s, close, depth + 1, limits, dots);
        else
            str_add(out, dots);
        s = close;
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
    const char *separator;
};

static struct part part_of(const char *name, const char *s, size_t len)
{
    size_t bare = 0;

    /* operator<, and the brackets of Rust and of lambdas, are no template arguments. */
    bool is_operator = len > 8 && str_begins(s, "operator");

    if (is_operator)
        bare = 8 + name_operator(name, s + 8) + (s[8] == ' ' ? strcspn(s + 8, "<(") : 0);
    for (; bare < len && *s != '{' && *s != '('; bare++) {
        const char *close = bare && !is_operator && strchr("<(", s[bare]) ? name_bracket_end(name, s + bare) : NULL;

        if (close && close + 1 < s + len && close[1] == '.')
            bare = (size_t)(close - s); /* Go: `pkg.(*Type).Method`; D: `sort!(int).sort` */
        else if (bare && (s[bare] == '<' || (s[bare] == '(' && !is_operator)))
            break;
    }
    if (*s == '{' || *s == '(' || *s == '<')
        bare = len;
    while (bare && bare <= len && strchr(" :", s[bare - 1]))
        bare--;
    return (struct part){s, len, bare < len ? bare : len};
}

/* Cuts a name without arguments at each :: outside of brackets; what Go writes, `path/of/package.(*Type).Method`, at
 * each slash. */
static void cut(const char *name, size_t len, struct parts *out)
{
    size_t from = 0;
    bool colons = memmem(name, len, "::", 2), slashes = !colons && memchr(name, '/', len) && *name != '/';

    out->count = 0;
    for (size_t i = 0; i < len && out->count < PARTS_MAX - 1; i++) {
        size_t symbol = name_operator(name, name + i);
        const char *close = symbol ? NULL : name_bracket_end(name, name + i);

        if (symbol) {
            i += symbol - 1;
        } else if (i >= from + 8 && str_begins(name + i - 8, "operator") && strchr(" \"", name[i])) {
            break;
        } else if (close && close < name + len) {
            i = (size_t)(close - name);
        } else if (name[i] == ':' && name[i + 1] == ':' && name[i + 2] != '<') {
            out->list[out->count++] = part_of(name, name + from, i - from);
            from = i + 2;
            i++;
        } else if (slashes && name[i] == '/') {
            out->list[out->count++] = part_of(name, name + from, i - from);
            from = i + 1;
        }
    }
    out->separator = slashes ? "/" : "::";
    out->list[out->count++] = part_of(name, name + from, len - from);
}

static bool begins(const struct part *p, const char *with)
{
    return p->len >= strlen(with) && str_begins(p->s, with);
}

/* Whether a part is the hash that rustc appends to a name: h and 16 hexadecimal digits. */
static bool is_hash(const struct part *p)
{
    return p->len == 17 && *p->s == 'h' && strspn(p->s + 1, "0123456789abcdef") >= 16;
}

/* Whether a part says nothing by itself, so that the procedure that it lies in has to be named too. */
static bool is_nameless(const struct part *p)
{
    return (begins(p, "operator") && p->len > 8 && !isalnum((unsigned char)p->s[8]) && p->s[8] != '_') ||
           *p->s == '{' || begins(p, "'lambda") || begins(p, "$_") || begins(p, "(anonymous") ||
           begins(p, "_M_invoke") || is_hash(p);
}

/* Where `word` stands in a type, outside of brackets; else its end. */
static size_t find_word(const char *s, size_t len, const char *word)
{
    for (size_t i = 0; i + strlen(word) <= len; i++) {
        const char *close = name_bracket_end(s, s + i);

        if (close && close < s + len)
            i = (size_t)(close - s);
        else if (str_begins(s + i, word))
            return i;
    }
    return len;
}

/* The last name of a type of Rust, with what stands before it: `&mut Map`, `dyn FnOnce`. */
static void add_type(struct str *out, const char *type, size_t len)
{
    static const char *const before[] = {"&", "mut ", "dyn ", "impl ", "*const ", "*mut "};
    AUTO_FREE char *own = xstrndup(type, len);
    const char *s = own;
    struct parts p;

    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (str_begins(s, before[i])) {
            str_add(out, before[i]);
            s += strlen(before[i]);
            i = (size_t)-1;
        }
    if (strchr("[(", *s) || str_begins(s, "fn(")) {
        str_add(out, s);
        return;
    }
    len = find_word(s, strlen(s), " + ");
    len = find_word(s, len, " -> ");
    cut(s, len, &p);
    str_addn(out, p.list[p.count - 1].s, p.list[p.count - 1].bare);
}

/* {lambda(int, int)#2} is {lambda#2}; <a::B<C> as d::E> is <B as E>. */
static void add_part(struct str *out, const struct part *p, bool bare, const char *dots)
{
    const char *end = p->s + p->len;
    static const char *const between[] = {" as ", " for "};

    if (begins(p, "{lambda(")) {
        for (const char *s = end; s-- > p->s;)
            if (*s == '#') {
                str_addf(out, "{lambda%.*s", (int)(end - s), s);
                return;
            }
    }
    for (size_t i = 0; *p->s == '<' && p->len > 2 && i < 2; i++) {
        size_t at = find_word(p->s + 1, p->len - 2, between[i]), word = strlen(between[i]);

        if (at == p->len - 2)
            continue;
        str_addc(out, '<');
        add_type(out, p->s + 1, at);
        str_add(out, between[i]);
        add_type(out, p->s + 1 + at + word, p->len - 2 - at - word);
        str_addc(out, '>');
        return;
    }
    str_addn(out, p->s, p->bare);
    if (!bare && p->bare < p->len)
        str_addf(out, p->s[p->bare] == '(' ? "(%s)" : p->s[p->bare] == ' ' ? " <%s>" : "<%s>", dots);
}

/* Details that are left out of components that are kept. */
enum detail {
    MARKED,   /* what is in brackets */
    UNCALLED, /* arguments and what follows them, but for the numbers of parallel regions */
    BARE,     /* template arguments, too */
    DETAILS
};

static void add_tail(struct str *out, const struct name_parts *name, enum detail detail, const char *dots)
{
    const char *tail = name->name + name->no_arguments, *stop = name->name + name->length;
    const char *region = strstr(tail, "._omp_fn."), *clang = strstr(tail, ".omp_outlined");

    if (detail == MARKED && tail < stop && *tail == '(') {
        const char *end = name_bracket_end(tail, tail);

        str_addf(out, "(%s)", tail[1] == ')' ? "" : dots);
        if (end && end < stop)
            str_addn(out, end + 1, (size_t)(stop - end - 1));
    } else if (region || clang) {
        str_addn(out, region ? region : clang, strcspn(region ? region : clang, "]"));
    } else if (detail == MARKED) {
        str_addn(out, tail, (size_t)(stop - tail));
    }
}

/* Adds the outermost name, `between` of those between, and from the last one that says something on. Returns how many
 * there are between. */
static size_t add_ends(struct str *out, const char *whole, size_t between, enum detail detail, const char *dots)
{
    struct name_parts name = name_split(whole);
    struct parts p;
    size_t last, first = 0, all, from;

    cut(name.name, name.no_arguments, &p);
    p.count -= p.count > 1 && is_hash(&p.list[p.count - 1]);
    for (last = p.count - 1; last > 0 && is_nameless(&p.list[last]);)
        last--;
    while (first < last && begins(&p.list[first], "(anonymous"))
        first++;
    all = first < last ? last - first - 1 : 0;
    from = between < all ? last - between : first + (first < last);
    if (first < last) {
        add_part(out, &p.list[first], true, dots);
        str_add(out, p.separator);
    }
    if (between < all || (first && first == last))
        str_addf(out, "%s%s", dots, p.separator);
    for (size_t i = from; i < p.count; i++) {
        bool call = detail != MARKED && i > last && i + 1 == p.count && begins(&p.list[i], "operator()") &&
                    *p.list[i - 1].s == '{';

        if (i > from && !call)
            str_add(out, p.separator);
        if (!call)
            add_part(out, &p.list[i], detail == BARE, dots);
    }
    add_tail(out, &name, detail, dots);
    return all;
}

/* A parallel region, of which the place says most. */
static const char region[] = "parallel region at ";

void name_shorten(struct str *out, const char *name, size_t width, const char *dots)
{
    static const struct limits steps[] = {{99, 99}, {0, 99}, {0, 3}, {0, 2}, {0, 1}, {0, 0}};
    struct str known AUTO_STR = {0};
    size_t start = out->len;

    if (utf8_width(name) > width && !strncmp(name, region, sizeof region - 1))
        name += strlen("parallel ");
    if (utf8_width(name) <= width) {
        str_add(out, name);
        return;
    }
    add_familiar(&known, name);
    const char *whole = str_cstr(&known), *end = whole + known.len;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        /* Rust: in `<A as B>::f` the first bracket holds the name itself. */
        int depth = *whole == '<' ? -1 : 0;

        str_truncate(out, start);
        add_within(out, whole, whole, end, depth, steps[i], dots);
        if (utf8_width(out->s + start) <= width)
            return;
        struct name_parts own = name_split(str_cstr(&known));

        whole = own.name;
        end = own.name + own.length;
    }
    /* The component before the last one says more than that there are arguments. */
    str_truncate(out, start);
    for (size_t between = add_ends(out, str_cstr(&known), 0, BARE, dots) + 1; between-- > 0;)
        for (enum detail detail = MARKED; detail < DETAILS; detail++) {
            str_truncate(out, start);
            add_ends(out, str_cstr(&known), between, detail, dots);
            if (utf8_width(out->s + start) <= width)
                return;
        }
}
