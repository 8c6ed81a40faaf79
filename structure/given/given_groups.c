/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/given/given_groups.h"
#include "common/file.h"
#include "common/str.h"
#include <stdlib.h>
#include <string.h>

size_t given_group_at(struct given *g, const char *name, const char *file, unsigned long at)
{
    for (size_t i = 0; i < g->groups.len; i++)
        if (!strcmp(g->groups.data[i].name, name))
            return i;
    vec_push(&g->groups, (struct given_group){.name = xstrdup(name), .parts = xstrdup(""), .file = file, .at = at});
    return g->groups.len - 1;
}

/* A text of the query language. */
static void add_text(struct str *out, const char *text)
{
    str_addc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            str_addc(out, '\\');
        str_addc(out, *text);
    }
    str_addc(out, '"');
}

/* A member that is there is no new one. */
static void add_part(struct given_group *g, const struct str *part)
{
    const char *text = str_cstr(part);
    size_t n = part->len;

    for (const char *at = g->parts; (at = strstr(at, text)); at += n)
        if ((at == g->parts || str_begins(at - 2, ", ")) && (!at[n] || str_begins(at + n, ", ")))
            return;
    char *joined = xasprintf("%s%s%s", g->parts, *g->parts ? ", " : "", text);

    free(g->parts);
    g->parts = joined;
}

void given_group_scope(struct given *g, size_t group, const struct given_file *file, const struct given_scope *s)
{
    AUTO_STR struct str part = {0}, loop = {0};
    const char *name = intern_str(&file->strings, s->of.name), *path = intern_str(&file->strings, s->of.file);

    switch (s->of.kind) {
    case SCOPE_FILE:
        str_add(&part, "files of ");
        add_text(&part, name);
        break;
    case SCOPE_LINE:
        str_addf(&part, s->last_line > s->of.line ? "lines %u-%u of " : "lines %u of ", s->of.line, s->last_line);
        add_text(&part, path);
        break;
    case SCOPE_LOOP:
        str_addf(&loop, "loop at %s:%u", file_basename(path), s->of.line);
        add_text(&part, str_cstr(&loop));
        break;
    default: add_text(&part, name);
    }
    add_part(&g->groups.data[group], &part);
}

void given_group_module(struct given *g, size_t group, const char *path)
{
    AUTO_STR struct str part = {0};

    str_add(&part, "modules of ");
    add_text(&part, path);
    add_part(&g->groups.data[group], &part);
}

/* Whether one holds another, by way of others: `held by` is a list of parts, so its names are looked for as they are
 * written. */
static bool holds(struct given *g, size_t group, size_t other, uint8_t *seen)
{
    if (group == other)
        return true;
    if (seen[group])
        return false;
    seen[group] = 1;
    for (size_t i = 0; i < g->groups.len; i++) {
        AUTO_STR struct str part = {0};

        str_add(&part, "group ");
        add_text(&part, g->groups.data[i].name);
        if (strstr(g->groups.data[group].parts, str_cstr(&part)) && holds(g, i, other, seen))
            return true;
    }
    return false;
}

struct hq_error *given_group_hold(struct given *g, size_t group, size_t held)
{
    AUTO_STR struct str part = {0};
    AUTO_FREE uint8_t *seen = xcalloc(g->groups.len + 1, 1);

    if (holds(g, held, group, seen))
        return hq_error_new(HQ_DATA, "the group %s holds itself by way of this: groups cannot go round in a circle",
                            g->groups.data[group].name);
    str_add(&part, "group ");
    add_text(&part, g->groups.data[held].name);
    add_part(&g->groups.data[group], &part);
    return NULL;
}
