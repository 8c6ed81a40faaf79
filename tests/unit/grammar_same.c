/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/grammar_same.h"
#include "common/vec.h"
#include "query/grammar/words.h"
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_pattern(const struct pattern *a, const struct pattern *b)
{
    return a->kind == b->kind && same_text(a->text, b->text) && a->wildcards == b->wildcards &&
           a->quoted == b->quoted && a->ignore_case == b->ignore_case && a->row == b->row;
}

static bool same_metric(const struct metric_ref *a, const struct metric_ref *b)
{
    return a->side == b->side && a->number == b->number && same_text(a->name, b->name) &&
           a->exclusive == b->exclusive && a->alone == b->alone;
}

static bool same_expr(const struct expr *a, const struct expr *b)
{
    if (!a || !b || a->kind != b->kind)
        return a == b;
    switch (a->kind) {
    case EXPR_NUMBER: return a->number == b->number && a->dim == b->dim;
    case EXPR_PERCENT: return a->number == b->number;
    case EXPR_STRING: return same_text(a->string, b->string);
    case EXPR_METRIC:
    case EXPR_TOTAL: return same_metric(&a->metric, &b->metric);
    case EXPR_ATTRIBUTE: return a->attribute == b->attribute;
    case EXPR_NEGATE:
    case EXPR_NOT: return same_expr(a->left, b->left);
    case EXPR_BINARY: return a->op == b->op && same_expr(a->left, b->left) && same_expr(a->right, b->right);
    case EXPR_MATCH:
        return a->negated == b->negated && same_expr(a->left, b->left) && same_pattern(&a->regex, &b->regex);
    case EXPR_CALL: break;
    }
    bool same = a->function == b->function && a->args.len == b->args.len;

    for (size_t i = 0; same && i < a->args.len; i++)
        same = same_expr(a->args.data[i], b->args.data[i]);
    return same;
}

static bool same_instant(const struct instant *a, const struct instant *b)
{
    return a->percent == b->percent && a->value == b->value;
}

static bool same_ranges(const number_ranges *a, const number_ranges *b)
{
    bool same = a->len == b->len;

    for (size_t i = 0; same && i < a->len; i++)
        same = a->data[i].first == b->data[i].first && a->data[i].last == b->data[i].last;
    return same;
}

static bool same_slices(const struct during *a, const struct during *b)
{
    if (!a || !b)
        return a == b;
    return a->kind == b->kind && same_instant(&a->from, &b->from) && same_instant(&a->to, &b->to) &&
           a->number == b->number && same_pattern(&a->pattern, &b->pattern);
}

static bool same_path(const struct path *a, const struct path *b)
{
    bool same = a->steps.len == b->steps.len;

    for (size_t i = 0; same && i < a->steps.len; i++)
        same = a->steps.data[i].far == b->steps.data[i].far && a->steps.data[i].any == b->steps.data[i].any &&
               same_pattern(&a->steps.data[i].pattern, &b->steps.data[i].pattern);
    return same;
}

static bool same_expectation(const struct expectation *a, const struct expectation *b)
{
    return a->kind == b->kind && same_expr(a->expr, b->expr) &&
           (a->kind != EXPECT_ROWS || (a->op == b->op && a->rows == b->rows));
}

static bool same_output(const struct output_spec *a, const struct output_spec *b)
{
    return a && b ? same_text(a->format, b->format) && same_text(a->file, b->file) : a == b;
}

/* A key that was left out is the first metric, and is printed so. */
static bool same_key(const struct sort_key *a, const struct sort_key *b)
{
    static struct expr first = {.kind = EXPR_METRIC, .metric = {.number = 1}};

    return a->ascending == b->ascending && same_expr(a->expr ? a->expr : &first, b->expr ? b->expr : &first);
}

#define SAME_LIST(a, b, same_item) \
    ({ \
        bool same_ = (a)->len == (b)->len; \
        for (size_t i_ = 0; same_ && i_ < (a)->len; i_++) \
            same_ = same_item(&(a)->data[i_], &(b)->data[i_]); \
        same_; \
    })

static bool same_through_path(const struct through *a, const struct through *b)
{
    return a->negated == b->negated && same_path(&a->path, &b->path);
}

static bool same_column(const struct column_def *a, const struct column_def *b)
{
    return same_text(a->name, b->name) && same_expr(a->expr, b->expr);
}

static bool same_condition(struct expr *const *a, struct expr *const *b)
{
    return same_expr(*a, *b);
}

static bool same_view(const struct view *a, const struct view *b)
{
    return a->kind == b->kind && (a->of && b->of ? same_pattern(a->of, b->of) : a->of == b->of) &&
           same_instant(&a->at, &b->at) && a->share == b->share && same_expr(a->expr, b->expr) &&
           (a->between && b->between ? same_pattern(a->between, b->between) : a->between == b->between) &&
           a->points == b->points && a->on_running == b->on_running && a->instances == b->instances &&
           SAME_LIST(&a->by, &b->by, same_condition) && a->eps == b->eps && a->least == b->least &&
           a->grouped == b->grouped && a->cluster == b->cluster && a->frames == b->frames;
}

