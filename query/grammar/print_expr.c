/* SPDX-License-Identifier: BSD-3-Clause */
/* Literals, patterns and expressions as their canonical text. */
#include "common/mem.h"
#include "common/str.h"
#include "query/grammar/lexer.h"
#include "query/grammar/printer.h"
#include "query/grammar/words.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- literals ---- */

/* The shortest decimal number that reads back as the same double; 20, not 2e+01. */
void add_number(struct str *s, double x)
{
    int whole = x >= 1 && x < 1e15 ? (int)log10(x) + 1 : 1;
    char text[40];

    for (int digits = whole; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    str_add(s, text);
}

void print_quoted(struct str *s, const char *text)
{
    char quote = strchr(text, '"') && !strchr(text, '\'') ? '\'' : '"';

    str_addc(s, quote);
    for (; *text; text++) {
        /* A backslash needs one only where it would protect what follows. */
        bool protects = *text == '\\' && (text[1] == '\\' || text[1] == quote || !text[1]);

        if (*text == quote || protects)
            str_addc(s, '\\');
        str_addc(s, *text);
    }
    str_addc(s, quote);
}

void add_ranges(struct str *s, const char *word, const number_ranges *list)
{
    for (size_t i = 0; i < list->len; i++) {
        str_addf(s, i ? ",%.0s%u" : " %s %u", word, list->data[i].first);
        if (list->data[i].last != list->data[i].first)
            str_addf(s, "-%u", list->data[i].last);
    }
}

void add_instant(struct str *s, const struct instant *i)
{
    add_number(s, i->value);
    str_addc(s, i->percent ? '%' : 's');
}

/* A file is bare if the lexer would take it whole and nothing else could be meant. */
void add_file(struct str *s, const char *file)
{
    if (strcspn(file, " \t\n\r\f\v;\"'{|>") == strlen(file) && !str_begins(file, "--"))
        str_add(s, file);
    else
        print_quoted(s, file);
}

void add_regex(struct str *s, const struct pattern *p)
{
    str_addc(s, '/');
    for (const char *c = p->text; *c; c++) {
        if (*c == '\\' && c[1]) {
            str_addc(s, *c++);
            if (*c == '/')
                str_addc(s, '\\'), str_addc(s, '\\');
        } else if (*c == '/') {
            str_addc(s, '\\');
        }
        str_addc(s, *c);
    }
    str_add(s, p->ignore_case ? "/i" : "/");
}

static bool stays_bare(const struct pattern *p)
{
    return !p->quoted && is_bare_pattern(p->text);
}

void add_pattern(struct str *s, const struct pattern *p)
{
    switch (p->kind) {
    case PATTERN_NAME:
        if (stays_bare(p))
            str_add(s, p->text);
        else
            print_quoted(s, p->text);
        break;
    case PATTERN_REGEX: add_regex(s, p); break;
    case PATTERN_GROUP:
        str_add(s, "group ");
        print_quoted(s, p->text);
        break;
    case PATTERN_ROW: str_addf(s, "#%u", p->row); break;
    case PATTERN_ID: str_addf(s, "@%s", p->text); break;
    }
}

void add_path(struct str *s, const struct path *path)
{
    for (size_t i = 0; i < path->steps.len; i++) {
        const struct path_step *step = &path->steps.data[i];

        str_add(s, i == 0 ? "" : step->far ? " >> " : " > ");
        if (step->any)
            str_addc(s, '*');
        else
            add_pattern(s, &step->pattern);
    }
}

/* ---- expressions ---- */

/* Words that mean something else behind expect. */
static bool begins_expectation(const char *name)
{
    return !strcasecmp(name, "all") || !strcasecmp(name, "any") || !strcasecmp(name, "no") || !strcasecmp(name, "rows");
}

static void add_metric(struct str *s, const struct metric_ref *m)
{
    str_add(s, m->side == SIDE_OLD ? "old" : m->side == SIDE_DELTA ? "delta" : "");
    if (m->alone) {
        str_add(s, m->number == 2 ? ".x" : "");
        return;
    }
    str_add(s, m->side == SIDE_HERE ? "" : ".");
    if (m->number)
        str_addf(s, "$%u", m->number);
    else if (m->quoted || !is_bare_name(m->name) || begins_expectation(m->name)) {
        str_add(s, "metric(");
        print_quoted(s, m->name);
        str_addc(s, ')');
    } else {
        str_add(s, m->name);
    }
    str_add(s, m->exclusive ? ".x" : "");
}

static int level(const struct expr *e)
{
    switch (e->kind) {
    case EXPR_BINARY:
        return e->op == OP_OR    ? LEVEL_OR
               : e->op == OP_AND ? LEVEL_AND
               : e->op >= OP_EQ  ? LEVEL_COMPARISON
               : e->op <= OP_SUB ? LEVEL_SUM
                                 : LEVEL_PRODUCT;
    case EXPR_MATCH: return LEVEL_COMPARISON;
    case EXPR_NOT: return LEVEL_NOT;
    case EXPR_NEGATE: return LEVEL_UNARY;
    default: return LEVEL_PRIMARY;
    }
}

static void add_call(struct str *s, const struct expr *e)
{
    str_addf(s, "%s(", function_words[e->function].name);
    for (size_t i = 0; i < e->args.len; i++) {
        str_add(s, i ? ", " : "");
        add_expr(s, e->args.data[i], LEVEL_OR);
    }
    str_addc(s, ')');
}

/* Chains lean to the left, comparisons do not chain: the right operand, and both of a comparison, bind tighter. */
static void add_binary(struct str *s, const struct expr *e, int own)
{
    add_expr(s, e->left, own == LEVEL_COMPARISON ? own + 1 : own);
    str_addf(s, " %s ", operator_text(e->op));
    add_expr(s, e->right, own + 1);
}

static void add_unquoted_expr(struct str *s, const struct expr *e)
{
    switch (e->kind) {
    case EXPR_NUMBER:
        add_number(s, e->number);
        str_add(s, e->dim == DIM_SECONDS ? "s" : e->dim == DIM_BYTES ? "B" : "");
        break;
    case EXPR_PERCENT:
        add_number(s, e->number);
        str_addc(s, '%');
        break;
    case EXPR_STRING: print_quoted(s, e->string); break;
    case EXPR_METRIC: add_metric(s, &e->metric); break;
    case EXPR_TOTAL:
        str_addc(s, '@');
        if (e->metric.number && e->metric.side == SIDE_HERE)
            str_addf(s, "%u", e->metric.number);
        else
            add_metric(s, &e->metric);
        break;
    case EXPR_ATTRIBUTE: str_add(s, attribute_words[e->attribute].name); break;
    case EXPR_NEGATE:
        str_addc(s, '-');
        add_expr(s, e->left, LEVEL_UNARY);
        break;
    case EXPR_NOT:
        str_add(s, "not ");
        add_expr(s, e->left, LEVEL_NOT);
        break;
    case EXPR_BINARY: add_binary(s, e, level(e)); break;
    case EXPR_MATCH:
        add_expr(s, e->left, LEVEL_SUM);
        str_add(s, e->negated ? " !~ " : " =~ ");
        add_regex(s, &e->regex);
        break;
    case EXPR_CALL: add_call(s, e); break;
    }
}

void add_expr(struct str *s, const struct expr *e, int least)
{
    bool parens = level(e) < least;

    str_add(s, parens ? "(" : "");
    add_unquoted_expr(s, e);
    str_add(s, parens ? ")" : "");
}
