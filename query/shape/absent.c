/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conditions on what is not there. `rank = 0` where no profile has a rank: no condition on a blank holds, so the answer
 * is empty whatever the number is. `file = solve.c` where no row is in a file of that name: perhaps it is misspelt, or
 * was renamed. Either must be said, and a check of it is no success. Names of procedures are known without samples, so
 * those are looked up when a query is bound (names_check).
 */
#include "query/grammar/parse.h"
#include "common/file.h"
#include "common/suggest.h"
#include "query/grammar/words.h"
#include "query/shape/rows.h"
#include <math.h>

static bool is_blank(struct run *run, struct entry *e, const struct program *p)
{
    char buffer[PROGRAM_TEXT_ROOM];
    struct facts facts = entry_facts(run, e);
    struct point at = entry_point(run, e, &facts);
    const char *text;

    if (!p->is_text)
        return isnan(program_number(p, &at));
    text = program_text(p, &at, buffer);
    return !text || !*text;
}

/* Returns an attribute in an expression that is blank in all entries; NULL: none is. */
static const struct program *blank_attribute(struct run *run, const struct program *p, const struct entries *all)
{
    const struct program *found = NULL;

    if (p->kind == PROGRAM_ATTRIBUTE) {
        for (size_t i = 0; i < all->len && !run_interrupted(run); i++)
            if (!is_blank(run, all->data[i], p))
                return NULL;
        return p;
    }
    for (size_t i = 0; i < p->arg_count && !found; i++)
        found = blank_attribute(run, p->args[i], all);
    return found;
}

/* ---- what no row is called ---- */

/* Attributes that tell what a row is, not what kind of thing; and a view's own numbers, such as a sender. */
static bool identifies(const struct run *run, const struct program *p)
{
    if (p->kind == PROGRAM_SLOT)
        return run->selection.measures.data[p->slot / 2].plain;
    switch (p->attribute) {
    case ATTRIBUTE_NAME: return !(run->binding.row_kinds & KIND_BIT(SCOPE_PROCEDURE));
    case ATTRIBUTE_FILE:
    case ATTRIBUTE_LINE:
    case ATTRIBUTE_MODULE:
    case ATTRIBUTE_CALLSITE:
    case ATTRIBUTE_ID:
    case ATTRIBUTE_RANK:
    case ATTRIBUTE_THREAD:
    case ATTRIBUTE_HOST: return true;
    default: return false;
    }
}

/* Load modules are known without samples. */
static bool holds_for_module(const struct db *db, const struct program *p)
{
    for (uint32_t m = 0; db && m < db->module_count; m++) {
        const char *path = db_string(db, db->modules[m].path);
        struct facts facts = {.name = path, .module = path, .rank = -1, .thread = -1};

        if (program_truth(p, &(struct point){.number = point_number(), .facts = &facts}) == 1)
            return true;
    }
    return false;
}

static bool holds_for_any(struct run *run, const struct named *n, const struct entries *all)
{
    for (size_t i = 0; i < all->len && !run_interrupted(run); i++) {
        struct facts facts = entry_facts(run, all->data[i]);
        struct point at = entry_point(run, all->data[i], &facts);

        if (program_truth(n->condition, &at) == 1)
            return true;
    }
    return n->attribute->kind == PROGRAM_ATTRIBUTE &&
           (holds_for_module(run->tree->db, n->condition) || holds_for_module(run->tree->old, n->condition));
}

static void suggest_values(struct run *run, const struct named *n, const struct entries *all, struct str *out)
{
    struct suggest near;

    suggest_init(&near, n->value->text, 2);
    for (size_t i = 0; i < all->len && !run_interrupted(run); i++) {
        char buffer[PROGRAM_TEXT_ROOM];
        struct facts facts = entry_facts(run, all->data[i]);
        struct point at = entry_point(run, all->data[i], &facts);
        const char *text = program_text(n->attribute, &at, buffer);

        if (text)
            suggest_add(&near, arena_strdup(&run->arena, file_basename(text)));
    }
    suggest_text(&near, out);
}

static const char *tell_nowhere(struct run *run, const struct named *n, const struct entries *all)
{
    const char *name = n->attribute->kind == PROGRAM_SLOT ? run->selection.measures.data[n->attribute->slot / 2].name
                                                          : attribute_words[n->attribute->attribute].name;
    AUTO_STR struct str text = {0};

    if (!n->value)
        str_addf(&text, "no row has a %s that matches `/%s/`", name, n->pattern.text);
    else if (!n->value->is_text)
        str_addf(&text, "no row has the %s %.15g", name, n->value->number);
    else {
        str_addf(&text, "no row has the %s `%s`", name, n->value->text);
        suggest_values(run, n, all, &text);
    }
    return arena_strdup(&run->table->arena, str_cstr(&text));
}

/* ---- interface ---- */

static const char *tell_blank(struct run *run, const struct program *blank)
{
    return arena_printf(&run->table->arena, "no row has a %s here, so none is kept: no condition on a blank holds%s",
                        attribute_words[blank->attribute].name,
                        blank->attribute == ATTRIBUTE_RANK ? "; threads have the attribute `thread`" : "");
}

static struct hq_error *tell(struct run *run, const struct place *place, const char *why)
{
    if (query_setting(run->env, SETTING_STRICT))
        return place_error(place, NULL, "%s", why);
    run_note(run, "%s", why);
    run->unknown = why;
    return NULL;
}

/* An attribute that no row has, where that is why none is kept. */
static const struct program *find_blank(struct run *run, const struct entries *all, const struct place **place)
{
    const struct program *found = NULL;

    for (size_t i = 0; i < all->len; i++)
        if (all->data[i]->match)
            return NULL;
    for (size_t i = 0; i < run->where.len && all->len && !found; i++) {
        const struct program *p = blank_attribute(run, run->where.data[i], all);

        *place = &run->query->where.data[i]->place;
        if (p && p->attribute != ATTRIBUTE_GROUP) /* `group` says itself which groups there are */
            found = p;
    }
    return found;
}

struct hq_error *absent_tell(struct run *run, const struct entries *all)
{
    const struct place *place;
    const struct program *blank = find_blank(run, all, &place);

    if (blank)
        return tell(run, place, tell_blank(run, blank));
    vec_foreach(n, &run->binding.named)
        if (n->wanted && all->len && identifies(run, n->attribute) && !holds_for_any(run, n, all))
            HQ_TRY(tell(run, &n->condition->expr->place, tell_nowhere(run, n, all)));
    return NULL;
}
