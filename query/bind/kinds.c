/* SPDX-License-Identifier: BSD-3-Clause */
/* `kind = WORD`: a word that is no kind, or the kind of no row of the view, is like a pattern that matches nothing; so
 * is `name = WORD` if nothing is called so. */
#include "common/suggest.h"
#include "query/bind/expr.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include "query/pattern/pattern.h"
#include <strings.h>

/* The kind of that name, in any case; SCOPE_KINDS if there is none. */
static enum scope_kind kinds_find(const char *word)
{
    enum scope_kind k = 0;

    while (k < SCOPE_KINDS && strcasecmp(scope_kind_name(k), word))
        k++;
    return k;
}

static void add_view_kinds(struct str *text, unsigned kinds)
{
    size_t told = 0;

    for (enum scope_kind k = 0; k < SCOPE_KINDS; k++)
        if (k != SCOPE_PARTIAL && (kinds & KIND_BIT(k)))
            str_addf(text, "%s%s", told++ ? ", " : "", scope_kind_name(k));
}

static struct hq_error *kind_check(struct binding *b, const struct named *n)
{
    const char *word = n->value->text;
    enum scope_kind kind = kinds_find(word);
    AUTO_STR struct str text = {0};

    if (kind < SCOPE_KINDS && (!b->row_kinds || b->row_kinds & KIND_BIT(kind)))
        return NULL;
    if (kind < SCOPE_KINDS) {
        str_addf(&text, "no row of this view has the kind %s: they are ", scope_kind_name(kind));
        add_view_kinds(&text, b->row_kinds);
        if (kind == SCOPE_LINE && b->row_kinds & KIND_BIT(SCOPE_THREAD))
            str_add(&text, "; `set lines on` adds lines");
    } else {
        struct suggest near;

        suggest_init(&near, word, 1);
        for (enum scope_kind k = 0; k < SCOPE_KINDS; k++)
            if (k != SCOPE_PARTIAL)
                suggest_add(&near, scope_kind_name(k));
        str_addf(&text, "`%s` is no kind", word);
        if (near.count)
            suggest_text(&near, &text);
        else
            str_addf(&text, ": a kind is %s", attribute_words[ATTRIBUTE_KIND].summary);
    }
    if (query_setting(b->env, SETTING_STRICT))
        return place_error(&n->pattern.place, NULL, "%s", str_cstr(&text));
    vec_push(&b->selection->notes, xstrdup(str_cstr(&text)));
    if (n->wanted)
        b->unknown = arena_strdup(b->arena, str_cstr(&text));
    return NULL;
}

struct hq_error *names_check(struct binding *b, const struct pattern *named, const char **unknown)
{
    struct matches m;

    if (!(b->row_kinds & KIND_BIT(SCOPE_PROCEDURE)))
        return NULL;
    HQ_TRY(pattern_resolve(b->env, &b->selection->tree, named, b->row_kinds, &m));
    /* That a procedure has no sample shows in the answer. */
    if (m.problem && (m.unknown || !matches_nothing(&m)))
        vec_push(&b->selection->notes, xstrdup(m.problem));
    if (m.unknown && unknown)
        *unknown = arena_strdup(b->arena, m.unknown);
    matches_deinit(&m);
    return NULL;
}

struct hq_error *named_check(struct binding *b)
{
    vec_foreach(n, &b->named) {
        if (n->attribute->kind != PROGRAM_ATTRIBUTE)
            continue;
        if (n->attribute->attribute == ATTRIBUTE_NAME)
            HQ_TRY(names_check(b, &n->pattern, n->wanted ? &b->unknown : NULL));
        else if (n->attribute->attribute == ATTRIBUTE_KIND && n->value)
            HQ_TRY(kind_check(b, n));
    }
    return NULL;
}

const char *kinds_bare(const struct expr *e, const struct expr *other)
{
    const char *name = e->kind == EXPR_ATTRIBUTE ? attribute_words[e->attribute].name : NULL;

    return name && other->kind == EXPR_ATTRIBUTE && other->attribute == ATTRIBUTE_KIND && kinds_find(name) < SCOPE_KINDS
               ? name
               : NULL;
}
