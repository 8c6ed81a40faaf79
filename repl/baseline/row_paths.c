/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/baseline/row_paths.h"
#include "common/mem.h"
#include "common/apart.h"
#include "common/str.h"
#include "repl/baseline/baseline.h"
#include <string.h>

void row_paths_deinit(struct row_paths *p)
{
    for (uint32_t i = 0; p->shown && i < intern_count(&p->names); i++)
        free(p->shown[i]);
    free(p->shown);
    intern_deinit(&p->names);
}

/* ---- scopes of a path ---- */

/* Scopes that are no calls say little to people who look for the place. */
static bool is_left_out(const char *scope, bool calls)
{
    return calls && str_begins(scope, "loop ") && baseline_next_scope(scope);
}

/* The length of what stands before the name: `procedure `, `loop 1 of `. */
static size_t kind_length(const char *scope)
{
    const char *of = !str_begins(scope, "loop ") ? NULL : strstr(scope, " of ");

    return of ? (size_t)(of + 4 - scope) : baseline_begins_scope(scope) ? strcspn(scope, " ") + 1 : 0;
}

static char *scope_text(const char *scope, const char *next)
{
    return next ? xstrndup(scope, (size_t)(next - 3 - scope)) : xstrdup(scope);
}

void row_paths_add_name(struct row_paths *p, const char *name)
{
    intern_add(&p->names, name);
}

void row_paths_add(struct row_paths *p, const char *path)
{
    for (const char *at = *path ? path : NULL, *next; at; at = next) {
        next = baseline_next_scope(at);
        AUTO_FREE char *text = scope_text(at, next);

        row_paths_add_name(p, text + kind_length(text));
    }
}

/* ---- names ---- */

/* Procedures of one name that the linker tells apart are told apart by what the linker calls them. */
static void tell_linkage(struct row_paths *p, const struct shown_name *names, uint32_t i)
{
    const char *whole = intern_str(&p->names, i);

    for (uint32_t k = 0; k < intern_count(&p->names); k++)
        if (k != i && !strcmp(names[k].name, names[i].name)) {
            p->shown[i] = xasprintf("%s%s", names[i].shown, whole + strlen(names[i].name));
            return;
        }
    p->shown[i] = xstrdup(names[i].shown);
}

static void show_all(struct row_paths *p)
{
    enum { ROOM = 64 };
    AUTO(arena_deinit) struct arena arena = {0};
    uint32_t n = intern_count(&p->names);
    AUTO_FREE struct shown_name *names = xcalloc(n, sizeof *names);

    for (uint32_t i = 0; i < n; i++)
        names[i] = (struct shown_name){.name = baseline_fold_path(&arena, intern_str(&p->names, i)),
                                       .room = p->setting == NAMES_FULL    ? SIZE_MAX
                                               : p->setting == NAMES_SHORT ? NAME_SHORT
                                                                           : ROOM};
    names_show(names, n, "...");
    p->shown = xcalloc(n, sizeof *p->shown);
    for (uint32_t i = 0; i < n; i++)
        tell_linkage(p, names, i);
    for (uint32_t i = 0; i < n; i++)
        free(names[i].shown);
}

const char *row_paths_name(struct row_paths *p, const char *name)
{
    if (!p->shown)
        show_all(p);
    uint32_t i = intern_find(&p->names, name);

    return i == INTERN_NONE ? name : p->shown[i];
}

/* ---- paths ---- */

enum row_paths_place row_paths_place(const struct row_paths *p, size_t i, size_t count)
{
    enum { FIRST = 2, LAST = 4 };

    if (p->setting == NAMES_FULL || count <= FIRST + LAST + 1 || i < FIRST || i >= count - LAST)
        return ROW_PATHS_TOLD;
    return i == FIRST ? ROW_PATHS_DOTS : ROW_PATHS_LEFT_OUT;
}

const char *row_paths_text(struct row_paths *p, struct arena *arena, const char *path, bool calls)
{
    AUTO_STR struct str out = {0};
    size_t count = 0, i = 0;

    for (const char *at = path; at; at = baseline_next_scope(at))
        count += !is_left_out(at, calls);
    for (const char *at = path, *next; at; at = next) {
        next = baseline_next_scope(at);
        if (is_left_out(at, calls))
            continue;
        enum row_paths_place place = row_paths_place(p, i++, count);
        AUTO_FREE char *text = scope_text(at, next);
        size_t kind = kind_length(text);
        bool is_procedure = str_begins(text, "procedure ");

        if (place != ROW_PATHS_LEFT_OUT)
            str_add(&out, at == path ? "" : " > ");
        if (place == ROW_PATHS_DOTS)
            str_add(&out, "...");
        if (place == ROW_PATHS_TOLD)
            str_addf(&out, "%.*s%s", calls && is_procedure ? 0 : (int)kind, text, row_paths_name(p, text + kind));
    }
    return arena_strdup(arena, str_cstr(&out));
}