/* Of each clause, what it says in two queries. */
#define SAME(clause, ...) \
    static bool same_##clause(const struct query *a, const struct query *b) \
    { \
        return __VA_ARGS__; \
    }
SAME(ranks, same_ranges(&a->samples.ranks, &b->samples.ranks))
SAME(threads, same_ranges(&a->samples.threads, &b->samples.threads))
SAME(devices, same_ranges(&a->samples.devices, &b->samples.devices))
SAME(per, a->samples.per == b->samples.per)
SAME(during, same_slices(a->samples.during, b->samples.during))
SAME(through, SAME_LIST(&a->samples.through, &b->samples.through, same_through_path))
SAME(prune, SAME_LIST(&a->samples.prune, &b->samples.prune, same_pattern))
SAME(hide, SAME_LIST(&a->samples.hide, &b->samples.hide, same_pattern))
SAME(compare, same_text(a->samples.compare, b->samples.compare))
SAME(scaled, a->samples.scale == b->samples.scale)
SAME(flatten, a->flatten == b->flatten)
SAME(columns, SAME_LIST(&a->columns, &b->columns, same_column))
SAME(where, SAME_LIST(&a->where, &b->where, same_condition))
SAME(matching, SAME_LIST(&a->matching, &b->matching, same_pattern))
SAME(expect, SAME_LIST(&a->expect, &b->expect, same_expectation))
SAME(sort, SAME_LIST(&a->sort, &b->sort, same_key))
SAME(limit, a->limit == b->limit)
SAME(depth, a->depth == b->depth)
SAME(all, a->all == b->all)
SAME(by, same_expr(a->by, b->by))
SAME(threshold, a->threshold == b->threshold)
SAME(percent, a->percent == b->percent)
SAME(level, a->level == b->level)
SAME(width, a->width == b->width)
SAME(height, a->height == b->height)
SAME(as, same_output(a->as, b->as))
#undef SAME

static const char *query_difference(const struct query *a, const struct query *b)
{
    static bool (*const same[CLAUSE_KINDS])(const struct query *, const struct query *) = {
#define CLAUSE(kind, clause, ...) [CLAUSE_##kind] = same_##clause,
#include "query/grammar/clauses.def"
#undef CLAUSE
    };

    if (!same_view(&a->view, &b->view))
        return "the view";
    for (int i = 0; i < CLAUSE_KINDS; i++)
        if (!a->given[i].line != !b->given[i].line || !same[i](a, b))
            return clause_words[i].name;
    return NULL;
}

static bool same_part(const struct group_part *a, const struct group_part *b)
{
    return a->kind == b->kind && same_text(a->group, b->group) && same_ranges(&a->lines, &b->lines) &&
           (a->kind == PART_GROUP || same_pattern(&a->pattern, &b->pattern));
}

static bool same_value(const struct setting_value *a, const struct setting_value *b)
{
    return a->word == b->word && same_text(a->text, b->text) && a->ignore_case == b->ignore_case;
}

const char *grammar_difference(const struct statement *a, const struct statement *b)
{
    bool same = true;

    if (a->kind != b->kind)
        return "the kind of the statement";
    if (!same_text(a->pipe.text, b->pipe.text) || !same_text(a->redirect.text, b->redirect.text) ||
        a->append != b->append)
        return "where the result goes";
    switch (a->kind) {
    case STATEMENT_QUERY: return query_difference(&a->query, &b->query);
    case STATEMENT_LET:
        same = same_text(a->let.name.text, b->let.name.text) && same_expr(a->let.expr, b->let.expr);
        break;
    case STATEMENT_GROUP:
        same = same_text(a->group.name.text, b->group.name.text) &&
               SAME_LIST(&a->group.parts, &b->group.parts, same_part);
        break;
    case STATEMENT_SET: same = a->set.setting == b->set.setting && same_value(&a->set.value, &b->set.value); break;
    case STATEMENT_EXPECT: same = same_expectation(&a->expect, &b->expect); break;
    case STATEMENT_RUN: same = same_text(a->run.text, b->run.text); break;
    case STATEMENT_INCLUDE: same = same_text(a->include.text, b->include.text); break;
    case STATEMENT_OPEN:
        same = same_text(a->open.db.text, b->open.db.text) && same_text(a->open.alias.text, b->open.alias.text);
        break;
    case STATEMENT_LAST: same = same_output(a->last, b->last); break;
    case STATEMENT_HELP: same = same_text(a->help.text, b->help.text); break;
    default: break;
    }
    return same ? NULL : "its operands";
}
