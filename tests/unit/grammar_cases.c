/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/grammar_cases.h"
#include "common/mem.h"
#include "common/vec.h"
#include "query/grammar/parse.h"
#include <stdio.h>
#include <stdlib.h>

static const struct parameter parameters[] = {
    {"proc", "MPI_Wait"}, {"odd", "std::vector<int>::size()"},
    {"share", "5%"},      {"sum", "cycles + 1"},
    {"empty", ""},        {"wrong", "cycles )"},
    {"list", "0-3,7"},    {"n", "3"},
    {"re", "/^mpi/i"},    {"path", "a b/old.hq"},
};

static struct hq_error *parse(const char *text, struct script **script)
{
    struct source source = {"query", text, strlen(text), 1};
    struct parse_options options = {.parameters = parameters,
                                    .parameter_count = sizeof parameters / sizeof *parameters};

    return parse_script(&source, &options, script);
}

/* Statements of several lines would not be canonical, so a text that is printed differently the second time is kept. */
static void check_stable(const char *canonical, char **unstable)
{
    struct script *again;
    struct hq_error *err = parse(canonical, &again);
    const char *text = err || again->statements.len != 1 ? ""
                                                         : print_statement(&again->arena, &again->statements.data[0]);

    if (strcmp(text, canonical) && !*unstable)
        *unstable = xstrdup(canonical);
    hq_error_free(err);
    script_destroy(again);
}

void grammar_show(const char *text, struct str *out, char **unstable)
{
    struct script *script;
    struct hq_error *err = parse(text, &script);

    *unstable = NULL;
    vec_foreach(s, &script->statements) {
        const char *canonical = print_statement(&script->arena, s);

        str_addf(out, "%s\n", canonical);
        check_stable(canonical, unstable);
    }
    vec_foreach(h, &script->hints)
        str_addf(out, "hint: %s\n", h->text);
    if (err)
        str_addf(out, "%s\n", err->message);
    hq_error_free(err);
    script_destroy(script);
}

char *grammar_read(const char *path)
{
    struct str text = {0};
    FILE *f = fopen(path, "r");
    char part[4096];
    size_t n;

    if (!f) {
        perror(path);
        exit(1);
    }
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        str_addn(&text, part, n);
    fclose(f);
    return str_steal(&text);
}
