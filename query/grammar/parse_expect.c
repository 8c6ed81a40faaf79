/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses expectations of rows: a clause, and a statement about the last result. */
#include "query/grammar/parser.h"

/* rows-check = "rows" comparison count */
static void parse_rows(struct parser *p, struct expectation *e)
{
    struct token t;

    next(p);
    e->kind = EXPECT_ROWS;
    note(p, EXPECTED_OPERATOR, NULL);
    if (!accept_comparison(p, &e->op))
        fail_here(p, "a comparison");
    t = *peek(p, LEX_PLAIN);
    e->rows = parse_count(p, 0, "the number of rows");
    if (e->op == OP_LT && e->rows == 0)
        fail(p, &t.place, NULL, "there are never fewer than 0 rows");
}

/* expectation = [ "all" | "any" | "no" ] expr | rows-check | "no" "rows" */
struct expectation parse_expectation(struct parser *p)
{
    static const char *const words[] = {"all", "any", "no"};
    struct expectation e = {.kind = EXPECT_ALL};
    struct token t = *peek(p, LEX_PLAIN);

    e.place = t.place;
    note(p, EXPECTED_KEYWORD, "rows");
    for (int i = 0; i < 3; i++)
        note(p, EXPECTED_KEYWORD, words[i]);
    for (int i = 0; i < 3; i++)
        if (is_word(&t, words[i])) {
            next(p);
            e.kind = (enum expect_kind)i;
            break;
        }
    note(p, EXPECTED_KEYWORD, "rows");
    if (e.kind == EXPECT_NO && is_word(peek(p, LEX_PLAIN), "rows")) {
        next(p);
        e.kind = EXPECT_ROWS;
        e.op = OP_EQ;
    } else if (is_word(&t, "rows")) {
        parse_rows(p, &e);
    } else {
        e.expr = parse_expr(p);
    }
    e.place = since(p, &e.place);
    return e;
}
