/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doc/language.md says what the parser does: its grammar is that of the sources, sentences of it parse, so do its
 * examples, and its tables are those of words.c. HQ_UPDATE=1 writes grammar and tables into the manual.
 */
#include "common/hash.h"
#include "common/mem.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include "tests/unit/grammar_cases.h"
#include "tests/unit/grammar_random.h"
#include "tests/unit/test.h"
#include <glob.h>

static const char manual[] = "doc/language.md";

/* ---- tables ---- */

/* A | in a table cell ends it. */
static void add_cell(struct str *s, const char *text, bool code)
{
    str_add(s, code ? "`" : "");
    for (; *text; text++)
        str_addf(s, *text == '|' ? "\\%c" : "%c", *text);
    str_add(s, code ? "` | " : " |\n");
}

static void add_row(struct str *s, const char *usage, const char *summary)
{
    str_add(s, "| ");
    add_cell(s, usage, true);
    add_cell(s, summary, false);
}

static void add_views(struct str *s)
{
    for (int i = 0; i < VIEW_KINDS; i++) {
        const struct view_word *v = &view_words[i];
        AUTO_STR struct str usage = {0};

        str_add(&usage, v->usage);
        for (size_t k = 0; k < 3 && v->others[k]; k++)
            str_addf(&usage, "`, `%s", v->others[k]);
        add_row(s, str_cstr(&usage), v->summary);
    }
}

static void add_clauses(struct str *s)
{
    for (int i = 0; i < CLAUSE_KINDS; i++)
        add_row(s, clause_words[i].usage, clause_words[i].summary);
}

static void add_statements(struct str *s)
{
    add_row(s, "VIEW CLAUSE ...", "a query");
    for (int i = 0; i < STATEMENT_KINDS; i++)
        if (statement_words[i].name)
            add_row(s, statement_words[i].usage, statement_words[i].summary);
}

static void add_functions(struct str *s)
{
    for (int i = 0; i < FUNCTION_KINDS; i++)
        add_row(s, function_words[i].usage, function_words[i].summary);
}

static void add_attributes(struct str *s)
{
    for (int i = 0; i < ATTRIBUTE_KINDS; i++)
        add_row(s, attribute_words[i].name, attribute_words[i].summary);
}

static void add_settings(struct str *s)
{
    for (int i = 0; i < SETTING_KINDS; i++) {
        const struct setting_word *w = &setting_words[i];
        AUTO_FREE char *summary = xasprintf("%s (at the start: %s)", w->summary, w->words[w->start]);
        AUTO_STR struct str usage = {0};

        setting_usage(i, &usage);
        add_row(s, str_cstr(&usage), summary);
    }
}

static void add_grammar(struct str *s)
{
    AUTO_FREE char *text = grammar_of_sources();
    AUTO_STR struct str seen = {0};

    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n") + 1;
        while (*end == ' ')
            end += strcspn(end, "\n") + 1;
        AUTO_FREE char *production = xasprintf("\n%.*s", (int)(end - line), line);

        if (!strstr(str_cstr(&seen), production)) /* `expect` is a statement and a clause */
            str_addn(s, line, (size_t)(end - line));
        str_addf(&seen, "%s", production);
    }
}

static const struct {
    const char *start, *end, *head;
    void (*add)(struct str *);
} tables[] = {
    {"<!-- statements -->\n", "<!-- end -->", "| statement | |\n|---|---|\n", add_statements},
    {"<!-- views -->\n", "<!-- end -->", "| view | shows |\n|---|---|\n", add_views},
    {"<!-- clauses -->\n", "<!-- end -->", "| clause | meaning |\n|---|---|\n", add_clauses},
    {"<!-- functions -->\n", "<!-- end -->", "| function | |\n|---|---|\n", add_functions},
    {"<!-- attributes -->\n", "<!-- end -->", "| attribute | |\n|---|---|\n", add_attributes},
    {"<!-- settings -->\n", "<!-- end -->", "| setting | |\n|---|---|\n", add_settings},
    {"```ebnf\n", "```", "", add_grammar},
};

