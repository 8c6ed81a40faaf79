/* SPDX-License-Identifier: BSD-3-Clause */
/* From the syntax tree back to its canonical text (parse.h). */
#include "query/grammar/lexer.h"
#include "query/grammar/printer.h"
#include "query/grammar/words.h"
#include <string.h>

/* ---- views and clauses ---- */

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
    if (v->on_running)
        str_add(s, " on cputime");
    if (v->frames)
        str_addf(s, " frames %u+1", v->frames - 1);
    if (v->points)
        str_addf(s, " points %u", v->points);
    if (v->instances)
        str_addf(s, " instances %s", v->instances == INSTANCES_ALL ? "all" : "mad");
}

static void (*const clause_printers[CLAUSE_KINDS])(struct str *, const struct query *) = {
#define CLAUSE(kind, clause, ...) [CLAUSE_##kind] = add_##clause,
#include "query/grammar/clauses.def"
#undef CLAUSE
};

static void add_query(struct str *s, const struct query *q)
{
    add_view(s, &q->view);
    for (int i = 0; i < CLAUSE_KINDS; i++)
        clause_printers[i](s, q);
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
