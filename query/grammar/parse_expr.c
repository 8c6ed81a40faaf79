/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions. */
#include "common/suggest.h"
#include "common/str.h"
#include "common/units.h"
#include "query/grammar/parser.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct expr *new_expr(struct parser *p, enum expr_kind kind, const struct place *start)
{
    struct expr *e = ARENA_NEW(p->arena, struct expr);

    e->kind = kind;
    e->place = since(p, start);
    return e;
}

/* Errors return this, so that trees have no NULL in them. */
static struct expr *no_expr(struct parser *p)
{
    return new_expr(p, EXPR_NUMBER, &p->last);
}

void note_operand(struct parser *p)
{
    static const enum expected_kind kinds[] = {EXPECTED_METRIC, EXPECTED_FUNCTION, EXPECTED_ATTRIBUTE,
                                               EXPECTED_TOTAL,  EXPECTED_NUMBER,   EXPECTED_STRING};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        note(p, kinds[i], NULL);
    note(p, EXPECTED_MARK, "(");
    note(p, EXPECTED_KEYWORD, "not");
}

/* The shell trap: "$1" in double quotes is gone when the query arrives. */
static struct expr *missing_operand(struct parser *p)
{
    peek(p, LEX_PLAIN);
    fail_operand(p, "in double quotes a shell replaces $1 by nothing: use single quotes, or the name of a metric such "
                    "as cputime\n");
    return no_expr(p);
}

/* total = "@" (DIGITS [ suffix ] | metric) */
static struct expr *parse_total(struct parser *p)
{
    struct place start = next(p).place;
    struct metric_ref m = parse_total_metric(p);
    struct expr *e = new_expr(p, EXPR_TOTAL, &start);

    m.place = e->place;
    e->metric = m;
    return e;
}

/* ---- operands ---- */

static struct expr *parse_number(struct parser *p)
{
    struct token t = next(p);
    struct expr *e = new_expr(p, EXPR_NUMBER, &t.place);
    struct quantity q;
    AUTO_ERROR struct hq_error *err = units_parse(t.text, &q);

    if (err) {
        fail(p, &t.place, NULL, "%s", err->message);
        return e;
    }
    e->kind = q.percent ? EXPR_PERCENT : EXPR_NUMBER;
    e->number = q.percent ? strtod(t.text, NULL) : q.value; /* 7%, not 7.000000000000001% */
    e->dim = q.dim;
    return e;
}

static void unknown_function(struct parser *p, const struct token *t)
{
    struct suggest near;
    AUTO_STR struct str advice = {0};

    const char *here = foreign_function(t->text);

    suggest_init(&near, t->text, 1);
    for (int i = 0; i < FUNCTION_KINDS; i++)
        suggest_add(&near, function_words[i].name);
    if (here)
        str_addf(&advice, "here that is: %s\n", here);
    else if (near.count)
        str_addf(&advice, "did you mean \"%s\"?\n", near.best[0]);
    str_add(&advice, "the functions are");
    for (int i = 0; i < FUNCTION_KINDS; i++)
        str_addf(&advice, "%s %s", i ? "," : "", function_words[i].name);
    fail(p, &t->place, str_cstr(&advice), "there is no function \"%.60s\"", t->text);
}

/* call = FUNCTION "(" expr { "," expr } ")" */
static struct expr *parse_call(struct parser *p)
{
    struct token t = *peek(p, LEX_PLAIN);
    int f = find_function(t.text);
    struct expr *e;

    if (f < 0) {
        unknown_function(p, &t);
        return no_expr(p);
    }
    next(p);
    e = new_expr(p, EXPR_CALL, &t.place);
    e->function = (enum function)f;
    e->function_place = t.place;
    p->parens++;
    want_mark(p, "(");
    do
        list_push(p->arena, &e->args, parse_expr(p));
    while (accept_mark(p, ","));
    want_mark(p, ")");
    p->parens--;
    e->place = since(p, &t.place);

    const struct function_word *w = &function_words[f];

