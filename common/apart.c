/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/apart.h"
#include "common/brackets.h"
#include "common/fit.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/names.h"
#include "common/shorten.h"
#include "common/str.h"
#include "common/vec.h"
#include <string.h>

/* Names that are shown alike, each once, and the least room that one of them has. */
struct group {
    VEC(const char *) names;
    size_t room;
};

enum { DIFFERENCE = 24, BRIEFEST = 6 }; /* columns of an argument, where that is enough */

/* Up to where the names of `members` are equal. */
static size_t common_start(const struct group *g, const size_t *members, size_t count)
{
    const char *first = g->names.data[members[0]];
    size_t n = strlen(first);

    for (size_t i = 1; i < count; i++) {
        const char *other = g->names.data[members[i]];
        size_t k = 0;

        while (k < n && other[k] == first[k])
            k++;
        n = k;
    }
    return n;
}

/* Where the argument, or outside of brackets the word, begins that stands at `at`. */
static size_t argument_start(const char *name, size_t at, bool *outside)
{
    size_t start = 0;

    *outside = true;
    for (size_t i = 0; i < at; i++) {
        const char *close = name_bracket_end(name, name + i);

        if (close && (size_t)(close - name) < at) {
            i = (size_t)(close - name);
        } else if (close && strchr("<(", name[i])) {
            start = i + 1;
            *outside = false;
        } else if (close) {
            break; /* {lambda(int)#1} is told whole */
        } else if (name[i] == ',' || (*outside && strchr(" :", name[i]))) {
            start = i + 1;
        }
    }
    while (name[start] == ' ' && start < at)
        start++;
    return start;
}

static size_t argument_length(const char *name, bool outside)
{
    size_t i = 0;

    for (; name[i] && !strchr(outside ? "<( :" : ",)>", name[i]); i++) {
        const char *close = name_bracket_end(name, name + i);

        i = close ? (size_t)(close - name) : i;
    }
    return i;
}

/* Adds the last component of a path, with the one before it if it says nothing alone: `lang_start::{closure#0}`; of
 * what stands in brackets only that there is something. */
static void add_last(struct str *out, const char *path, size_t length, const char *dots)
{
    size_t from = 0, before = 0;

    for (size_t i = 0; i + 1 < length; i++) {
        const char *close = name_bracket_end(path, path + i);

        if (close && close < path + length) {
            i = (size_t)(close - path);
        } else if (path[i] == ':' && path[i + 1] == ':' && i + 2 < length) {
            before = from;
            from = ++i + 1;
        }
    }
    for (size_t i = strchr("{<(", path[from]) ? before : from; i < length; i++) {
        const char *close = path[i] == '{' ? NULL : name_bracket_end(path, path + i);

        str_addc(out, path[i]);
        if (!close || close >= path + length)
            continue;
        if (close > path + i + 1)
            str_add(out, dots);
        str_addc(out, *close);
        i = (size_t)(close - path);
    }
}

static const char between_words[] = " &*+,";

/* The length of the word at s, with what stands in its brackets. */
static size_t word_length(const char *text, const char *s)
{
    const char *from = s;

    for (; *s && !strchr(between_words, *s); s++) {
        const char *close = name_bracket_end(text, s);

        s = close ? close : s;
    }
    return (size_t)(s - from);
}

/* Adds a type without the scopes of the names in it: `&dyn Fn<...> + Sync`. Of what is wider than `room` whole words at
 * the start are kept, at least one. */
static void add_type(struct str *out, const char *type, size_t room, const char *dots)
{
    size_t start = out->len, kept = start;

    for (const char *s = type; *s;) {
        size_t n = word_length(type, s), separators = strspn(s + n, between_words);

        add_last(out, s, n, dots);
        if (kept > start && utf8_width(str_cstr(out) + start) > room) {
            str_truncate(out, kept);
            str_add(out, dots);
            return;
        }
        kept = n ? out->len : kept;
        str_addn(out, s + n, separators);
        s += n + separators;
    }
}

/* Returns an argument in `room` columns if words need not be cut for it. */
static char *brief(const char *part, size_t room, const char *dots)
{
    AUTO_STR struct str name = {0}, type = {0};

    if (!*part)
        return xstrdup("-");
    if (utf8_width(part) <= room)
        return xstrdup(part);
    add_type(&type, part, room, dots);
    if (name_split(part).name == part && !strpbrk(part, " &*"))
        name_shorten(&name, part, room, dots);
    bool named = name.len && (utf8_width(str_cstr(&name)) <= room || name.len < type.len);

    return xstrdup(str_cstr(named ? &name : &type));
}

