/* SPDX-License-Identifier: BSD-3-Clause */
/* How metrics are named: $1, cputime.x, metric("..."), old.cputime, delta. */
#include "query/grammar/parser.h"
#include <stdlib.h>

/* suffix = "." ("x" | "exclusive" | "inclusive")        without white space before it */
static void metric_suffix(struct parser *p, struct metric_ref *m)
{
    struct token t;

    if (!is_mark(peek(p, LEX_PLAIN), ".") || p->token.spaced)
        return;
    next(p);
    note(p, EXPECTED_KEYWORD, "x");
    note(p, EXPECTED_KEYWORD, "exclusive");
    note(p, EXPECTED_KEYWORD, "inclusive");
    t = *peek(p, LEX_PLAIN);
    if (is_word(&t, "x") || is_word(&t, "exclusive"))
        m->exclusive = true;
    else if (!is_word(&t, "inclusive")) {
        fail_here(p, NULL);
        return;
    }
    next(p);
    if (m->number) {
        if (m->exclusive && m->number % 2 == 0)
            fail(p, &t.place, NULL, "$%u is exclusive already", m->number);
        m->number += m->exclusive;
        m->exclusive = false;
    }
}

/* DIGITS, behind "$" or "@" */
static void metric_number(struct parser *p, struct metric_ref *m)
{
    struct token t = *peek(p, LEX_PLAIN);
    char *end;
    unsigned long n = strtoul(t.text, &end, 10);

    next(p);
    if (*end || n == 0 || n > 9999)
        fail(p, &t.place, NULL, "columns of metrics are numbered $1, $2, ... as the view metrics lists them");
    else
        m->number = (unsigned)n;
}

/* metric(...) */
static void metric_quoted(struct parser *p, struct metric_ref *m)
{
    next(p);
    p->parens++;
    want_mark(p, "(");
    struct token t = *peek(p, LEX_PLAIN);

    note(p, EXPECTED_STRING, NULL);
    m->quoted = true;
    m->name = "";
    if (t.kind == TOKEN_PARAMETER)
        m->name = parameter_text(p);
    else if (t.kind == TOKEN_STRING)
        m->name = next(p).text;
    else
        fail_here(p, "the name of a metric in quotes");
    want_mark(p, ")");
    p->parens--;
}

static bool second_is(struct parser *p, const char *mark)
{
    struct token t = peek_second(p);

    return is_mark(&t, mark);
}

/* metric-name = ("$" DIGITS | "metric" "(" (STRING | PARAMETER) ")" | NAME) [ suffix ] */
static void metric_name(struct parser *p, struct metric_ref *m)
{
    struct token t = *peek(p, LEX_PLAIN);

    note(p, EXPECTED_METRIC, NULL);
    if (is_mark(&t, "$")) {
        next(p);
        if (peek(p, LEX_PLAIN)->kind == TOKEN_NUMBER && !p->token.spaced)
            metric_number(p, m);
        else
            fail(p, &t.place, NULL, "$ is followed by the number of a column: $1, $2, ...");
    } else if (is_word(&t, "metric") && second_is(p, "(")) {
        metric_quoted(p, m);
    } else if (t.kind == TOKEN_WORD) {
        m->name = next(p).text;
    } else {
        fail_here(p, "a metric");
        m->name = "";
    }
    metric_suffix(p, m);
}

/* metric = [ ("old" | "delta") "." ] metric-name | ("old" | "delta") [ suffix ] */
struct metric_ref parse_metric(struct parser *p)
{
    struct token t = *peek(p, LEX_PLAIN);
    struct metric_ref m = {.place = t.place};

    if (is_word(&t, "old") || is_word(&t, "delta")) {
        m.side = is_word(&t, "old") ? SIDE_OLD : SIDE_DELTA;
        next(p);
        if (!is_mark(peek(p, LEX_PLAIN), ".") || p->token.spaced) {
            m.number = 1;
            m.alone = true;
        } else {
            struct token second = peek_second(p);

            if (is_word(&second, "x") || is_word(&second, "exclusive")) {
                m.number = 1;
                m.alone = true;
                metric_suffix(p, &m);
            } else {
                next(p);
                metric_name(p, &m);
            }
        }
    } else {
        metric_name(p, &m);
    }
    m.place = since(p, &m.place);
    return m;
}

/* Behind the "@" of a total: DIGITS [ suffix ] | metric */
struct metric_ref parse_total_metric(struct parser *p)
{
    struct metric_ref m = {0};

    if (peek(p, LEX_PLAIN)->kind != TOKEN_NUMBER || p->token.spaced)
        return parse_metric(p);
    metric_number(p, &m);
    metric_suffix(p, &m);
    return m;
}
