/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the clause that a word begins; each has a function of its own that reads the rest behind its keyword
 * (clauses.def). */
#include "query/grammar/parser.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- which clause is it ---- */

/* True if the token, and for names of two words the one behind it, spell the name. */
static bool spells(const struct token *first, const struct token *second, const char *name, bool *two)
{
    const char *space = name ? strchr(name, ' ') : NULL;

    *two = space != NULL;
    if (!name)
        return false;
    if (!space)
        return is_word(first, name);
    return first->kind == TOKEN_WORD && strlen(first->text) == (size_t)(space - name) &&
           !strncasecmp(first->text, name, (size_t)(space - name)) && (!second || is_word(second, space + 1));
}

/* `whole`: the second word counts too. */
static int find_clause(struct parser *p, bool whole)
{
    struct token first = *peek(p, LEX_PLAIN), second;
    bool two;

    if (first.kind != TOKEN_WORD)
        return -1;
    second = peek_second(p);
    for (int i = 0; i < CLAUSE_KINDS; i++)
        if (spells(&first, whole ? &second : NULL, clause_words[i].name, &two) ||
            spells(&first, !whole && p->stop_at_end && second.kind == TOKEN_END ? NULL : &second, clause_words[i].other,
                   &two))
            return i;
    return -1;
}

int clause_here(struct parser *p)
{
    for (int i = 0; i < CLAUSE_KINDS; i++)
        if (clause_allowed(p->view, (enum clause_kind)i, NULL)) {
            note(p, EXPECTED_CLAUSE, clause_words[i].name);
            if (clause_words[i].other_summary)
                note(p, EXPECTED_CLAUSE, clause_words[i].other);
        }
    return find_clause(p, false);
}

/* A word of a clause that has no meaning here is free, two of them are not. `depth`, `rank` and `thread` are row
   attributes too: the clause goes on with a number. */
bool clause_begins(struct parser *p)
{
    int clause = p->in_query ? find_clause(p, true) : -1;
    struct token second;

    if (clause < 0)
        return false;
    if (!clause_allowed(p->view, (enum clause_kind)clause, NULL))
        return strchr(clause_words[clause].name, ' ') || is_word(&p->token, "not");
    if (find_attribute(peek(p, LEX_PLAIN)->text) < 0)
        return true;
    second = peek_second(p);
    return second.kind == TOKEN_NUMBER || second.kind == TOKEN_PARAMETER;
}

/* ---- one clause ---- */

static void (*const parsers[CLAUSE_KINDS])(struct parser *, struct query *) = {
#define CLAUSE(kind, clause, ...) [CLAUSE_##kind] = clause_##clause,
#include "query/grammar/clauses.def"
#undef CLAUSE
};

/* `cputime > 5 percent`: what was consumed before the keyword is a number that something is compared with. */
static bool compares(const struct place *number)
{
    const char *text = number->source ? number->source->text : "";
    size_t at = number->offset;

    if (!number->length || !isdigit((unsigned char)text[at]))
        return false;
    while (at > 0 && isspace((unsigned char)text[at - 1]))
        at--;
    return at > 0 && strchr("<>=", text[at - 1]);
}

/* The words of the clause, consumed. */
static void take_keyword(struct parser *p, const struct clause_word *w)
{
    struct place start = peek(p, LEX_PLAIN)->place, before = p->last;
    const char *second;
    bool two;

    p->other_keyword = !spells(&p->token, NULL, w->name, &two);
    second = strchr(p->other_keyword ? w->other : w->name, ' ');
    next(p);
    if (w == &clause_words[CLAUSE_PERCENT] && compares(&before)) {
        if (!is_word(peek(p, LEX_PLAIN), "of"))
            fail(p, &start, "write 5%", "a share has its sign right behind the number");
        hint(p, &start,
             "a share is written 5%: here the number is none, and `percent of` says what percentages are of");
    }
    if (second)
        want_word(p, second + 1);
    p->keyword = since(p, &start);
}

static void check_twice(struct parser *p, const struct query *q, enum clause_kind kind)
{
    const struct clause_word *w = &clause_words[kind];
    const struct place *first = &q->given[kind];

    if (first->line && !w->repeats)
        fail(p, &p->keyword, NULL, "%s is given twice; the first is at %s:%u:%u", w->name, first->source->name,
             first->line, first->column);
    for (int i = 0; i < CLAUSE_KINDS; i++) {
        first = &q->given[i];
        if (((w->contradicts >> i | clause_words[i].contradicts >> kind) & 1) && first->line)
            fail(p, &p->keyword, NULL, "%s contradicts %s at %s:%u:%u", w->name, clause_words[i].name,
                 first->source->name, first->line, first->column);
    }
}

/* True if nothing stands between the end of the view and what was consumed last. */
static bool place_follows(const struct place *view, const struct place *last)
{
    return view->source == last->source && view->offset + view->length == last->offset + last->length;
}

/* One of clauses.def: its keyword, and what its function reads. */
void parse_clause(struct parser *p, struct query *q)
{
    int kind = clause_here(p);
    struct place start;
    const char *why;

    if (kind < 0) {
        if (place_follows(&q->view.place, &p->last) && !q->view.of)
            fail_without_of(p);
        else
            fail_here(p, NULL);
        return;
    }
    take_keyword(p, &clause_words[kind]);
    start = p->keyword;
    if (!clause_allowed(p->view, (enum clause_kind)kind, &why))
        fail(p, &start, NULL, "%s has no meaning for %s: %s", clause_words[kind].name, view_words[p->view].name, why);
    check_twice(p, q, (enum clause_kind)kind);
    parsers[kind](p, q);
    if (!q->given[kind].line)
        q->given[kind] = since(p, &start);
}
