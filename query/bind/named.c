/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names in conditions. `where name = solve or name = sovle` keeps rows, and limits only half of what it is meant to;
 * so each name is looked at by itself. A name behind `not`, `!=` or `!~` leaves rows out, and one that nothing has
 * leaves out nothing: no check passes by it.
 */
#include "query/bind/expr.h"

static bool is_row(const struct program *p)
{
    return p->kind == PROGRAM_ATTRIBUTE || p->kind == PROGRAM_SLOT;
}

static bool is_literal(const struct program *p)
{
    return p->kind == PROGRAM_TEXT || p->kind == PROGRAM_NUMBER;
}

static void add_match(struct binding *b, const struct program *p, bool wanted)
{
    if (is_row(p->args[0]))
        vec_push(&b->named, (struct named){.condition = p,
                                           .attribute = p->args[0],
                                           .pattern = p->expr->regex,
                                           .wanted = wanted != p->negated});
}

static void add_comparison(struct binding *b, const struct program *p, bool wanted)
{
    bool turned = is_row(p->args[1]);
    const struct program *value = p->args[!turned];
    const struct expr *side = turned ? p->expr->left : p->expr->right;

    if (!is_row(p->args[turned]) || !is_literal(value))
        return;
    vec_push(&b->named, (struct named){.condition = p,
                                       .attribute = p->args[turned],
                                       .value = value,
                                       .pattern = {.place = side->place,
                                                   .kind = PATTERN_NAME,
                                                   .text = value->is_text ? value->text : "",
                                                   .quoted = true},
                                       .wanted = wanted == (p->op == OP_EQ)});
}

static void add(struct binding *b, const struct program *p, bool wanted)
{
    if (p->kind == PROGRAM_MATCH)
        add_match(b, p, wanted);
    else if (p->kind == PROGRAM_BINARY && (p->op == OP_EQ || p->op == OP_NE))
        add_comparison(b, p, wanted);
    if (p->memo) /* a let, which has no attributes */
        return;
    for (unsigned i = 0; i < p->arg_count; i++)
        add(b, p->args[i], wanted != (p->kind == PROGRAM_NOT));
}

/* An amount of a row, or one of those that it is held against. */
static bool has_amount(const struct program *p)
{
    bool any = p->memo || p->kind == PROGRAM_STATISTIC || (p->kind == PROGRAM_SLOT && p->linear);

    for (unsigned i = 0; i < p->arg_count && !any; i++)
        any = has_amount(p->args[i]);
    return any;
}

void named_in_condition(struct binding *b, const struct program *condition)
{
    add(b, condition, true);
}

void named_in_expectation(struct binding *b, const struct program *condition, bool wanted)
{
    if (has_amount(condition))
        add(b, condition, wanted);
}
