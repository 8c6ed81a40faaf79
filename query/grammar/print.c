/* SPDX-License-Identifier: BSD-3-Clause */
/* From the syntax tree back to its canonical text (parse.h). */
#include "common/mem.h"
#include "common/str.h"
#include "query/grammar/lexer.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- literals ---- */

/* The shortest decimal number that reads back as the same double; 20, not 2e+01. */
static void add_number(struct str *s, double x)
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

/* A file is bare if the lexer would take it whole and nothing else could be meant. */
static void add_file(struct str *s, const char *file)
{
    if (strcspn(file, " \t\n\r\f\v;\"'{|>") == strlen(file) && strncmp(file, "--", 2) != 0)
        str_add(s, file);
    else
        print_quoted(s, file);
}

static void add_regex(struct str *s, const struct pattern *p)
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

static void add_pattern(struct str *s, const struct pattern *p)
{
    switch (p->kind) {
    case PATTERN_NAME:
        if (stays_bare(p))
            str_add(s, p->text);
        else
            print_quoted(s, p->text);
        break;
    case PATTERN_REGEX: add_regex(s, p); break;
    case PATTERN_ROW: str_addf(s, "#%u", p->row); break;
    case PATTERN_ID: str_addf(s, "@%s", p->text); break;
    }
}

static void add_path(struct str *s, const struct path *path)
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

enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_UNARY, LEVEL_PRIMARY };

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

static void add_expr(struct str *s, const struct expr *e, int least);

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

static void add_expr(struct str *s, const struct expr *e, int least)
{
    bool parens = level(e) < least;

    str_add(s, parens ? "(" : "");
    add_unquoted_expr(s, e);
    str_add(s, parens ? ")" : "");
}

/* ---- views and clauses ---- */

static void add_ranges(struct str *s, const char *word, const number_ranges *list)
{
    for (size_t i = 0; i < list->len; i++) {
        str_addf(s, i ? ",%.0s%u" : " %s %u", word, list->data[i].first);
        if (list->data[i].last != list->data[i].first)
            str_addf(s, "-%u", list->data[i].last);
    }
}

static void add_instant(struct str *s, const struct instant *i)
{
    add_number(s, i->value);
    str_addc(s, i->percent ? '%' : 's');
}

static void add_during(struct str *s, const struct during *d)
{
    str_add(s, " during ");
    if (d->kind == DURING_SLICE) {
        add_instant(s, &d->from);
        str_add(s, "..");
        add_instant(s, &d->to);
        return;
    }
    if (d->kind == DURING_ITERATION)
        str_addf(s, "iteration %u of ", d->number);
    add_pattern(s, &d->pattern);
}

static void add_view(struct str *s, const struct view *v)
{
    str_add(s, view_words[v->kind].name);
    if (v->kind == VIEW_CLUSTERS)
        str_add(s, " of phases");
    if (v->kind == VIEW_TRACE_AT) {
        str_addc(s, ' ');
        add_instant(s, &v->at);
    }
    if (v->kind == VIEW_EXPLAIN) {
        str_addc(s, ' ');
        add_number(s, v->share);
        str_add(s, "% of ");
        add_expr(s, v->expr, LEVEL_OR);
    }
    if (v->between) {
        str_add(s, " between ");
        add_pattern(s, v->between);
    }
    if (v->of) {
        str_add(s, " of ");
        add_pattern(s, v->of);
    }
    if (v->points)
        str_addf(s, " points %u", v->points);
    for (size_t i = 0; i < v->by.len; i++) {
        str_add(s, i ? ", " : " by ");
        add_expr(s, v->by.data[i], LEVEL_OR);
    }
    if (v->eps > 0) {
        str_add(s, " eps ");
        add_number(s, v->eps);
    }
    if (v->least)
        str_addf(s, " min %u", v->least);
    if (v->instances)
        str_addf(s, " instances %s", v->instances == INSTANCES_ALL ? "all" : "mad");
}

static void add_expectation(struct str *s, const struct expectation *e)
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

static void add_output(struct str *s, const struct output_spec *as)
{
    str_add(s, " as ");
    if (is_bare_name(as->format))
        str_add(s, as->format);
    else
        print_quoted(s, as->format);
    if (as->file) {
        str_add(s, " to ");
        add_file(s, as->file);
    }
}

static void add_columns(struct str *s, const struct query *q)
{
    for (size_t i = 0; i < q->columns.len; i++) {
        const struct column_def *c = &q->columns.data[i];

        str_add(s, i ? ", " : " columns ");
        if (c->name)
            str_addf(s, "%s = ", c->name);
        add_expr(s, c->expr, LEVEL_OR);
    }
}

static void add_sort(struct str *s, const struct query *q)
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

/* What chooses samples. */
static void add_selection(struct str *s, const struct query *q)
{
    static const char *const pers[] = {"", "thread", "rank", "host"};

    add_ranges(s, "ranks", &q->ranks);
    add_ranges(s, "threads", &q->threads);
    if (q->per)
        str_addf(s, " per %s", pers[q->per]);
    if (q->during)
        add_during(s, q->during);
    for (size_t i = 0; i < q->through.len; i++) {
        str_add(s, q->through.data[i].negated ? " not through " : " through ");
        add_path(s, &q->through.data[i].path);
    }
    for (size_t i = 0; i < q->prune.len; i++)
        str_add(s, " prune "), add_pattern(s, &q->prune.data[i]);
    for (size_t i = 0; i < q->hide.len; i++)
        str_add(s, " hide "), add_pattern(s, &q->hide.data[i]);
    if (q->compare)
        str_add(s, " compare with "), add_file(s, q->compare);
    if (q->given[CLAUSE_SCALED].line)
        str_add(s, " scaled by "), add_number(s, q->scale);
}

