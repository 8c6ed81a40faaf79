/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree, its places, incomplete input, recovery, and what may stand at a place. */
#include "common/mem.h"
#include "common/vec.h"
#include "query/grammar/expected.h"
#include "query/grammar/parse.h"
#include "tests/unit/test.h"

static void script_destroy_at(struct script **s)
{
    script_destroy(*s);
}
#define AUTO_SCRIPT __attribute__((cleanup(script_destroy_at)))

static struct script *parse(const char *text)
{
    struct source source = {"query", text, strlen(text), 1};
    struct script *script;

    CHECK_OK(parse_script(&source, NULL, &script));
    return script;
}

static const struct query *first_query(const struct script *s)
{
    static const struct query none;

    CHECK(s->statements.len > 0 && s->statements.data[0].kind == STATEMENT_QUERY);
    return s->statements.len ? &s->statements.data[0].query : &none;
}

static void check_place(const struct place *p, const char *text)
{
    AUTO_FREE char *got = p->source ? xstrndup(p->source->text + p->offset, p->length) : xstrdup("(no place)");

    CHECK_EQ_STR(got, text);
}

TEST(query_has_its_parts)
{
    AUTO_SCRIPT struct script *s = parse(
        "callers of MPI_* ranks 0-3,7 not through main >> * > \"f g\" where $1 > 5% sort by cputime.x asc limit 10 "
        "as CSV to x.csv");
    const struct query *q = first_query(s);

    CHECK_EQ_INT(q->view.kind, VIEW_CALLERS);
    CHECK_OR_RETURN(q->view.of != NULL);
    CHECK_EQ_STR(q->view.of->text, "MPI_*");
    CHECK(q->view.of->wildcards && !q->view.of->quoted);
    CHECK_EQ_INT(q->samples.ranks.len, 2);
    CHECK_EQ_INT(q->samples.ranks.data[0].last, 3);
    CHECK_EQ_INT(q->samples.ranks.data[1].first, 7);
    CHECK_EQ_INT(q->samples.through.len, 1);
    CHECK(q->samples.through.data[0].negated);
    CHECK_EQ_INT(q->samples.through.data[0].path.steps.len, 3);
    CHECK(q->samples.through.data[0].path.steps.data[1].far && q->samples.through.data[0].path.steps.data[1].any);
    CHECK(!q->samples.through.data[0].path.steps.data[2].far &&
          q->samples.through.data[0].path.steps.data[2].pattern.quoted);
    CHECK_EQ_INT(q->where.len, 1);
    CHECK_EQ_INT(q->where.data[0]->op, OP_GT);
    CHECK_EQ_INT(q->where.data[0]->left->metric.number, 1);
    CHECK_EQ_INT(q->where.data[0]->right->kind, EXPR_PERCENT);
    CHECK_NEAR(q->where.data[0]->right->number, 5, 0);
    CHECK(q->sort.data[0].ascending && q->sort.data[0].expr->metric.exclusive);
    CHECK_EQ_INT(q->limit, 10);
    CHECK_EQ_STR(q->as->format, "csv");
    CHECK_EQ_STR(q->as->file, "x.csv");
}

TEST(defaults)
{
    AUTO_SCRIPT struct script *s = parse("hot path");
    const struct query *q = first_query(s);

    CHECK(q->view.of == NULL && q->samples.during == NULL && q->by == NULL && q->as == NULL &&
          q->samples.compare == NULL);
    CHECK_NEAR(q->threshold, 50, 0);
    CHECK_NEAR(q->samples.scale, 1, 0);
    CHECK_EQ_INT(q->samples.per, PER_USUAL);
    for (int i = 0; i < CLAUSE_KINDS; i++)
        CHECK_EQ_INT(q->given[i].line, 0);
}

