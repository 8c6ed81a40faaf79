/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/measure/grouping.h"
#include "common/names.h"
#include "common/suggest.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include "query/pattern/group.h"
#include "query/tree/keyed.h"

/* ---- its contexts ---- */

static bool in_container(const struct group_members *g, uint32_t scope)
{
    const struct tree *t = g->tree;

    for (; scope != HQDB_NONE; scope = tree_scope_parent(t, scope))
        if (g->scope[scope] & MEMBER_CONTAINER)
            return true;
    return false;
}

enum { OWN = 1, FRAME = 2 }; /* exclusive by what is named itself; by the file or load module of the procedure */

/* Returns the exclusive flags of a context, from its scope and the flags of its parent. */
static uint8_t exclusive_flags(const struct group_members *g, uint32_t scope, enum scope_kind kind, uint8_t above)
{
    uint8_t own = g->scope[scope] & MEMBER_SCOPE ? OWN : 0;

    switch (kind) {
    case SCOPE_LINE:
    case SCOPE_LOOP:
    case SCOPE_REGION:
    case SCOPE_PHASE: return own | above;
    case SCOPE_INLINE: return own | (above & FRAME);
    default: return own | (scope_is_called(kind) && in_container(g, scope) ? FRAME : 0);
    }
}

static void find_contexts(struct run *run, struct group_members *g, struct grouping_row *out)
{
    const struct tree *t = run->tree;
    AUTO_FREE uint8_t *flags = xcalloc((size_t)t->context_count + 1, 1);
    struct keyed sets;
    struct set *inc, *exc;
    uint32_t key = 0;

    keyed_init(&sets, sizeof key);
    /* Exclusive contexts belong to both sets: their samples pass through what makes them members. */
    for (uint32_t c = 0; c < t->context_count && !run_interrupted(run); c++) {
        uint32_t scope = tree_scope_of(t, c), parent = tree_parent(t, c);
        enum scope_kind kind = tree_kind(t, c);
        bool is_call = scope_is_called(kind) || kind == SCOPE_INLINE;

        flags[c] = exclusive_flags(g, scope, kind, parent == HQDB_NONE ? 0 : flags[parent]);
        if (flags[c])
            keyed_add(&sets, &key, c, MEMBER_BOTH);
        else if (is_call && members_have_line(g, t->contexts[c].call_file, t->contexts[c].call_line))
            keyed_add(&sets, &key, c, MEMBER_INCLUSIVE);
    }
    keyed_sets(&sets, &run->arena, &inc, &exc);
    if (sets.keys.len) {
        out->inc = inc[0];
        out->exc = exc[0];
    }
    keyed_deinit(&sets);
}

static void note_in_run(void *run, const char *text)
{
    run_note(run, "%s", text);
}

static struct hq_error *make_defined(struct run *run, const struct group *group, struct grouping_row *out)
{
    struct group_members g = {.env = run->env, .tree = run->tree, .group = group, .note = note_in_run, .arg = run};
    struct hq_error *error = members_find(&g);
    uint8_t *scope = ARENA_ARRAY(&run->arena, run->tree->scope_count + 1, uint8_t);

    memcpy(scope, g.scope, run->tree->scope_count);
    *out = (struct grouping_row){.name = arena_strdup(&run->arena, group->name),
                                 .origin = arena_strdup(&run->arena, group->origin),
                                 .scope = scope};
    if (members_unknown(&g))
        out->unknown = arena_printf(&run->arena, "group %s: %s", group->name, members_unknown(&g));
    if (!error)
        find_contexts(run, &g, out);
    vec_foreach(l, &g.lines)
        if (l->regex && !error)
            error = regex_failure(l->regex);
    members_deinit(&g);
    return error;
}

/* Whether a context counts as a member of a set. One that stands for no code, such as the root of all, does only if it
 * has values of its own. */
static bool counts(struct run *run, uint32_t c)
{
    const struct tree *t = run->tree;
    enum scope_kind kind = tree_kind(t, c);
    struct db_range all = tree_range(t, c);
    uint32_t end = c + 1 < tree_end(t, c) ? tree_first(t, c + 1) : all.last;

    if (kind != SCOPE_ROOT && kind != SCOPE_THREAD && kind != SCOPE_PARTIAL)
        return true;
    for (size_t m = 0; m < run->selection.here_count && all.first < end; m++) {
        if (run->selection.measures.data[m].of_view)
            continue;
        AUTO_ERROR struct hq_error *error = selection_load(&run->selection, m);
        const int64_t *sums = error ? NULL : run->selection.measures.data[m].sums;

        if (!sums || sums[end] != sums[all.first])
            return true;
    }
    return false;
}