    if (e->args.len < w->min_args || e->args.len > w->max_args)
        fail(p, &e->place, arena_printf(p->arena, "write %s", w->usage), "%s takes %u argument%s, not %zu", w->name,
             w->min_args == w->max_args || e->args.len < w->min_args ? w->min_args : w->max_args,
             w->min_args == 1 && w->max_args == 1 ? "" : "s", e->args.len);
    return e;
}

static struct expr *parse_parens(struct parser *p)
{
    struct place start = next(p).place;
    struct expr *e;

    p->parens++;
    e = parse_expr(p);
    want_mark(p, ")");
    p->parens--;
    e->place = since(p, &start);
    return e;
}

static struct expr *parse_parameter_expr(struct parser *p)
{
    struct parameter_state state;
    struct expr *e = no_expr(p);

    if (enter_parameter(p, &state)) {
        e = parse_expr(p);
        leave_parameter(p, &state);
        e->place = state.place;
    }
    return e;
}

/* A word where an operand stands: reserved words are not operands. */
static struct expr *parse_word(struct parser *p)
{
    static const char *const reserved[] = {"and", "or", "asc", "desc"};
    struct token t = *peek(p, LEX_PLAIN), second;
    int attribute = find_attribute(t.text);
    struct expr *e;

    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (is_word(&t, reserved[i]))
            return missing_operand(p);
    if (clause_begins(p))
        return missing_operand(p);
    second = peek_second(p);
    if (is_mark(&second, "(") && !is_word(&t, "metric"))
        return parse_call(p);
    if (attribute >= 0 && !(is_mark(&second, ".") && !second.spaced)) {
        next(p);
        e = new_expr(p, EXPR_ATTRIBUTE, &t.place);
        e->attribute = (enum attribute)attribute;
        return e;
    }
    struct metric_ref m = parse_metric(p);

    e = new_expr(p, EXPR_METRIC, &t.place);
    e->metric = m;
    return e;
}

/* primary = NUMBER | STRING | "(" expr ")" | total | call | ATTRIBUTE | metric | PARAMETER */
static struct expr *parse_primary(struct parser *p)
{
    struct token t = *peek(p, LEX_PLAIN);
    struct expr *e;

    note_operand(p);
    if (t.kind == TOKEN_NUMBER)
        return parse_number(p);
    if (t.kind == TOKEN_PARAMETER)
        return parse_parameter_expr(p);
    if (t.kind == TOKEN_STRING) {
        next(p);
        e = new_expr(p, EXPR_STRING, &t.place);
        e->string = t.text;
        return e;
    }
    if (is_mark(&t, "("))
        return parse_parens(p);
    if (is_mark(&t, "@"))
        return parse_total(p);
    if (is_mark(&t, "$")) {
        struct metric_ref m = parse_metric(p);

        e = new_expr(p, EXPR_METRIC, &t.place);
        e->metric = m;
        return e;
    }
    return t.kind == TOKEN_WORD ? parse_word(p) : missing_operand(p);
}

/* ---- operators, loosest first ---- */

static bool too_deep(struct parser *p, const struct place *place)
{
    if (p->nesting > NESTING_MAX)
        fail(p, place, NULL, "this expression is nested more than %d deep", NESTING_MAX);
    else if (p->operators > OPERATORS_MAX)
        fail(p, place, NULL, "this expression has more than %d operators", OPERATORS_MAX);
    return p->error;
}

static struct expr *binary(struct parser *p, struct expr *left, enum operator op, const struct place *op_place,
                           struct expr *(*operand)(struct parser *))
{
    struct expr *right, *e;

    p->operators++;
    if (too_deep(p, op_place))
        return left;
    right = operand(p);
    e = new_expr(p, EXPR_BINARY, &left->place);
    e->op = op;
    e->op_place = *op_place;
    e->left = left;
    e->right = right;
    return e;
}

/* unary = "-" unary | primary */
static struct expr *parse_unary(struct parser *p)
{
    struct token t = *peek(p, LEX_PLAIN);
    struct expr *e, *operand;