/* What chooses rows. */
static void add_rows(struct str *s, const struct query *q)
{
    if (q->flatten)
        str_addf(s, " flatten %u", q->flatten);
    add_columns(s, q);
    for (size_t i = 0; i < q->where.len; i++)
        str_add(s, " where "), add_expr(s, q->where.data[i], LEVEL_OR);
    for (size_t i = 0; i < q->matching.len; i++)
        str_add(s, " matching "), add_pattern(s, &q->matching.data[i]);
    for (size_t i = 0; i < q->expect.len; i++)
        str_addc(s, ' '), add_expectation(s, &q->expect.data[i]);
    add_sort(s, q);
    if (q->limit)
        str_addf(s, " limit %u", q->limit);
    if (q->depth)
        str_addf(s, " depth %u", q->depth);
    str_add(s, q->all ? " all" : "");
    if (q->by)
        str_add(s, " by "), add_expr(s, q->by, LEVEL_OR);
    if (q->given[CLAUSE_THRESHOLD].line)
        str_add(s, " threshold "), add_number(s, q->threshold), str_addc(s, '%');
}

/* How it is shown. */
static void add_form(struct str *s, const struct query *q)
{
    static const char *const bases[] = {"total", "shown", "parent"};

    if (q->given[CLAUSE_PERCENT].line)
        str_addf(s, " percent of %s", bases[q->percent]);
    if (q->level)
        str_addf(s, " level %u", q->level);
    if (q->width)
        str_addf(s, " width %u", q->width);
    if (q->height)
        str_addf(s, " height %u", q->height);
    if (q->as)
        add_output(s, q->as);
}

static void add_query(struct str *s, const struct query *q)
{
    add_view(s, &q->view);
    add_selection(s, q);
    add_rows(s, q);
    add_form(s, q);
}

/* ---- statements ---- */

void print_setting(struct str *s, enum setting setting, const struct setting_value *v)
{
    struct pattern regex = {.kind = PATTERN_REGEX, .text = v->text, .ignore_case = v->ignore_case};

    if (!v->text)
        str_add(s, setting_words[setting].words[v->word]);
    else if (setting_words[setting].type == TAKES_REGEX)
        add_regex(s, &regex);
    else if (find_setting_word(setting, v->text) >= 0)
        print_quoted(s, v->text);
    else
        add_file(s, v->text);
}

static void add_statement(struct str *s, const struct statement *st)
{
    const struct statement_word *w = &statement_words[st->kind];

    if (st->kind == STATEMENT_QUERY)
        add_query(s, &st->query);
    else if (st->kind == STATEMENT_EXPECT)
        add_expectation(s, &st->expect);
    else if (w->name)
        str_add(s, w->name);
    switch (st->kind) {
    case STATEMENT_LET:
        str_addf(s, " %s = ", st->let.name.text);
        add_expr(s, st->let.expr, LEVEL_OR);
        break;
    case STATEMENT_SET:
        if (st->set.setting != SETTING_NONE) {
            str_addf(s, " %s ", setting_words[st->set.setting].name);
            print_setting(s, st->set.setting, &st->set.value);
        }
        break;
    case STATEMENT_RUN:
        str_addc(s, ' ');
        add_file(s, st->run.text);
        break;
    case STATEMENT_INCLUDE:
        str_addc(s, ' ');
        add_file(s, st->include.text);
        break;
    case STATEMENT_OPEN:
        str_addc(s, ' ');
        add_file(s, st->open.db.text);
        if (st->open.alias.text)
            str_addf(s, " as %s", st->open.alias.text);
        break;
    case STATEMENT_HELP:
        if (st->help.text)
            str_addf(s, " %s", st->help.text);
        break;
    case STATEMENT_LAST:
        if (st->last)
            add_output(s, st->last);
        break;
    default: break;
    }
    if (st->pipe.text)
        str_addf(s, " | %s", st->pipe.text);
    if (st->redirect.text) {
        str_add(s, st->append ? " >> " : " > ");
        add_file(s, st->redirect.text);
    }
}

static const char *keep(struct arena *arena, struct str *s)
{
    return arena_strndup(arena, str_cstr(s), s->len);
}

const char *print_statement(struct arena *arena, const struct statement *st)
{
    AUTO_STR struct str s = {0};

    add_statement(&s, st);
    return keep(arena, &s);
}

const char *print_query(struct arena *arena, const struct query *q)
{
    AUTO_STR struct str s = {0};

    add_query(&s, q);
    return keep(arena, &s);
}

const char *print_expr(struct arena *arena, const struct expr *e)
{
    AUTO_STR struct str s = {0};

    add_expr(&s, e, LEVEL_OR);
    return keep(arena, &s);
}

const char *print_pattern(struct arena *arena, const struct pattern *p)
{
    AUTO_STR struct str s = {0};

    add_pattern(&s, p);
    return keep(arena, &s);
}
