/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/grammar_fuzz.h"
#include "common/mem.h"
#include "common/vec.h"
#include "query/grammar/expected.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include "tests/unit/grammar_same.h"
#include <string.h>

static bool inside(const struct place *p)
{
    return p->source && p->offset <= p->source->length && p->length <= p->source->length - p->offset && p->line > 0 &&
           p->column > 0;
}

/* Every place of an expression, however deep. */
static bool expr_places(const struct expr *e)
{
    bool good = inside(&e->place);

    if (e->kind == EXPR_BINARY || e->kind == EXPR_MATCH || e->kind == EXPR_NEGATE || e->kind == EXPR_NOT)
        good = good && inside(&e->op_place) && expr_places(e->left) &&
               (e->kind != EXPR_BINARY || expr_places(e->right));
    if (e->kind == EXPR_CALL)
        vec_foreach(a, &e->args)
            good = good && expr_places(*a);
    return good;
}

static bool query_places(const struct query *q)
{
    bool good = inside(&q->place) && inside(&q->view.place) && (!q->view.of || inside(&q->view.of->place));

    for (int i = 0; i < CLAUSE_KINDS; i++)
        good = good && (!q->given[i].line || inside(&q->given[i]));
    vec_foreach(w, &q->where)
        good = good && expr_places(*w);
    vec_foreach(c, &q->columns)
        good = good && inside(&c->place) && expr_places(c->expr);
    vec_foreach(k, &q->sort)
        good = good && inside(&k->place) && (!k->expr || expr_places(k->expr));
    return good;
}

/* A parameter's own value is printed, so a second parse needs no parameters. */
static char *check_statement(const struct statement *s, struct arena *arena)
{
    const char *canonical = print_statement(arena, s), *again = "";
    struct source source = {"canonical", canonical, strlen(canonical), 1};
    struct script *script;
    struct parse_options prompt = {.prompt = s->pipe.text || s->redirect.text};
    struct hq_error *err = parse_script(&source, &prompt, &script);
    char *wrong = NULL;

    const char *differs = NULL;

    if (!err && script->statements.len == 1) {
        again = print_statement(&script->arena, &script->statements.data[0]);
        differs = grammar_difference(s, &script->statements.data[0]);
    }
    if (err)
        wrong = xasprintf("the canonical text is refused: %s", err->message);
    else if (strcmp(again, canonical))
        wrong = xasprintf("printed again, %s is %s", canonical, again);
    else if (differs)
        wrong = xasprintf("%s means something else: %s", canonical, differs);
    else if (!inside(&s->place) || (s->kind == STATEMENT_QUERY && !query_places(&s->query)))
        wrong = xasprintf("a place lies outside the text");
    hq_error_free(err);
    script_destroy(script);
    return wrong;
}

char *fuzz_text(const char *text, size_t length, size_t cursor, bool *parses)
{
    struct source source = {"fuzz", text, length, 1};
    struct parse_options options = {.any_parameter = true, .recover = true, .prompt = cursor % 2};
    struct expected_place place;
    struct script *script;
    struct hq_error *err = parse_script(&source, &options, &script);
    AUTO_FREE char *copy = xstrndup(text, length);
    char *wrong = NULL;

    *parses = !err;
    vec_foreach(s, &script->statements)
        if (!wrong && s->kind != STATEMENT_WRONG)
            wrong = check_statement(s, &script->arena);
    grammar_expected(copy, cursor, &place);
    if (!wrong && place.start > strlen(copy))
        wrong = xasprintf("the word at the cursor starts behind the text");
    if (!wrong && !err && parse_is_incomplete(copy, NULL) && strlen(copy) == length && !options.prompt)
        wrong = xasprintf("a text that parses is said to be incomplete");
    hq_error_free(err);
    script_destroy(script);
    return wrong;
}

/* ---- random texts ---- */

static const char *const tokens[] = {
    "tree", "callers", "of",    "hot",     "path",   "procedures", "where",    "sort", "by",   "limit",   "depth",
    "as",   "to",      "not",   "through", "during", "iteration",  "trace",    "at",   "rank", "explain", "expect",
    "rows", "no",      "let",   "set",     "lines",  "on",         "open",     "help", "$1",   "$",       "@1",
    "@",    "#3",      "#",     "(",       ")",      ",",          "..",       ">",    ">>",   "*",       "/",
    "/x/",  "-",       "--",    "=",       "==",     "=~",         "!~",       "5%",   "1.5s", "10",      "\"a\"",
    "'",    "\"",      "{{x}}", "{{",      "}}",     ";",          "\n",       "\n  ", "\t",   "cputime", ".",
    ".x",   "old",     "delta", "metric",  "if",     "sum",        "\xc3\xa9", "\xff", "|",    "\\"};

static void damage(struct str *s, uint64_t *state)
{
    for (uint32_t n = 1 + random_below(state, 3); n && s->len; n--) {
        size_t at = random_below(state, (uint32_t)s->len);

        switch (random_below(state, 4)) {
        case 0: s->s[at] = (char)(random_next(state) & 0xff); break;
        case 1: s->s[at] = " \n\t\"'/()$%-.>*#@{};,"[random_below(state, 21)]; break;
        case 2: str_truncate(s, at); break;
        default: memmove(s->s + at, s->s + at + 1, s->len - at); s->len--;
        }
    }
}

/* The view of a text that is one, or -1. */
static int view_of(const char *text)
{
    struct source source = {"view", text, strlen(text), 1};
    struct parse_options options = {.any_parameter = true};
    struct script *script;
    struct hq_error *err = parse_script(&source, &options, &script);
    int view = !err && script->statements.len == 1 && script->statements.data[0].kind == STATEMENT_QUERY
                   ? (int)script->statements.data[0].query.view.kind
                   : -1;

    hq_error_free(err);
    script_destroy(script);
    return view;
}

/*
 * A view and some of the clauses that it takes. A sentence of the grammar rarely is one: the grammar does not say which
 * clause has a meaning for which view, nor that most stand once.
 */
static void random_query(const struct grammar *g, uint64_t *state, struct str *out)
{
    int view;

    for (int tries = 0; tries < 20; tries++) {
        str_clear(out);
        grammar_sentence(g, "view", state, out);
        if ((view = view_of(str_cstr(out))) >= 0)
            break;
    }
    uint32_t start = random_below(state, CLAUSE_KINDS);

    for (uint32_t i = 0; i < CLAUSE_KINDS && view >= 0; i++) {
        enum clause_kind clause = (start + i) % CLAUSE_KINDS;

        if (!clause_allowed(view, clause, NULL) || random_below(state, 4) > 0)
            continue;
        AUTO_STR struct str production = {0};

        grammar_clause_production(clause, &production);
        for (uint32_t n = clause_words[clause].repeats ? 1 + random_below(state, 2) : 1; n; n--)
            grammar_sentence(g, str_cstr(&production), state, out);
    }
}

void fuzz_random(const struct grammar *g, uint64_t *state, struct str *out)
{
    uint32_t kind = random_below(state, 6);

    if (kind > 3)
        random_query(g, state, out);
    if (kind == 5 && random_below(state, 2))
        damage(out, state);
    if (kind < 3)
        grammar_sentence(g, kind == 0 ? "script" : "statement", state, out);
    if (kind == 1)
        damage(out, state);
    if (kind == 3)
        for (uint32_t n = random_below(state, 20); n; n--)
            str_addf(out, "%s%s", tokens[random_below(state, sizeof tokens / sizeof *tokens)],
                     random_below(state, 3) ? " " : "");
}