/* Returns what stands behind `at`, where names end that are equal up to there: the next argument, what is in the next
 * brackets, or the next word. */
static char *following(const char *name, size_t at, bool outside)
{
    const char *s = name + at + strspn(name + at, outside ? " :" : " ,"), *close = name_bracket_end(name, s);

    return xstrndup(s, outside && close ? (size_t)(close + 1 - s) : argument_length(s, outside));
}

static bool all_equal(char **texts, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (strcmp(texts[i], texts[0]))
            return false;
    return true;
}

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

/* Returns of each of these names the first argument in which they are not all equal. */
static char **first_difference(const struct group *g, const size_t *members, size_t n)
{
    bool outside;
    size_t at = common_start(g, members, n), start = argument_start(g->names.data[members[0]], at, &outside);
    char **parts = xcalloc(n, sizeof *parts);

    for (size_t i = 0; i < n; i++) {
        const char *from = g->names.data[members[i]] + start;

        parts[i] = xstrndup(from, argument_length(from, outside));
    }
    for (int step = 0; step < 2 && all_equal(parts, n); step++)
        for (size_t i = 0; i < n; i++) {
            const char *name = g->names.data[members[i]];

            free(parts[i]);
            parts[i] = step ? xstrdup(name) : following(name, at, outside);
        }
    return parts;
}

/* Adds to the hints of these names, which look alike so far, the first argument in which they differ, and for those
 * that look alike even so the next one. */
static void add_differences(const struct group *g, size_t *members, size_t n, size_t least, struct str *hints,
                            const char *dots)
{
    char **parts = first_difference(g, members, n), **shown = xcalloc(n, sizeof *shown);

    for (size_t room = least; !shown[0] || all_equal(shown, n); room *= 2)
        for (size_t i = 0; i < n; i++) {
            free(shown[i]);
            shown[i] = brief(parts[i], room, dots);
        }
    struct map classes = {0};
    VEC(size_t) sizes = {0};
    size_t *class_of = xcalloc(n, sizeof *class_of), *ordered = xcalloc(n, sizeof *ordered), from = 0;

    for (size_t i = 0; i < n; i++) {
        bool is_new;

        str_addf(&hints[members[i]], "%s%s", hints[members[i]].len ? ", " : "", shown[i]);
        class_of[i] = *map_insert(&classes, hash_str(shown[i]), sizes.len, &is_new);
        if (is_new)
            vec_push(&sizes, 0);
        sizes.data[class_of[i]]++;
    }
    for (size_t k = 0; k < sizes.len; k++) {
        size_t len = sizes.data[k];

        sizes.data[k] = from;
        from += len;
    }
    for (size_t i = 0; i < n; i++)
        ordered[sizes.data[class_of[i]]++] = members[i];
    free_texts(parts, n);
    free_texts(shown, n);
    for (size_t k = 0, at = 0; k < sizes.len; at = sizes.data[k++])
        if (sizes.data[k] - at > 1)
            add_differences(g, ordered + at, sizes.data[k] - at, least, hints, dots);
    map_deinit(&classes);
    vec_deinit(&sizes);
    free(class_of);
    free(ordered);
}

/* Returns what tells each name from the others, each argument of it in so few columns if that is enough: `A, S`. */
static char **differences(const struct group *g, size_t least, const char *dots)
{
    size_t n = g->names.len;
    struct str *hints = xcalloc(n, sizeof *hints);
    size_t *members = xcalloc(n, sizeof *members);
    char **texts = xcalloc(n, sizeof *texts);

    for (size_t i = 0; i < n; i++)
        members[i] = i;
    add_differences(g, members, n, least, hints, dots);
    for (size_t i = 0; i < n; i++) {
        texts[i] = xstrdup(str_cstr(&hints[i]));
        str_deinit(&hints[i]);
    }
    free(members);
    free(hints);
    return texts;
}

enum { BRACES = 3 }; /* ` {` and `}` */

/* The columns that a name needs to keep its outermost and its last component. */
static size_t least_room(const char *name, const char *dots)
{
    AUTO_STR struct str shortest = {0};

    name_shorten(&shortest, name, 0, dots);
    return utf8_width(str_cstr(&shortest));
}

static bool all_fit(const struct group *g, char **texts, const char *dots)
{
    for (size_t i = 0; i < g->names.len; i++)
        if (least_room(g->names.data[i], dots) + BRACES + utf8_width(texts[i]) > g->room)
            return false;
    return true;
}