TEST(missing_sort_key_has_no_expression)
{
    AUTO_SCRIPT struct script *s = parse("procedures sort by limit 3");
    const struct query *q = first_query(s);

    CHECK_EQ_INT(q->sort.len, 1);
    CHECK(q->sort.data[0].expr == NULL);
    CHECK_EQ_INT(q->limit, 3);
    CHECK_EQ_INT(s->hints.len, 1);
    check_place(&q->given[CLAUSE_SORT], "sort by");
}

TEST(literals_are_in_base_units)
{
    AUTO_SCRIPT struct script *s = parse("procedures columns 200ms, 2MiB, 4K, 10%, 3");
    const struct query *q = first_query(s);
    static const struct {
        double number;
        enum dim dim;
        enum expr_kind kind;
    } want[] = {
        {0.2, DIM_SECONDS, EXPR_NUMBER}, {2097152, DIM_BYTES, EXPR_NUMBER}, {4000, DIM_NONE, EXPR_NUMBER},
        {10, DIM_NONE, EXPR_PERCENT},    {3, DIM_NONE, EXPR_NUMBER},
    };

    CHECK_OR_RETURN(q->columns.len == 5);
    for (size_t i = 0; i < 5; i++) {
        CHECK_NEAR(q->columns.data[i].expr->number, want[i].number, 0);
        CHECK_EQ_INT(q->columns.data[i].expr->dim, want[i].dim);
        CHECK_EQ_INT(q->columns.data[i].expr->kind, want[i].kind);
    }
}

TEST(every_node_has_its_place)
{
    AUTO_SCRIPT struct script *s = parse(
        "tree limit 3\nprocedures of /x/\n  where a + b*2 > if(c, 1, @cputime.x)\n  sort by $1 desc, name");
    const struct query *q = &s->statements.data[1].query;
    const struct expr *e = q->where.data[0];

    CHECK_EQ_INT(s->statements.len, 2);
    check_place(&s->statements.data[0].place, "tree limit 3");
    check_place(&q->view.place, "procedures of /x/");
    check_place(&q->view.of->place, "/x/");
    CHECK_EQ_INT(q->view.of->place.line, 2);
    CHECK_EQ_INT(q->view.of->place.column, 15);
    check_place(&e->place, "a + b*2 > if(c, 1, @cputime.x)");
    CHECK_EQ_INT(e->place.line, 3);
    check_place(&e->op_place, ">");
    check_place(&e->left->right->place, "b*2");
    check_place(&e->right->place, "if(c, 1, @cputime.x)");
    check_place(&e->right->function_place, "if");
    check_place(&e->right->args.data[2]->place, "@cputime.x");
    check_place(&q->sort.data[0].place, "$1 desc");
    check_place(&q->sort.data[1].expr->place, "name");
    check_place(&q->given[CLAUSE_WHERE], "where a + b*2 > if(c, 1, @cputime.x)");
    CHECK_EQ_STR(q->place.source->name, "query");
}

TEST(place_error_shows_the_place)
{
    AUTO_SCRIPT struct script *s = parse("tree\n  where cputim > 5%");
    const struct expr *e = s->statements.data[0].query.where.data[0]->left;

    CHECK_ERROR(
        place_error(&e->place, "did you mean cputime?", "there is no metric \"%s\"", e->metric.name), HQ_USAGE,
        "query:2:9: there is no metric \"cputim\"\n      where cputim > 5%\n            ^~~~~~\ndid you mean cputime?");
}

