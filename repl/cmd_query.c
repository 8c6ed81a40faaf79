/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq DB ...`: questions from the command line, from files, from standard input, or at a prompt. */
#include "common/file.h"
#include "common/log.h"
#include "common/suggest.h"
#include "common/units.h"
#include "query/grammar/words.h"
#include "repl/command.h"
#include "repl/limits.h"
#include "repl/prompt/prompt.h"
#include "repl/saved.h"
#include "repl/session.h"
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

static const char *const inconclusive_choices[] = {"pass", "fail", "report", NULL};

static const struct opt options[] = {
    {.name = "query",
     .letter = 'q',
     .value = "QUERY",
     .repeats = true,
     .help = "ask QUERY, or run the saved query of this name; several are asked in their order"},
    {.name = "file",
     .letter = 'f',
     .value = "FILE",
     .repeats = true,
     .help = "ask what stands in FILE; - is standard input"},
    {.name = "define",
     .letter = 'D',
     .value = "NAME=VALUE",
     .repeats = true,
     .help = "the value of {{NAME}} in queries"},
    {.name = "keep-going", .letter = 'k', .help = "go on after an error; the exit status is the gravest"},
    {.name = "strict", .help = "a pattern that matches nothing is an error"},
    {.name = "inconclusive",
     .value = "AS",
     .choices = inconclusive_choices,
     .help = "what an expectation counts as that too few samples leave open: pass, fail, or report (status 4, the "
             "default)"},
    {.name = "source-path",
     .value = "DIR[:DIR]...",
     .help =
         "where `source of` looks for source files first; below DIR under the whole compiled path, or its last parts"},
    GROUPS_OPTION,
    {.name = "timing", .help = "say how long each query took"},
    LIMIT_OPTIONS,
    {.name = "quiet", .help = "no hints and no coverage line"},
    {.name = "verbose", .letter = 'v', .help = "say what is being done"},
    {0}};

static const char in_query[] =
    "it is a part of the question, as in hq DB \"procedures where cputime > 1% sort by cputime.x limit 10\"",
                  as_format[] = "write hq DB \"VIEW as FORMAT to FILE\"; `hq help formats` lists them",
                  terminal[] = "answers go to standard output; hq DB without a question opens a prompt";

/* Options of perf report, pprof and gprof. */
static const struct opt_foreign foreign[] = {{"c", "it is -q, --query"},
                                             {"e", "it is -q, --query"},
                                             {"command", "it is -q, --query"},
                                             {"execute", "it is -q, --query"},
                                             {"limit", in_query},
                                             {"sort", in_query},
                                             {"n", in_query},
                                             {"s", in_query},
                                             {"where", in_query},
                                             {"depth", in_query},
                                             {"percent-limit", in_query},
                                             {"nodecount", in_query},
                                             {"nodefraction", in_query},
                                             {"cum", in_query},
                                             {"flat", in_query},
                                             {"tree", in_query},
                                             {"top", in_query},
                                             {"focus", "write hq DB \"tree through NAME\""},
                                             {"ignore", "write hq DB \"tree not through NAME\""},
                                             {"peek", "write hq DB \"callers of NAME\""},
                                             {"list", "write hq DB \"source of NAME\""},
                                             {"symbol-filter", "write hq DB \"tree of NAME\""},
                                             {"callgraph", "write hq DB \"tree as dot to FILE\""},
                                             {"call-graph", "write hq DB \"tree\" or hq DB \"callers\""},
                                             {"g", "write hq DB \"tree\" or hq DB \"callers\""},
                                             {"children", "cputime is inclusive, cputime.x exclusive"},
                                             {"no-children", "cputime is inclusive, cputime.x exclusive"},
                                             {"i", "write hq DB QUERY"},
                                             {"format", as_format},
                                             {"svg", as_format},
                                             {"dot", as_format},
                                             {"text", as_format},
                                             {"json", as_format},
                                             {"csv", as_format},
                                             {"output", as_format},
                                             {"o", as_format},
                                             {"stdio", terminal},
                                             {"tui", terminal},
                                             {"interactive", terminal},
                                             {"diff_base", "write hq DB \"tree compare with OLD\""},
                                             {"base", "write hq DB \"tree compare with OLD\""},
                                             {0}};

static void take_flags(struct session *s, const struct opt_args *args)
{
    const char *inconclusive = opt_value(args, "inconclusive");

    s->keep_going = opt_flag(args, "keep-going", false);
    s->quiet = opt_flag(args, "quiet", false);
    s->strict = opt_flag(args, "strict", false);
    s->source_path = opt_value(args, "source-path");
    s->groups = opt_value(args, "groups");
    s->timing = opt_flag(args, "timing", false);
    if (inconclusive && !strcmp(inconclusive, "pass"))
        s->inconclusive = HQ_OK;
    if (inconclusive && !strcmp(inconclusive, "fail"))
        s->inconclusive = HQ_FAILED;
    log_set_level(s->quiet ? LEVEL_QUIET : opt_flag(args, "verbose", false) ? LEVEL_VERBOSE : LEVEL_NORMAL);
}

/* The names like one that is neither a query nor a saved one. */
struct no_such {
    struct suggest near;
    struct arena arena;
    struct str names;
};

static bool ask(struct session *s, const char *text)
{
    struct source source = {.name = "query", .text = text, .length = strlen(text)};

    return session_text(s, &source);
}

static void add_near(void *arg, const char *name, const char *path)
{
    struct no_such *n = arg;

    (void)path;
    suggest_add(&n->near, arena_strdup(&n->arena, name));
    str_addf(&n->names, "%s%s", n->names.len ? ", " : "", name);
}

static struct hq_error *no_such(const char *word)
{
    struct no_such n = {0};
    AUTO_STR struct str text = {0};

    suggest_init(&n.near, word, 3);
    for (int i = 0; i < VIEW_KINDS; i++)
        suggest_add(&n.near, view_words[i].name);
    AUTO_ERROR struct hq_error *unread = saved_each(add_near, &n);
    if (n.near.count)
        suggest_text(&n.near, &text);
    else
        str_addf(&text, "; the saved ones are %s", str_cstr(&n.names));
    struct hq_error *error = hq_error_new(HQ_USAGE, "`%s` is neither a query nor a saved query%s%s%s", word,
                                          str_cstr(&text), unread ? "; " : "", unread ? unread->message : "");

    str_deinit(&n.names);
    arena_deinit(&n.arena);
    return error;
}

/* `hq my.hq callers of main`: the words of one query, if that is what they are and they are not each a query. */
static bool ask_words(struct session *s, const struct opt_args *args, bool *go_on)
{
    AUTO_STR struct str all = {0};
    bool each = true;

    for (size_t i = 1; i < args->operands.len; i++) {
        str_addf(&all, "%s%s", i > 1 ? " " : "", args->operands.data[i]);
        each = each && session_parses(args->operands.data[i]);
    }
    if (each || args->operands.len < 3 || !session_parses(str_cstr(&all)))
        return false;
    *go_on = ask(s, str_cstr(&all));
    return true;
}

/* -q takes a query or the name of a saved one; a view of that name is the view. */
static bool ask_or_run(struct session *s, const char *text)
{
    bool one_word = text[strcspn(text, " \t\n;")] == '\0';

    if (!one_word || session_parses(text))
        return ask(s, text);
    return saved_exists(text) ? session_saved(s, text) : session_error(s, no_such(text));
}

/* Everything that the command line asks, in its order, -f and -q before plain queries; false after an error that ends
 * it. */
static bool ask_all(struct session *s, const struct opt_args *args)
{
    bool go_on = true;

    vec_foreach(g, &args->given) {
        if (!go_on || s->quit)
            break;
        if (!strcmp(g->opt->name, "query"))
            go_on = ask_or_run(s, g->value);
        else if (!strcmp(g->opt->name, "file"))
            go_on = session_file(s, g->value);
    }
    if (!go_on || s->quit || ask_words(s, args, &go_on))
        return go_on;
    for (size_t i = 1; go_on && !s->quit && i < args->operands.len; i++) {
        const char *text = args->operands.data[i];

        go_on = strcmp(text, "-") ? ask(s, text) : session_file(s, text);
    }
    return go_on;
}

/* `hq my.hq procedures where cputime > 5%` without quotes: the shell has sent the answer to a file `5%`, and the
 * question has no condition. */
static void note_redirection(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/fd/1", path, sizeof path - 1);
    struct quantity q;
    struct stat st;

    if (n < 0 || fstat(STDOUT_FILENO, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    path[n] = '\0';
    const char *name = file_basename(path);
    AUTO_ERROR struct hq_error *error = units_parse(name + (*name == '='), &q);

    if (!error)
        log_hint(
            "the answer goes to the file `%s`: if the shell took that from the question, put the question in quotes",
            name);
}

/* A first question that is a database, and no view has such a name. */
static const char *second_database(const struct opt_args *args)
{
    const char *first = args->operands.len > 1 ? args->operands.data[1] : "";

    return strpbrk(first, "./") && looks_like_database(first) ? first : NULL;
}

static void answer(struct session *s, const struct opt_args *args)
{
    const char *other = opt_count(args, "query") || opt_count(args, "file") ? NULL : second_database(args);

    if (other)
        s->status = command_usage("query",
                                  "questions are asked of one database: hq %s 'tree compare with \"%s\"' compares two",
                                  args->operands.data[0], other);
    else if (opt_count(args, "query") || opt_count(args, "file") || args->operands.len > 1)
        note_redirection(), ask_all(s, args);
    else if (isatty(STDIN_FILENO))
        prompt_run(s);
    else if (fcntl(STDIN_FILENO, F_GETFD) < 0)
        s->status = command_usage("query", "no question is asked, and standard input is closed");
    else
        session_file(s, "-");
    if (!s->prompt && !s->status)
        session_unused_parameters(s);
}

static int run(const struct opt_args *args)
{
    struct arena arena = {0};
    struct session s;

    if (!args->operands.len)
        return command_usage("query", "the database is missing");
    if (args->operands.len > 1 && file_is_absent(args->operands.data[0]) && session_parses(args->operands.data[0]) &&
        looks_like_database(args->operands.data[1]))
        return command_usage("query", "the database stands before the question: hq %s \"%s\"", args->operands.data[1],
                             args->operands.data[0]);
    /* `| head` is to end us silently, whatever the parent thought of SIGPIPE. */
    signal(SIGPIPE, SIG_DFL);
    session_init(&s);
    take_flags(&s, args);
    struct hq_error *error = limits_take(args);

    if (!error)
        error = session_options(&s);
    if (!error)
        error = session_parameters(&s, args, &arena);

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
    .cmd =
        {
            .name = "query",
            .usage = "DB [QUERY]... [-q QUERY|NAME] [-f FILE] [-D NAME=VALUE]...",
            .summary = "ask a database; the word `query` may be left out",
            .description =
                "Asks the questions given, each a text in the query language, in quotes (one question may go without). "
                "Without any it opens a prompt, or reads "
                "them from standard input if that is no terminal. DB is a directory made by `hq record`; the first "
                "question builds "
                "its database.\n\n"
                "In double quotes a shell replaces $1 by nothing: write cputime for it, or use single quotes.",
            .examples = "  hq my.hq \"hot path\" \"procedures limit 10\"\n"
                        "  hq my.hq \"callers of MPI_Wait where cputime > 1%\"\n"
                        "  hq my.hq \"tree compare with old.hq\"\n"
                        "  hq my.hq \"procedures as csv to procedures.csv\"\n"
                        "  hq my.hq -q imbalance\n"
                        "  hq my.hq -q inside -D procedure=exchange\n"
                        "  hq my.hq\n",
            .options = options,
            .foreign = foreign,
        },
    .run = run,
};