static struct hq_error *make_all_defined(struct run *run, struct grouping *out)
{
    struct group_list list = groups_defined(run->env);
    struct grouping_row *rows = ARENA_ARRAY(&run->arena, list.len + 1, struct grouping_row);
    const struct tree *t = run->tree;
    AUTO_FREE uint8_t *taken = xcalloc((size_t)t->context_count + 1, 1);
    uint32_t *rest = ARENA_ARRAY(&run->arena, t->context_count, uint32_t);

    out->rows = rows;
    for (size_t i = 0; i < list.len; i++) {
        HQ_TRY(make_defined(run, &list.data[i], &rows[i]));
        out->count++;
        for (size_t k = 0; k < rows[i].exc.len; k++)
            taken[rows[i].exc.data[k]] = 1;
    }
    out->rest.data = rest;
    for (uint32_t c = 0; c < t->context_count; c++)
        if (!taken[c] && counts(run, c))
            rest[out->rest.len++] = c;
    return NULL;
}

/* ---- ready-made sets ---- */

static void make_ready(struct run *run, enum grouped grouped, struct grouping *out)
{
    const struct tree *t = run->tree;
    AUTO_FREE uint32_t *label = xcalloc((size_t)t->context_count + 1, sizeof *label);
    struct intern names = {0};
    struct keyed sets;
    struct set *inc, *exc;
    struct grouping_row *rows;

    keyed_init(&sets, sizeof *label);
    ready_made_labels(run, grouped, label, &names);
    for (uint32_t c = 0; c < t->context_count && !run_interrupted(run); c++)
        if (counts(run, c))
            keyed_add(&sets, &label[c], c, MEMBER_BOTH);
    keyed_sets(&sets, &run->arena, &inc, &exc);
    out->count = sets.keys.len;
    out->rows = rows = ARENA_ARRAY(&run->arena, out->count + 1, struct grouping_row);
    for (uint32_t i = 0; i < sets.keys.len; i++) {
        const uint32_t *name = keymap_key(&sets.keys, i);

        rows[i] = (struct grouping_row){.name = arena_strdup(&run->arena, intern_str(&names, *name)),
                                        .origin = arena_printf(&run->arena, "by %s", grouped_words[grouped]),
                                        .inc = inc[i],
                                        .exc = exc[i]};
    }
    keyed_deinit(&sets);
    intern_deinit(&names);
}

/* ---- interface ---- */

static enum grouped in_force(const struct query_env *env)
{
    const char *word = query_setting_text(env, SETTING_GROUPS)
                           ? ""
                           : setting_words[SETTING_GROUPS].words[query_setting(env, SETTING_GROUPS)];
    enum grouped g = GROUPED_DIRECTORY;

    while (g < GROUPED_KINDS && strcmp(grouped_words[g], word))
        g++;
    return g < GROUPED_KINDS ? g : GROUPED_DEFINED;
}

/* In the run's arena, made once. GROUPED_DEFINED is what `set groups` makes of it. */
static struct hq_error *grouping_make(struct run *run, enum grouped grouped, const struct grouping **out)
{
    struct grouping *made;

    if (grouped == GROUPED_DEFINED)
        grouped = in_force(run->env);
    if (!run->groupings[grouped]) {
        made = ARENA_NEW(&run->arena, struct grouping);
        if (grouped == GROUPED_DEFINED)
            HQ_TRY(make_all_defined(run, made));
        else
            make_ready(run, grouped, made);
        run->groupings[grouped] = made;
    }
    *out = run->groupings[grouped];
    return NULL;
}

static void set_unknown(struct run *run, const char *why)
{
    if (!run->unknown)
        run->unknown = why;
}