TEST(incomplete_input)
{
    static const char *const incomplete[] = {
        "tree of",
        "procedures where",
        "procedures where cputime >",
        "procedures columns a,",
        "procedures where (a",
        "tree through a >",
        "let x =",
        "hot",
        "tree limit",
        "tree as csv to",
        "open",
        "explain 90%",
        "tree\n  where",
        "procedures columns if(a,",
        "set lines",
        "tree -- x\n  limit",
        "procedures columns sum(",
    };
    static const char *const complete[] = {
        "",
        "  ",
        "tree",
        "tree;",
        "-- only a comment",
        "procedures sort by",
        "procedures limt",
        "tree of \"x",
        "tree of {{",
        "tree limit x",
        ")",
        "help",
        "tree during 10%..",
        "tree of {{x}}",
        "flat flatten",
        "procedures where >",
        "tree of main limit 3\n",
    };

    for (size_t i = 0; i < sizeof incomplete / sizeof *incomplete; i++)
        if (!parse_is_incomplete(incomplete[i], NULL))
            TEST_FAIL("complete: %s", incomplete[i]);
    for (size_t i = 0; i < sizeof complete / sizeof *complete; i++)
        if (parse_is_incomplete(complete[i], NULL))
            TEST_FAIL("incomplete: %s", complete[i]);
}

TEST(recovery_goes_on_with_the_next_statement)
{
    static const char text[] = "tree\nfla\nflat limit\n)\ntree of \"x\n; lines; ) foo\n  bar\nfiles\n";
    static const int kinds[] = {STATEMENT_QUERY, STATEMENT_WRONG, STATEMENT_WRONG, STATEMENT_WRONG,
                                STATEMENT_WRONG, STATEMENT_QUERY, STATEMENT_WRONG, STATEMENT_QUERY};
    struct source source = {"x.hq", text, sizeof text - 1, 1};
    struct parse_options options = {.recover = true};
    AUTO_SCRIPT struct script *s = NULL;

    CHECK_ERROR(parse_script(&source, &options, &s), HQ_USAGE, "x.hq:2:1: there is no view or statement \"fla\"");
    CHECK_OR_RETURN(s->statements.len == 8);
    for (size_t i = 0; i < 8; i++)
        CHECK_EQ_INT(s->statements.data[i].kind, kinds[i]);
    CHECK(strstr(s->statements.data[2].wrong.text, "x.hq:4:1: the limit is missing before )"));
}

TEST(without_recovery_the_statements_before_the_error_are_there)
{
    struct source source = {"x.hq", "tree\nfla\nflat", 13, 7};
    AUTO_SCRIPT struct script *s = NULL;

    CHECK_ERROR(parse_script(&source, NULL, &s), HQ_USAGE, "x.hq:8:1: ");
    CHECK_EQ_INT(s->statements.len, 1);
}

TEST(redirects_only_at_the_prompt)
{
    struct parse_options prompt = {.prompt = true};
    struct source source = {"prompt", "tree limit 3 | less -S", 22, 1}, file = {"prompt", "tree of x > a.txt", 17, 1};
    AUTO_SCRIPT struct script *a = NULL, *b = NULL, *c = NULL;

    CHECK_OK(parse_script(&source, &prompt, &a));
    CHECK_EQ_STR(a->statements.data[0].pipe.text, "less -S");
    CHECK_OK(parse_script(&file, &prompt, &b));
    CHECK_EQ_STR(b->statements.data[0].redirect.text, "a.txt");
    CHECK_ERROR(parse_script(&source, NULL, &c), HQ_USAGE, "| cannot stand here");
}

TEST(zero_bytes_and_long_input)
{
    static char deep[4000];
    struct source zero = {"q", "tree \0 limit 3", 14, 1};
    AUTO_SCRIPT struct script *a = NULL, *b = NULL;

    CHECK_ERROR(parse_script(&zero, NULL, &a), HQ_USAGE, "no zero byte");
    strcpy(deep, "procedures where ");
    memset(deep + strlen(deep), '(', 3000);
    CHECK_ERROR(parse_script(&(struct source){"q", deep, strlen(deep), 1}, NULL, &b), HQ_USAGE,
                "nested more than 100 deep");
}

/* ---- what may stand at a place ---- */

static bool offers(const struct expected_place *p, enum expected_kind kind, const char *text)
{
    for (size_t i = 0; i < p->set.len; i++)
        if (p->set.items[i].kind == kind && (!text || (p->set.items[i].text && !strcmp(p->set.items[i].text, text))))
            return true;
    return false;
}

