/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/apart.h"
#include "common/brackets.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/names.h"
#include "common/str.h"
#include "common/vec.h"
#include "query/output/text.h"
#include "query/table.h"
#include <ctype.h>
#include <string.h>

/* Names that are shown alike, each once, and the least room that one of them has. */
struct group {
    VEC(const char *) names;
    size_t room;
};

enum { DIFFERENCE = 24 }; /* columns, where that is enough */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* Up to where all names are equal. */
static size_t common_start(const struct group *g)
{
    size_t n = strlen(g->names.data[0]);

    for (size_t i = 1; i < g->names.len; i++) {
        size_t k = 0;

        while (k < n && g->names.data[i][k] == g->names.data[0][k])
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

static size_t common_end(const struct group *g, size_t start)
{
    const char *first = g->names.data[0];
    size_t most = strlen(first) - start;

    for (size_t i = 1; i < g->names.len; i++) {
        const char *other = g->names.data[i];
        size_t k = 0, length = strlen(other);

        while (k < most && k < length - start && other[length - 1 - k] == first[strlen(first) - 1 - k])
            k++;
        most = k;
    }
    while (most && is_word(first[strlen(first) - most]))
        most--;
    return most;
}

static bool all_differ(char **texts, size_t n)
{
    struct map seen = {0};
    bool differ = true;

    for (size_t i = 0; i < n && differ; i++)
        map_insert(&seen, hash_str(texts[i]), i, &differ);
    map_deinit(&seen);
    return differ;
}

/* Returns the part of each name that tells it from the others, in as few columns as possible: the first argument in
 * which they differ, if that is enough, else all from there on to where they are equal again. */
static char **differences(const struct group *g, const char *dots)
{
    bool outside;
    size_t n = g->names.len, start = argument_start(g->names.data[0], common_start(g), &outside), end = 0;
    size_t least = g->room / 2 < 8 ? 8 : g->room / 2 < DIFFERENCE ? g->room / 2 : DIFFERENCE;
    char **texts = xcalloc(n, sizeof *texts);

    for (int whole = 0; whole < 2; whole++) {
        end = whole ? common_end(g, start) : 0;
        for (size_t room = least;; room *= 2) {
            bool cut = false;

            for (size_t i = 0; i < n; i++) {
                const char *from = g->names.data[i] + start;
                size_t length = whole ? strlen(from) - end : argument_length(from, outside);
                AUTO_FREE char *part = xstrndup(from, length);
                AUTO_STR struct str fitted = {0};

                if (name_split(part).name == part)
                    text_fit(&fitted, part, room, dots);
                else
                    text_fit_type(&fitted, part, room, dots);
                cut |= utf8_width(part) > room;
                free(texts[i]);
                texts[i] = xstrdup(length ? str_cstr(&fitted) : "-");
            }
            if (all_differ(texts, n))
                return texts;
            if (!cut)
                break;
        }
    }
    for (size_t i = 0; i < n; i++) {
        free(texts[i]);
        texts[i] = xstrdup(g->names.data[i]);
    }
    return texts;
}

static void tell(struct shown_name *name, const char *difference, const char *dots)
{
    AUTO_STR struct str text = {0};
    size_t width = utf8_width(difference) + 3;

    text_fit(&text, name->name, name->room > width + 8 ? name->room - width : 8, dots);
    str_addf(&text, " {%s}", difference);
    free(name->shown);
    name->shown = xstrdup(str_cstr(&text));
}

void names_show(struct shown_name *names, size_t n, const char *dots)
{
    struct map looks = {0}, seen = {0};
    VEC(struct group) groups = {0};
    size_t *group_of = xcalloc(n + 1, sizeof *group_of), *member_of = xcalloc(n + 1, sizeof *member_of);

    for (size_t i = 0; i < n; i++) {
        AUTO_STR struct str text = {0};
        bool is_new;

        text_fit(&text, names[i].name, names[i].room, dots);
        names[i].shown = xstrdup(str_cstr(&text));
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
            told[group_of[i]] = differences(g, dots);
        tell(&names[i], told[group_of[i]][member_of[i]], dots);
    }
    for (size_t k = 0; k < groups.len; k++) {
        for (size_t i = 0; told[k] && i < groups.data[k].names.len; i++)
            free(told[k][i]);
        free(told[k]);
        vec_deinit(&groups.data[k].names);
    }
    free(told);
    vec_deinit(&groups);
    map_deinit(&looks);
    map_deinit(&seen);
    free(group_of);
    free(member_of);
}

char **table_short_names(const struct table *t, size_t room, const char *dots)
{
    struct shown_name *names = xcalloc(t->rows.len + 1, sizeof *names);
    char **shown = xcalloc(t->rows.len + 1, sizeof *shown);

    for (size_t i = 0; i < t->rows.len; i++)
        names[i] = (struct shown_name){.name = t->rows.data[i].name, .room = room};
    names_show(names, t->rows.len, dots);
    for (size_t i = 0; i < t->rows.len; i++) {
        bool same = !strcmp(names[i].shown, names[i].name);

        shown[i] = same ? NULL : names[i].shown;
        if (same)
            free(names[i].shown);
    }
    free(names);
    return shown;
}
