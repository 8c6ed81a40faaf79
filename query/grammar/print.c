/* SPDX-License-Identifier: BSD-3-Clause */
/* From the syntax tree back to its canonical text (parse.h). */
#include "query/grammar/lexer.h"
#include "query/grammar/printer.h"
#include "query/grammar/words.h"
#include <string.h>

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
    if (v->cluster)
        str_addf(s, " of cluster %u", v->cluster);
    if (v->kind == VIEW_CLUSTERS || ((v->kind == VIEW_TRACE_CLUSTERS || v->cluster) && (v->of || v->between)))
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
    if (v->grouped > (v->kind == VIEW_GROUPS ? GROUPED_DEFINED : GROUPED_NOT))
        str_addf(s, " by %s", grouped_words[v->grouped]);
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
    if (v->frames)
        str_addf(s, " frames %u+1", v->frames - 1);
    if (v->points)
        str_addf(s, " points %u", v->points);
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
    add_ranges(s, "devices", &q->devices);
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

/* ---- groups ---- */

static void add_group_name(struct str *s, const char *name)
{
    if (is_bare_name(name))
        str_add(s, name);
    else
        print_quoted(s, name);
}

static void add_group_part(struct str *s, const struct group_part *part)
{
    static const char *const words[] = {[PART_SCOPES] = "",
                                        [PART_FILES] = "files of ",
                                        [PART_MODULES] = "modules of ",
                                        [PART_LOOPS] = "loops of ",
                                        [PART_LINES] = "of "};

    if (part->kind == PART_GROUP) {
        str_add(s, " group ");
        add_group_name(s, part->group);
        return;
    }
    if (part->kind == PART_LINES)
        add_ranges(s, "lines", &part->lines);
    str_addf(s, " %s", words[part->kind]);
    add_pattern(s, &part->pattern);
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
    case STATEMENT_GROUP:
        str_addc(s, ' ');
        add_group_name(s, st->group.name.text);
        for (size_t i = 0; i < st->group.parts.len; i++) {
            str_add(s, i ? "," : " =");
            add_group_part(s, &st->group.parts.data[i]);
        }
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
        if (is_file_name(st->redirect.text))
            add_file(s, st->redirect.text);
        else
            print_quoted(s, st->redirect.text);
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