struct hq_error *grouping_make_shown(struct run *run, const struct grouping **out)
{
    HQ_TRY(grouping_make(run, run->query->view.grouped, out));
    for (size_t i = 0; i < (*out)->count; i++) {
        const char *unknown = (*out)->rows[i].unknown;

        if (!rows_filtered(run))
            set_unknown(run, unknown);
        else if (unknown) /* it matters if no row is kept */
            run->binding.unknown_name = unknown;
    }
    if (!(*out)->count) {
        const char *why = run->query->view.grouped == GROUPED_DEFINED ? NO_GROUPS
                                                                      : "nothing was measured that a group could hold";

        run_note(run, "%s", why);
        set_unknown(run, why);
    }
    return NULL;
}

/* How far what a condition says of `group` is known. */
struct group_found {
    bool named, known; /* a group is called so; one of these names something that is known */
    const char *unknown;
};

static struct group_found find_named(const struct grouping *g, const struct named *n)
{
    struct group_found f = {0};

    for (size_t i = 0; i < g->count && !f.known; i++) {
        const struct grouping_row *row = &g->rows[i];

        if (!(n->value ? !strcmp(row->name, n->value->text) : regex_matches(n->condition->regex, row->name)))
            continue;
        f.named = true;
        f.known = !row->unknown;
        f.unknown = row->unknown;
    }
    return f;
}

/* A name that none of the groups has is like a pattern that matches nothing. */
static struct hq_error *check_name(struct run *run, const struct grouping *g, const struct named *n)
{
    struct group_found found = find_named(g, n);
    AUTO_STR struct str text = {0};
    struct suggest near;

    if (found.named) {
        if (!found.known && n->wanted)
            set_unknown(run, found.unknown);
        return NULL;
    }
    suggest_init(&near, n->value ? n->value->text : "", 3);
    for (size_t i = 0; i < g->count && n->value; i++)
        suggest_add(&near, g->rows[i].name);
    str_addf(&text, n->value ? "there is no group `%s`" : "no group matches `/%s/`", n->pattern.text);
    suggest_text(&near, &text);
    if (!g->count)
        str_add(&text, "; `set groups FILE` or `group NAME = ...` defines some");
    if (query_setting(run->env, SETTING_STRICT))
        return place_error(&n->pattern.place, NULL, "%s", str_cstr(&text));
    run_note(run, "%s", str_cstr(&text));
    if (n->wanted)
        set_unknown(run, arena_strdup(&run->arena, str_cstr(&text)));
    return NULL;
}

struct hq_error *grouping_check(struct run *run)
{
    const struct grouping *g;

    if (!run->binding.uses_groups)
        return NULL;
    HQ_TRY(grouping_make(run, GROUPED_DEFINED, &g));
    vec_foreach(n, &run->binding.named)
        if (n->attribute->kind == PROGRAM_ATTRIBUTE && n->attribute->attribute == ATTRIBUTE_GROUP)
            HQ_TRY(check_name(run, g, n));
    return NULL;
}

static bool holds_context(struct set s, uint32_t c)
{
    size_t low = 0, high = s.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s.data[middle] < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s.len && s.data[low] == c;
}

/* Files and load modules are in a defined group if they are named; all else is where its own cost is. */
static bool holds_row(const struct tree *t, const struct grouping_row *g, const struct node *n)
{
    if (g->scope && n->scope != HQDB_NONE && (n->kind == SCOPE_FILE || n->kind == SCOPE_MODULE)) {
        for (uint32_t s = n->scope; s != HQDB_NONE; s = tree_scope_parent(t, s))
            if (g->scope[s])
                return true;
        return false;
    }
    for (size_t i = 0; i < n->exc.len; i++)
        if (holds_context(g->exc, n->at ? n->at[i] : n->exc.data[i]))
            return true;
    return n->context != HQDB_NONE && holds_context(g->exc, n->context);
}

const struct group_names *grouping_names(struct run *run, const struct node *n)
{
    struct group_names *names = ARENA_NEW(&run->arena, struct group_names);
    const struct grouping *g;
    const char **list;

    hq_error_free(grouping_make(run, GROUPED_DEFINED, &g)); /* made by grouping_check */
    names->data = list = ARENA_ARRAY(&run->arena, g->count + 1, const char *);
    for (size_t i = 0; i < g->count && n->profile == HQDB_NONE; i++)
        if (n->kind == SCOPE_GROUP ? n->name && !strcmp(n->name, g->rows[i].name)
                                   : holds_row(run->tree, &g->rows[i], n))
            list[names->len++] = g->rows[i].name;
    return names;
}
