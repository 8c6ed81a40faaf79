/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq DB ...`: questions from the command line, from files, from standard input, or at a prompt. */
#include "common/file.h"
#include "common/log.h"
#include "repl/command.h"
#include "repl/prompt.h"
#include "repl/saved.h"
#include "repl/session.h"
#include <signal.h>
#include <string.h>

static const char *const inconclusive_choices[] = {"pass", "fail", "report", NULL};

static const struct opt options[] = {
    {.name = "query", .letter = 'q', .value = "QUERY", .repeats = true,
     .help = "ask QUERY, or run the saved query of this name; several are asked in their order"},
    {.name = "file", .letter = 'f', .value = "FILE", .repeats = true,
     .help = "ask what stands in FILE; - is standard input"},
    {.name = "define", .letter = 'D', .value = "NAME=VALUE", .repeats = true, .help = "the value of {{NAME}} in queries"},
    {.name = "keep-going", .letter = 'k', .help = "go on after an error; the exit status is the gravest"},
    {.name = "strict", .help = "a pattern that matches nothing is an error"},
    {.name = "inconclusive", .value = "AS", .choices = inconclusive_choices,
     .help = "what an expectation counts as that too few samples leave open: pass, fail, or report (status 4, the default)"},
    {.name = "source-path", .value = "DIR[:DIR]...",
     .help = "where `source of` looks for source files first; below DIR under the whole compiled path, or its last parts"},
    {.name = "timing", .help = "say how long each query took"},
    {.name = "quiet", .help = "no hints and no coverage line"},
    {.name = "verbose", .letter = 'v', .help = "say what is being done"},
    {0}
};

static void take_flags(struct session *s, const struct opt_args *args)
{
    const char *inconclusive = opt_value(args, "inconclusive");

    s->keep_going = opt_flag(args, "keep-going", false);
    s->quiet = opt_flag(args, "quiet", false);
    s->strict = s->env.strict = opt_flag(args, "strict", false);
    s->env.source_path = opt_value(args, "source-path");
    s->timing = opt_flag(args, "timing", false);
    if (inconclusive && !strcmp(inconclusive, "pass"))
        s->inconclusive = HQ_OK;
    if (inconclusive && !strcmp(inconclusive, "fail"))
        s->inconclusive = HQ_FAILED;
    log_set_level(s->quiet ? LEVEL_QUIET : opt_flag(args, "verbose", false) ? LEVEL_VERBOSE : LEVEL_NORMAL);
}

static bool ask(struct session *s, const char *text)
{
    struct source source = {.name = "query", .text = text, .length = strlen(text)};

    return session_text(s, &source);
}

/* -q takes a query or the name of a saved one; a view of that name is the view. */
static bool ask_or_run(struct session *s, const char *text)
{
    bool one_word = text[strcspn(text, " \t\n;")] == '\0';
    struct source source = {.name = "query", .text = text, .length = strlen(text)};
    struct script *script;

    if (!one_word || !saved_exists(text))
        return ask(s, text);
    struct hq_error *error = parse_script(&source, NULL, &script);

    script_destroy(script);
    hq_error_free(error);
    return error ? session_saved(s, text) : ask(s, text);
}

/* Everything that the command line asks, in its order, -f and -q before plain queries; false after an error that ends it. */
static bool ask_all(struct session *s, const struct opt_args *args)
{
    bool go_on = true;

    vec_foreach (g, &args->given) {
        if (!go_on || s->quit)
            break;
        if (!strcmp(g->opt->name, "query"))
            go_on = ask_or_run(s, g->value);
        else if (!strcmp(g->opt->name, "file"))
            go_on = session_file(s, g->value);
    }
    for (size_t i = 1; go_on && !s->quit && i < args->operands.len; i++)
        go_on = ask(s, args->operands.data[i]);
    return go_on;
}

static void answer(struct session *s, const struct opt_args *args)
{
    if (opt_count(args, "query") || opt_count(args, "file") || args->operands.len > 1)
        ask_all(s, args);
    else if (isatty(STDIN_FILENO))
        prompt_run(s);
    else
        session_file(s, "-");
}

static int run(const struct opt_args *args)
{
    struct arena arena = {0};
    struct session s;

    if (!args->operands.len)
        return command_usage("query", "the database is missing");
    /* `| head` is to end us silently, whatever the parent thought of SIGPIPE. */
    signal(SIGPIPE, SIG_DFL);
    session_init(&s);
    take_flags(&s, args);
    struct hq_error *error = session_parameters(&s, args, &arena);

    if (!error)
        error = session_open(&s, args->operands.data[0], NULL);
    if (error)
        s.status = command_fail("", error);
    else
        answer(&s, args);
    int status = s.status;

    session_deinit(&s);
    arena_deinit(&arena);
    return status;
}

const struct command cmd_query = {
    .cmd = {
        .name = "query",
        .usage = "DB [QUERY]... [-q QUERY|NAME] [-f FILE] [-D NAME=VALUE]...",
        .summary = "ask a database; the word `query` may be left out",
        .description =
            "Asks the questions given, each a text in the query language, in quotes. Without any it opens a prompt, or reads "
            "them from standard input if that is no terminal. DB is a directory made by `hq record`; the first question builds "
            "its database.\n\n"
            "In double quotes a shell replaces $1 by nothing: write cputime for it, or use single quotes.",
        .options = options,
    },
    .run = run,
};