TEST(tables_are_those_of_the_parser)
{
    AUTO_FREE char *text = grammar_read(manual);
    AUTO_STR struct str out = {0};
    const char *at = text;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const char *start = strstr(text, tables[i].start),
                   *end = start ? strstr(start + strlen(tables[i].start), tables[i].end) : NULL;

        CHECK_OR_RETURN(start && end && start >= at);
        str_addn(&out, at, (size_t)(start - at));
        str_addf(&out, "%s%s", tables[i].start, tables[i].head);
        tables[i].add(&out);
        at = end;
    }
    str_add(&out, at);
    if (getenv("HQ_UPDATE")) {
        FILE *f = fopen(manual, "w");

        fputs(str_cstr(&out), f);
        fclose(f);
    } else if (strcmp(text, str_cstr(&out))) {
        TEST_FAIL("%s is not up to date: run HQ_UPDATE=1 build/tests/manual_test in the top directory and read the "
                  "difference",
                  manual);
    }
}

/* ---- examples and sentences ---- */

static struct hq_error *parse(const char *name, const char *text)
{
    struct source source = {name, text, strlen(text), 1};
    struct parse_options options = {.any_parameter = true};
    struct script *script;
    struct hq_error *err = parse_script(&source, &options, &script);

    script_destroy(script);
    return err;
}

/* The blocks marked hq of one page; how many. */
static int parse_examples(const char *path)
{
    AUTO_FREE char *text = grammar_read(path);
    int blocks = 0;

    for (char *at = text; (at = strstr(at, "\n```hq\n")); blocks++) {
        char *end = strstr(at + 7, "\n```");

        if (!end)
            return blocks;
        *end = '\0';
        CHECK_OK(parse(path, at + 7));
        at = end + 4;
    }
    return blocks;
}

TEST(examples_parse)
{
    glob_t files;

    CHECK(parse_examples(manual) >= 8);
    CHECK_OR_RETURN(glob("doc/*.md", 0, NULL, &files) == 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        parse_examples(files.gl_pathv[i]);
    globfree(&files);
}

TEST(saved_queries_parse)
{
    glob_t files;

    if (glob("examples/queries/*.hq", 0, NULL, &files) != 0)
        return;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        AUTO_FREE char *text = grammar_read(files.gl_pathv[i]);

        CHECK_OK(parse(files.gl_pathv[i], text));
    }
    globfree(&files);
}

/* What a grammar without attributes cannot say. */
static bool is_about_meaning(const char *message)
{
    static const char *const meanings[] = {
        "has no meaning for", "is given twice",   "contradicts",           "slice is empty",  "runs backwards",
        " argument",          "sorts nothing",    "it needs compare with", "have no parents", "exclusive already",
        "never fewer",        "a factor must be", "takes no number"};

    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strstr(message, meanings[i]))
            return true;
    return false;
}

static bool begins_with_clause(const char *text)
{
    for (int i = 0; i < CLAUSE_KINDS; i++)
        if (!strncmp(text, clause_words[i].name, strlen(clause_words[i].name)))
            return true;
    return false;
}

/*
 * A key of `sort by` that is left out, then a clause that the view has not: its word is free there, and is taken for a
 * metric.
 */
static bool sorts_by_clause(const char *sentence)
{
    const char *keys = strstr(sentence, "sort by ");

    if (!keys)
        return false;
    for (const char *key = keys + strlen("sort by "); key; key = strstr(key, ", "), key += key ? 2 : 0)
        if (begins_with_clause(key))
            return true;
    return false;
}

static void sentences_parse(const struct grammar *g, uint64_t seed)
{
    AUTO_STR struct str s = {0};
    uint64_t state = hash_u64(seed);
    int accepted = 0, wrong = 0;

    for (int i = 0; i < 10000 && wrong < 5; i++) {
        str_clear(&s);
        grammar_sentence(g, "statement", &state, &s);
        AUTO_ERROR struct hq_error *err = parse("sentence", str_cstr(&s));

        accepted += !err;
        if (err && !is_about_meaning(err->message) && !sorts_by_clause(str_cstr(&s))) {
            TEST_FAIL("seed %llu: %s", (unsigned long long)seed, err->message);
            wrong++;
        }
    }
    CHECK(accepted > 2000);
}

TEST(sentences_of_the_grammar_parse)
{
    AUTO_FREE char *text = grammar_of_manual();
    struct grammar *g = grammar_load(text);

    for (uint64_t seed = 1; seed <= 8; seed++)
        sentences_parse(g, seed);
    grammar_free(g);
}

TEST_MAIN
