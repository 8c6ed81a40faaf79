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

static bool names_row(const struct program *p)
{
    return p->kind == PROGRAM_ATTRIBUTE || p->kind == PROGRAM_SLOT;
}

/* The attribute that a condition wants to be one value, or to match; NULL: it is no such condition. *value: the other
 * side, NULL of a match. */
static const struct program *wanted(const struct program *p, const struct program **value)
{
    *value = NULL;
    if (p->kind == PROGRAM_MATCH)
        return !p->negated && p->args[0]->kind == PROGRAM_ATTRIBUTE ? p->args[0] : NULL;
    if (p->kind != PROGRAM_BINARY || p->op != OP_EQ)
        return NULL;
    bool turned = names_row(p->args[1]);

    *value = p->args[!turned];
    return names_row(p->args[turned]) && ((*value)->kind == PROGRAM_TEXT || (*value)->kind == PROGRAM_NUMBER)
               ? p->args[turned]
               : NULL;
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

static bool holds_for_any(struct run *run, const struct program *p, const struct program *attribute,
                          const struct entries *all)
{
    for (size_t i = 0; i < all->len && !run_interrupted(run); i++) {
        struct facts facts = entry_facts(run, all->data[i]);
        struct point at = entry_point(run, all->data[i], &facts);

        if (program_truth(p, &at) == 1)
            return true;
    }
    return attribute->kind == PROGRAM_ATTRIBUTE &&
           (holds_for_module(run->tree->db, p) || holds_for_module(run->tree->old, p));
}

/* Returns a condition that has to hold for the whole, and holds for nothing that is there; NULL: there is none. */
static const struct program *nowhere(struct run *run, const struct program *p, const struct entries *all)
{
    const struct program *value, *attribute = wanted(p, &value);

    if (p->kind == PROGRAM_BINARY && (p->op == OP_AND || p->op == OP_OR)) {
        const struct program *a = nowhere(run, p->args[0], all);

        return !a == (p->op == OP_AND) ? nowhere(run, p->args[1], all) : a;
    }
    return attribute && identifies(run, attribute) && !holds_for_any(run, p, attribute, all) ? p : NULL;
}

static void suggest_values(struct run *run, const struct program *attribute, const struct program *value,
                           const struct entries *all, struct str *out)
{
    struct suggest near;

    suggest_init(&near, value->text, 2);
    for (size_t i = 0; i < all->len && !run_interrupted(run); i++) {
        char buffer[PROGRAM_TEXT_ROOM];
        struct facts facts = entry_facts(run, all->data[i]);
        struct point at = entry_point(run, all->data[i], &facts);
        const char *text = program_text(attribute, &at, buffer);

        if (text)
            suggest_add(&near, arena_strdup(&run->arena, file_basename(text)));
    }
    suggest_text(&near, out);
}

static const char *tell_nowhere(struct run *run, const struct program *p, const struct entries *all)
{
    const struct program *value, *attribute = wanted(p, &value);
    const char *name = attribute->kind == PROGRAM_SLOT ? run->selection.measures.data[attribute->slot / 2].name
                                                       : attribute_words[attribute->attribute].name;
    AUTO_STR struct str text = {0};

    if (!value)
        str_addf(&text, "no row has a %s that matches `/%s/`", name, p->text);
    else if (!value->is_text)
        str_addf(&text, "no row has the %s %.15g", name, value->number);
    else {
        str_addf(&text, "no row has the %s `%s`", name, value->text);
        suggest_values(run, attribute, value, all, &text);
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

struct hq_error *absent_tell(struct run *run, const struct entries *all)
{
    for (size_t i = 0; i < all->len; i++)
        if (all->data[i]->match)
            return NULL;
    for (size_t i = 0; i < run->where.len && all->len; i++) {
        const struct program *p = blank_attribute(run, run->where.data[i], all), *no;
        const char *why = NULL;

        /* `group` says itself which groups there are. */
        if (p && p->attribute != ATTRIBUTE_GROUP)
            why = tell_blank(run, p);
        else if ((no = nowhere(run, run->where.data[i], all)))
            why = tell_nowhere(run, no, all);
        if (!why)
            continue;
        if (query_setting(run->env, SETTING_STRICT))
            return place_error(&run->query->where.data[i]->place, NULL, "%s", why);
        run_note(run, "%s", why);
        run->unknown = why;
        break;
    }
    return NULL;
}
