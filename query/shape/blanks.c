/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conditions on what no row has: `rank = 0` where no profile has a rank, or a file where none has one. No condition on
 * a blank holds, so the answer is empty whatever the number or name is, which must be said.
 */
#include "query/grammar/parse.h"
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

struct hq_error *blanks_tell(struct run *run, const struct entries *all)
{
    const char *why;

    if (!all->len)
        return NULL;
    for (size_t i = 0; i < all->len; i++)
        if (all->data[i]->match)
            return NULL;
    for (size_t i = 0; i < run->where.len; i++) {
        const struct program *p = blank_attribute(run, run->where.data[i], all);

        /* `group` says itself which groups there are. */
        if (!p || p->attribute == ATTRIBUTE_GROUP)
            continue;
        why = arena_printf(&run->table->arena, "no row has a %s here, so none is kept: no condition on a blank holds%s",
                           attribute_words[p->attribute].name,
                           p->attribute == ATTRIBUTE_RANK ? "; threads have the attribute `thread`" : "");
        if (query_setting(run->env, SETTING_STRICT))
            return place_error(&run->query->where.data[i]->place, NULL, "%s", why);
        run_note(run, "%s", why);
        run->unknown = why;
        break;
    }
    return NULL;
}