static void check_offer(const char *text, enum expected_kind kind, const char *item, size_t start)
{
    struct expected_place p;

    grammar_expected(text, strlen(text), &p);
    if (!offers(&p, kind, item))
        TEST_FAIL("at the end of \"%s\" there is no %s", text,
                  item ? item : expected_text(&(struct expected){.kind = kind}));
    if (p.start != start)
        TEST_FAIL("the word at the end of \"%s\" starts at %zu, not %zu", text, p.start, start);
}

TEST(what_may_stand_here)
{
    check_offer("", EXPECTED_VIEW, "hot path", 0);
    check_offer("pro", EXPECTED_VIEW, "procedures", 0);
    check_offer("", EXPECTED_KEYWORD, "let", 0);
    check_offer("tree; fl", EXPECTED_VIEW, "flat", 6);
    check_offer("tree ", EXPECTED_KEYWORD, "of", 5);
    check_offer("tree ", EXPECTED_CLAUSE, "sort by", 5);
    check_offer("tree so", EXPECTED_CLAUSE, "sort by", 5);
    check_offer("tree sort ", EXPECTED_KEYWORD, "by", 10);
    check_offer("tree sort by ", EXPECTED_METRIC, NULL, 13);
    check_offer("tree sort by cpu", EXPECTED_METRIC, NULL, 13);
    check_offer("tree sort by old.cpu", EXPECTED_METRIC, NULL, 13);
    check_offer("procedures where 4*cyc", EXPECTED_METRIC, NULL, 19);
    check_offer("procedures where cputime > 5% a", EXPECTED_KEYWORD, "and", 30);
    check_offer("callers of MPI_", EXPECTED_PATTERN, NULL, 11);
    check_offer("callers of \"std::ve", EXPECTED_PATTERN, NULL, 12);
    check_offer("tree through main >> ", EXPECTED_PATTERN, NULL, 21);
    check_offer("tree as ", EXPECTED_FORMAT, NULL, 8);
    check_offer("tree as csv to out/x", EXPECTED_OUTPUT_FILE, NULL, 15);
    check_offer("tree compare with ../a/b", EXPECTED_DATABASE, NULL, 18);
    check_offer("open my.hq/", EXPECTED_DATABASE, NULL, 5);
    check_offer("include ", EXPECTED_SCRIPT_FILE, NULL, 8);
    check_offer("run ", EXPECTED_SAVED_QUERY, NULL, 4);
    check_offer("tree ranks ", EXPECTED_RANKS, NULL, 11);
    check_offer("tree ranks 0-", EXPECTED_NUMBER, NULL, 13);
    check_offer("set ", EXPECTED_SETTING, "lines", 4);
    check_offer("set lines ", EXPECTED_KEYWORD, "on", 10);
    check_offer("help so", EXPECTED_HELP_WORD, NULL, 5);
    check_offer("trace ", EXPECTED_VIEW, "summary", 6);
    check_offer("procedures percent of ", EXPECTED_KEYWORD, "shown", 22);
    check_offer("procedures expect ", EXPECTED_KEYWORD, "any", 18);
}

TEST(what_may_stand_in_the_middle)
{
    struct expected_place p;

    grammar_expected("tree li 5 sort by $1", 7, &p);
    CHECK(offers(&p, EXPECTED_CLAUSE, "limit"));
    CHECK_EQ_INT(p.start, 5);
    grammar_expected("procedures ", 11, &p);
    CHECK(!offers(&p, EXPECTED_CLAUSE, "depth"));
    grammar_expected("tree of \"a b\" ", 14, &p);
    CHECK(offers(&p, EXPECTED_CLAUSE, "depth") && !p.quoted);
    grammar_expected("fla flat nonsense tree ", 23, &p);
    CHECK(!offers(&p, EXPECTED_KEYWORD, "of"));
}

TEST_MAIN