    if (!is_mark(&t, "-"))
        return parse_primary(p);
    next(p);
    p->nesting++;
    operand = too_deep(p, &t.place) ? no_expr(p) : parse_unary(p);
    p->nesting--;
    e = new_expr(p, EXPR_NEGATE, &t.place);
    e->op_place = t.place;
    e->left = operand;
    return e;
}

static struct expr *left_chain(struct parser *p, enum operator a, enum operator b,
                               struct expr *(*operand)(struct parser *))
{
    struct expr *e = operand(p);

    for (;;) {
        note(p, EXPECTED_OPERATOR, NULL);
        note(p, EXPECTED_KEYWORD, "and");
        note(p, EXPECTED_KEYWORD, "or");
        if (ended(p))
            return e;
        struct token t = *peek(p, LEX_PLAIN);
        bool first = is_mark(&t, operator_text(a)) || is_word(&t, operator_text(a));

        if (!first && !is_mark(&t, operator_text(b)) && !is_word(&t, operator_text(b)))
            return e;
        next(p);
        e = binary(p, e, first ? a : b, &t.place, operand);
    }
}

/* product = unary { ("*" | "/") unary } */
static struct expr *parse_product(struct parser *p)
{
    return left_chain(p, OP_MUL, OP_DIV, parse_unary);
}

/* sum = product { ("+" | "-") product } */
static struct expr *parse_sum(struct parser *p)
{
    return left_chain(p, OP_ADD, OP_SUB, parse_product);
}

/* comparison = "==" | "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=" */
static int comparison(const struct token *t)
{
    static const struct {
        const char *text;
        enum operator op;
    } table[] = {{"==", OP_EQ}, {"=", OP_EQ},  {"!=", OP_NE}, {"<>", OP_NE},
                 {"<", OP_LT},  {"<=", OP_LE}, {">", OP_GT},  {">=", OP_GE}};

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (is_mark(t, table[i].text))
            return (int)table[i].op;
    return -1;
}

bool accept_comparison(struct parser *p, enum operator* op)
{
    int found = comparison(peek(p, LEX_PLAIN));

    if (found < 0)
        return false;
    next(p);
    *op = (enum operator)found;
    return true;
}

/* Notes, for completion, that a value of the attribute on the left is expected. */
static void note_value(struct parser *p, const struct expr *left)
{
    static const enum attribute texts[] = {ATTRIBUTE_KIND,   ATTRIBUTE_NAME, ATTRIBUTE_FILE,
                                           ATTRIBUTE_MODULE, ATTRIBUTE_HOST, ATTRIBUTE_GROUP};

    for (size_t i = 0; left->kind == EXPR_ATTRIBUTE && i < sizeof texts / sizeof *texts; i++)
        if (left->attribute == texts[i])
            note(p, EXPECTED_VALUE, attribute_words[texts[i]].name);
}

/* Behind the sum: =~ or !~ and a regex. */
static struct expr *parse_match(struct parser *p, struct expr *left)
{
    struct token t = next(p);

    note_value(p, left);
    struct pattern regex = parse_regex(p);
    struct expr *e = new_expr(p, EXPR_MATCH, &left->place);

    e->op_place = t.place;
    e->left = left;
    e->regex = regex;
    e->negated = t.text[0] == '!';
    return e;
}

bool is_file_name(const char *text)
{
    static const char *const starts[] = {"/", "./", "../", "~/"}, *const sides[] = {"old.", "delta."},
                             *const suffixes[] = {"x", "exclusive", "inclusive"};
    const char *ending = strrchr(text, '.');

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (str_begins(text, starts[i]))
            return true;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        if (!strncasecmp(text, sides[i], strlen(sides[i])))
            return false;
    for (size_t i = 0; ending && i < sizeof suffixes / sizeof *suffixes; i++)
        if (!strcasecmp(ending + 1, suffixes[i]))
            return false;
    return ending && isalpha((unsigned char)ending[1]) && isalpha((unsigned char)text[0]) &&
           !strpbrk(text, "()*+,<>=!");
}

/*
 * At the prompt, `> FILE` behind an expression: where a file name ends the statement that cannot be an operand.
 *     procedures where cputime > 5% > out.csv
 */
