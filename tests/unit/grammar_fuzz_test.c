/* SPDX-License-Identifier: BSD-3-Clause */
/* A short run of the fuzzer of the grammar; tests/fuzz/run goes on for longer. */
#include "tests/unit/grammar_fuzz.h"
#include "common/mem.h"
#include "common/vec.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include "tests/unit/test.h"

/* Which clauses the statements of a text that parses have. */
static void count_clauses(const struct str *text, int *clauses)
{
    struct source source = {"text", text->s, text->len, 1};
    struct parse_options options = {.any_parameter = true, .prompt = true};
    struct script *script;

    hq_error_free(parse_script(&source, &options, &script));
    vec_foreach(s, &script->statements)
        for (int i = 0; s->kind == STATEMENT_QUERY && i < CLAUSE_KINDS; i++)
            clauses[i] += s->query.given[i].line > 0;
    script_destroy(script);
}

TEST(any_text)
{
    AUTO_FREE char *text = grammar_of_sources();
    struct grammar *g = grammar_load(text);
    AUTO_STR struct str s = {0};
    uint64_t state = 1;
    int accepted = 0, wrong = 0, clauses[CLAUSE_KINDS] = {0};

    for (int i = 0; i < 60000 && wrong < 5; i++) {
        bool parses;

        str_clear(&s);
        fuzz_random(g, &state, &s);
        AUTO_FREE char *problem = fuzz_text(str_cstr(&s), s.len, random_below(&state, (uint32_t)s.len + 1), &parses);

        if (problem)
            TEST_FAIL("text %d: %s\n%s", i, problem, str_cstr(&s));
        wrong += problem != NULL;
        accepted += parses;
        if (parses)
            count_clauses(&s, clauses);
    }
    CHECK(accepted > 2000);
    for (int i = 0; i < CLAUSE_KINDS; i++)
        if (clauses[i] < 10)
            TEST_FAIL("only %d statements with `%s`", clauses[i], clause_words[i].name);
    grammar_free(g);
}

TEST_MAIN
