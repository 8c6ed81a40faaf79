/* SPDX-License-Identifier: BSD-3-Clause */
/* The clauses that choose rows and columns, each read and printed (clauses.def). */
#include "query/grammar/parser.h"
#include "query/grammar/printer.h"
#include "query/grammar/words.h"

/* flatten = "flatten" [ count ] */
void clause_flatten(struct parser *p, struct query *q)
{
    q->flatten = 1;
    note(p, EXPECTED_NUMBER, NULL);
    if (!ended(p) && (p->token.kind == TOKEN_NUMBER || p->token.kind == TOKEN_PARAMETER))
        q->flatten = parse_count(p, 1, "the number of levels");
}

void add_flatten(struct str *s, const struct query *q)
{
    if (q->flatten)
        str_addf(s, " flatten %u", q->flatten);
}

/* column = [ NAME "=" ] expr */
static struct column_def parse_column(struct parser *p)
{
    struct token t = *peek(p, LEX_PLAIN), second = peek_second(p);
    struct column_def c = {.place = t.place};

    if (t.kind == TOKEN_WORD && is_mark(&second, "=")) {
        c.name = next(p).text;
        want_mark(p, "=");
    }
    c.expr = parse_expr(p);
    c.place = since(p, &c.place);
    return c;
}

/* columns = "columns" column { "," column } */
void clause_columns(struct parser *p, struct query *q)
{
    do
        list_push(p->arena, &q->columns, parse_column(p));
    while (accept_mark(p, ","));
}

void add_columns(struct str *s, const struct query *q)
{
    for (size_t i = 0; i < q->columns.len; i++) {
        const struct column_def *c = &q->columns.data[i];

        str_add(s, i ? ", " : " columns ");
        if (c->name)
            str_addf(s, "%s = ", c->name);
        add_expr(s, c->expr, LEVEL_OR);
    }
}

/* where = "where" expr */
void clause_where(struct parser *p, struct query *q)
{
    list_push(p->arena, &q->where, parse_expr(p));
}

void add_where(struct str *s, const struct query *q)
{
    for (size_t i = 0; i < q->where.len; i++)
        str_add(s, " where "), add_expr(s, q->where.data[i], LEVEL_OR);
}

/* matching = "matching" regex */
void clause_matching(struct parser *p, struct query *q)
{
    list_push(p->arena, &q->matching, parse_regex(p));
}

void add_matching(struct str *s, const struct query *q)
{
    for (size_t i = 0; i < q->matching.len; i++)
        str_add(s, " matching "), add_pattern(s, &q->matching.data[i]);
}

/* expect = "expect" expectation */
void clause_expect(struct parser *p, struct query *q)
{
    list_push(p->arena, &q->expect, parse_expectation(p));
}

void add_expectation(struct str *s, const struct expectation *e)
{
    static const char *const words[] = {"", "any ", "no "};

    str_add(s, "expect ");
    if (e->kind != EXPECT_ROWS) {
        str_add(s, words[e->kind]);
        add_expr(s, e->expr, LEVEL_OR);
    } else if (e->op == OP_EQ && e->rows == 0) {
        str_add(s, "no rows");
    } else {
        str_addf(s, "rows %s %llu", operator_text(e->op), (unsigned long long)e->rows);
    }
}

void add_expect(struct str *s, const struct query *q)
{
    for (size_t i = 0; i < q->expect.len; i++)
        str_addc(s, ' '), add_expectation(s, &q->expect.data[i]);
}

static bool key_is_missing(struct parser *p)
{
    const struct token *t;

    note_operand(p);
    if (ended(p))
        return true;
    t = peek(p, LEX_PLAIN);
    return is_word(t, "asc") || is_word(t, "desc") || is_mark(t, ",") || clause_begins(p);
}

/* key = [ expr ] [ "asc" | "desc" ]        without expr: by the first metric (the shell took the $1) */
static struct sort_key parse_key(struct parser *p)
{
    struct sort_key key = {.place = peek(p, LEX_PLAIN)->place};

    if (key_is_missing(p)) {
        key.place = p->last;
        hint(p, &p->last,
             "sort by without a metric sorts by the first one; if you wrote $1 in double quotes, the shell took it: "
             "use single quotes");
    } else {
        key.expr = parse_expr(p);
        if (key.expr->kind == EXPR_NUMBER)
            fail(p, &key.expr->place,
                 "in double quotes a shell makes 0 of $10: use single quotes, or the name of a metric such as cputime",
                 "a number is the same for all rows and sorts nothing");
    }
    key.ascending = key.expr && key.expr->kind == EXPR_ATTRIBUTE;
    if (accept_word(p, "asc"))
        key.ascending = true;
    else if (accept_word(p, "desc"))
        key.ascending = false;
    key.place = since(p, &key.place);
    return key;
}

/* sort-by = "sort" "by" key { "," key } */
void clause_sort(struct parser *p, struct query *q)
{
    do
        list_push(p->arena, &q->sort, parse_key(p));
    while (accept_mark(p, ","));
}

void add_sort(struct str *s, const struct query *q)
{
    for (size_t i = 0; i < q->sort.len; i++) {
        const struct sort_key *k = &q->sort.data[i];

        str_add(s, i ? ", " : " sort by ");
        if (k->expr)
            add_expr(s, k->expr, LEVEL_OR);
        else
            str_add(s, "$1");
        bool usual = k->expr && k->expr->kind == EXPR_ATTRIBUTE;

        str_add(s, k->ascending == usual ? "" : usual ? " desc" : " asc");
    }
}

/* limit = "limit" count */
void clause_limit(struct parser *p, struct query *q)
{
    q->limit = parse_count(p, 1, "the limit");
}

void add_limit(struct str *s, const struct query *q)
{
    if (q->limit)
        str_addf(s, " limit %u", q->limit);
}

/* depth = "depth" count */
void clause_depth(struct parser *p, struct query *q)
{
    q->depth = parse_count(p, 1, "the depth");
}

void add_depth(struct str *s, const struct query *q)
{
    if (q->depth)
        str_addf(s, " depth %u", q->depth);
}

/* all = "all" */
void clause_all(struct parser *p, struct query *q)
{
    (void)p;
    q->all = true;
}

void add_all(struct str *s, const struct query *q)
{
    str_add(s, q->all ? " all" : "");
}

/* by = "by" expr */
void clause_by(struct parser *p, struct query *q)
{
    q->by = parse_expr(p);
}

void add_by(struct str *s, const struct query *q)
{
    if (q->by)
        str_add(s, " by "), add_expr(s, q->by, LEVEL_OR);
}

/* threshold = "threshold" percent */
void clause_threshold(struct parser *p, struct query *q)
{
    q->threshold = parse_percent(p, "the threshold");
}

void add_threshold(struct str *s, const struct query *q)
{
    if (q->given[CLAUSE_THRESHOLD].line)
        str_add(s, " threshold "), add_number(s, q->threshold), str_addc(s, '%');
}