static bool sends_to_file(struct parser *p, const struct expr *left)
{
    struct parser ahead;
    struct token t;

    if (!p->options->prompt || p->parameter || p->parens || p->error || !is_mark(peek(p, LEX_PLAIN), ">"))
        return false;
    ahead = *p;
    next(&ahead);
    t = *peek(&ahead, LEX_FILE);
    if (t.kind == TOKEN_STRING ? left->kind == EXPR_ATTRIBUTE : t.kind != TOKEN_WORD || !is_file_name(t.text))
        return false;
    next(&ahead);
    return ended(&ahead);
}

/* `max(` beside an attribute: no name has such an end, so it is the function. */
static bool begins_call(const struct token *t)
{
    size_t end = t->place.offset + t->place.length;

    return t->kind == TOKEN_WORD && end < t->place.source->length && t->place.source->text[end] == '(' &&
           find_function(t->text) >= 0;
}

/* `module = libc.so.6`: beside an attribute a name with dots or colons is a text, as a pattern is. */
static struct expr *parse_beside_attribute(struct parser *p)
{
    struct token t = *peek(p, LEX_PATTERN);
    struct expr *e;

    if (t.kind == TOKEN_REGEX)
        fail(p, &t.place, "write =~ or !~ before it", "a regular expression is no text");
    if (t.kind == TOKEN_WORD && strpbrk(t.text, "*?")) {
        size_t plain = strcspn(t.text, "*?");

        fail(p, &t.place,
             plain + 1 == strlen(t.text) ? arena_printf(p->arena, "write =~ /^%.*s/", (int)plain, t.text)
                                         : "write =~ /REGEX/",
             "a text that is compared has no wildcards");
    }
    if (t.kind == TOKEN_WORD && !begins_call(&t))
        check_bare_end(p, &t);
    if (t.kind != TOKEN_WORD || !strpbrk(t.text, ".:") || strpbrk(t.text, "*?"))
        return parse_sum(p);
    next(p);
    e = new_expr(p, EXPR_STRING, &t.place);
    e->string = t.text;
    return e;
}

/* relation = sum [ comparison sum | ("=~" | "!~") regex ] */
static struct expr *parse_relation(struct parser *p)
{
    struct expr *e = parse_sum(p);
    struct token t;
    enum operator op;

    if (ended(p))
        return e;
    t = *peek(p, LEX_PLAIN);
    if (is_mark(&t, "=~") || is_mark(&t, "!~"))
        return parse_match(p, e);
    if (sends_to_file(p, e) || !accept_comparison(p, &op))
        return e;
    note_value(p, e);
    e = binary(p, e, op, &t.place,
               op <= OP_NE && e->kind == EXPR_ATTRIBUTE && attribute_words[e->attribute].is_text
                   ? parse_beside_attribute
                   : parse_sum);
    if (!ended(p) && comparison(peek(p, LEX_PLAIN)) >= 0 && !sends_to_file(p, e))
        fail(p, &p->token.place, "write a < b and b < c", "comparisons do not chain");
    return e;
}

/* negation = "not" negation | relation */
static struct expr *parse_not(struct parser *p)
{
    struct token t = *peek(p, LEX_PLAIN);
    struct expr *e, *operand;

    if (!is_word(&t, "not") || clause_begins(p)) {
        p->nesting++;
        e = too_deep(p, &t.place) ? no_expr(p) : parse_relation(p);
        p->nesting--;
        return e;
    }
    next(p);
    p->nesting++;
    operand = too_deep(p, &t.place) ? no_expr(p) : parse_not(p);
    p->nesting--;
    e = new_expr(p, EXPR_NOT, &t.place);
    e->op_place = t.place;
    e->left = operand;
    return e;
}

/* conjunction = negation { "and" negation } */
static struct expr *parse_and(struct parser *p)
{
    return left_chain(p, OP_AND, OP_AND, parse_not);
}

/* expr = conjunction { "or" conjunction } */
struct expr *parse_expr(struct parser *p)
{
    return left_chain(p, OP_OR, OP_OR, parse_and);
}