/* Returns the differences of a group with as much of each as there is room for beside the names. */
static char **fitting_differences(const struct group *g, const char *dots)
{
    size_t least = DIFFERENCE;
    char **texts = differences(g, least, dots);

    while (least > BRIEFEST && !all_fit(g, texts, dots)) {
        free_texts(texts, g->names.len);
        texts = differences(g, least /= 2, dots);
    }
    return texts;
}

/* Adds the outermost and the last component, which begins at `last`, if they have room; else the last one alone. */
static void add_outermost_and_last(struct str *out, const char *name, const char *last, size_t length, size_t room,
                                   const char *dots)
{
    struct name_parts own = name_split(name);
    size_t outer = strcspn(own.name, ":<( ");
    const char *behind = own.name + outer;
    AUTO_STR struct str both = {0};

    if (outer && last > behind && strchr(":<", *behind)) {
        str_addn(&both, own.name, outer);
        str_addf(&both, behind + 2 == last ? "::" : "::%s::", dots);
    }
    str_addn(&both, last, length);
    if (utf8_width(str_cstr(&both)) <= room)
        str_add(out, str_cstr(&both));
    else
        str_addn(out, last, length);
}

/* Shows a name with what tells it from others: in its room if that can be had with the name's last component, of which
 * only is cut what takes more than half of the room by itself. */
static void tell(struct shown_name *name, const char *difference, const char *dots)
{
    AUTO_STR struct str text = {0};
    size_t width = *difference ? utf8_width(difference) + BRACES : 0, length,
           least = width ? least_room(name->name, dots) : 0;
    size_t left = name->room > width ? name->room - width : 0, room = !width || left > 8 ? left : 8;
    const char *last = name_last(name->name, &length);

    if (least <= room || length > (room > name->room / 2 ? room : name->room / 2))
        text_fit(&text, name->name, least > room ? room : least > left ? least : left, dots);
    else if (str_begins(last, "operator") || strchr("{<(", *last))
        text_fit(&text, name->name, least, dots); /* says nothing alone */
    else
        add_outermost_and_last(&text, name->name, last, length, room, dots);
    if (width)
        str_addf(&text, " {%s}", difference);
    free(name->shown);
    name->shown = xstrdup(str_cstr(&text));
}

/* Adds to the hints of names that are shown alike where they differ. Returns false if there are none. */
static bool add_hints(const struct shown_name *names, size_t n, struct str *hints, const char *dots)
{
    struct map looks = {0}, seen = {0};
    VEC(struct group) groups = {0};
    size_t *group_of = xcalloc(n + 1, sizeof *group_of), *member_of = xcalloc(n + 1, sizeof *member_of);
    bool is_new, any = false;

    for (size_t i = 0; i < n; i++) {
        group_of[i] = *map_insert(&looks, hash_str(names[i].shown), groups.len, &is_new);
        if (is_new)
            vec_push(&groups, (struct group){.room = names[i].room});
        struct group *g = &groups.data[group_of[i]];

        g->room = names[i].room < g->room ? names[i].room : g->room;
        member_of[i] = *map_insert(&seen, hash_combine(group_of[i], hash_str(names[i].name)), g->names.len, &is_new);
        if (is_new)
            vec_push(&g->names, names[i].name);
    }
    char ***told = xcalloc(groups.len + 1, sizeof *told);

    for (size_t i = 0; i < n; i++) {
        struct group *g = &groups.data[group_of[i]];

        if (g->names.len < 2)
            continue;
        if (!told[group_of[i]])
            told[group_of[i]] = fitting_differences(g, dots);
        str_addf(&hints[i], "%s%s", hints[i].len ? "; " : "", told[group_of[i]][member_of[i]]);
        any = true;
    }
    for (size_t k = 0; k < groups.len; k++) {
        if (told[k])
            free_texts(told[k], groups.data[k].names.len);
        vec_deinit(&groups.data[k].names);
    }
    free(told);
    vec_deinit(&groups);
    map_deinit(&looks);
    map_deinit(&seen);
    free(group_of);
    free(member_of);
    return any;
}

void names_show(struct shown_name *names, size_t n, const char *dots)
{
    enum {
        ROUNDS = 4
    }; /* of those that a difference tells from others, some may meet names that lost something else */
    struct str *hints = xcalloc(n + 1, sizeof *hints);

    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < n; i++)
            if (!round || hints[i].len)
                tell(&names[i], str_cstr(&hints[i]), dots);
        if (!add_hints(names, n, hints, dots))
            break;
        for (size_t i = 0; round == ROUNDS - 1 && i < n; i++)
            if (hints[i].len) {
                free(names[i].shown);
                names[i].shown = xstrdup(names[i].name);
            }
    }
    for (size_t i = 0; i < n; i++)
        str_deinit(&hints[i]);
    free(hints);
}
