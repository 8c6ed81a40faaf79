/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the command that a command line means; prints help, and what `make install` asks for. */
#include "common/file.h"
#include "common/suggest.h"
#include "query/grammar/words.h"
#include "repl/command.h"
#include "repl/help/help.h"
#include "repl/help/manual.h"
#include "repl/record/record.h"
#include "repl/session.h"
#include "repl/help/shells.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>

const bool record_only = false;

static const struct command *find(const struct command *const *table, const char *name)
{
    for (; *table; table++)
        if (!strcmp((*table)->cmd.name, name))
            return *table;
    return NULL;
}

static int print_text(struct str *text)
{
    fputs(str_cstr(text), stdout);
    return HQ_OK;
}

static int help_overview(const struct command *const *table)
{
    AUTO_STR struct str text = {0};
    size_t width = command_width();

    str_add(&text, "hq: call path profiles that answer questions\n\n"
                   "  hq record -o DB -- PROGRAM ARGS...   measure a program\n"
                   "  hq DB \"hot path\"                     ask its database a question, or several\n"
                   "  hq DB                                ask at a prompt; `help` there says how\n"
                   "  hq DB -f FILE                        ask what stands in a file\n\ncommands:\n");
    for (; *table; table++) {
        str_addf(&text, "  %-12s", (*table)->cmd.name);
        opt_wrap(&text, (*table)->cmd.summary, 14, 14, width);
        str_addc(&text, '\n');
    }
    str_addc(&text, '\n');
    opt_wrap(
        &text,
        "`hq COMMAND --help` explains a command and its options, `hq help language` the query language, `hq help "
        "WORD` a word of it. Exit status: 0 all well, 1 an expectation failed, 2 wrong usage or query, 3 data that "
        "could not be read, 4 inconclusive.",
        0, 0, width);
    str_addc(&text, '\n');
    return print_text(&text);
}

/* Commands of other profilers, and what asks the same here. */
static const struct {
    const char *words, *here;
} elsewhere[] = {
    {" diff compare ", "hq NEW 'procedures compare with OLD' compares two recordings"},
    {" annotate source list ", "hq DB 'source of NAME' shows lines with their costs"},
    {" top flat ", "hq DB 'procedures sort by cputime.x limit 10' ranks procedures"},
    {" stat stats ", "hq record --list shows what can be counted, hq DB metrics what was"},
    {" events ", "hq record --list shows what can be measured"},
    {" script dump ", "hq DB 'tree as folded' writes call paths, hq export other tools' formats"},
    {" view viewer gui web serve show html page open ", "hq report DB writes a page for a browser"},
    {" trace timeline ", "hq DB trace shows what ran when"},
    {" profile run sample collect start attach hpcrun valgrind vtune gprof ", "hq record -o DB -- PROGRAM measures"},
    {" perf pprof ", "hq record -o DB -- PROGRAM measures, hq DB 'hot path' asks"},
    {" frequency freq rate period sampling ", "the rate stands behind the event: hq record -e CPUTIME@99/s"},
    {" merge join combine aggregate ", "hq build A B -o DB joins recordings"},
    {" log ", "hq history DIR tells what changed over the commits"},
    {" clean prune gc ", "hq cache --clear removes what hq keeps"},
    {" convert ", "hq export writes other tools' formats, hq import reads them"},
    {" flame flamegraph ", "hq DB 'tree as svg to FILE' draws one"},
    {" info ", "hq DB info tells what ran"},
    {" summary ", "hq DB summary is the first look"},
};

/* The database that stands behind a question: the other order. NULL: none. */
static const char *database_behind(char **argv)
{
    for (; *argv; argv++)
        if (looks_like_database(*argv))
            return *argv;
    return NULL;
}

static struct hq_error *unknown(const struct command *const *table, const char *word, char **behind)
{
    AUTO(arena_deinit) struct arena arena = {0};
    AUTO_STR struct str text = {0};
    struct dirent **entries;
    struct suggest near;

    if (!strcmp(word, "version"))
        return hq_error_new(HQ_USAGE, "`hq --version` tells the version, `hq DB info` that of a recording");
    int n = scandir(".", &entries, NULL, alphasort);

    const char *db = database_behind(behind);

    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (suggest_lists(elsewhere[i].words, word))
            return hq_error_new(HQ_USAGE, "there is no command '%s': %s", word, elsewhere[i].here);
    if (db)
        return hq_error_new(HQ_USAGE, "there is no command '%s'; the database stands before the question: hq %s \"%s\"",
                            word, db, word);
    if (session_parses(word))
        return hq_error_new(HQ_USAGE, "'%s' is a question, and the database stands before it: hq DB \"%s\"", word,
                            word);
    suggest_init(&near, word, 2);
    for (; *table; table++)
        suggest_add(&near, (*table)->cmd.name);
    for (int i = 0; i < n; i++) {
        if (looks_like_database(entries[i]->d_name) && *entries[i]->d_name != '.')
            suggest_add(&near, arena_strdup(&arena, entries[i]->d_name));
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    str_addf(&text, "there is neither a command nor a database '%s'", word);
    if (near.count)
        suggest_text(&near, &text);
    else
        str_add(&text, "; `hq --help` lists the commands, `hq record` makes a database");
    return hq_error_new(HQ_USAGE, "%s", text.s);
}

/* Which commands have an option of this name; NULL if none has. For `hq help tolerance`, `hq help --tolerance`. */
static struct hq_error *option_of(const struct command *const *table, const char *word)
{
    AUTO_STR struct str commands = {0};
    const char *name = word + strspn(word, "-"), *first = NULL;

    for (; *table; table++)
        for (const struct opt *o = opt_next(&(*table)->cmd, NULL); o; o = opt_next(&(*table)->cmd, o))
            if (!strcmp(o->name, name) && !o->hidden) {
                str_addf(&commands, "%shq %s", commands.len ? ", " : "", (*table)->cmd.name);
                first = first ? first : (*table)->cmd.name;
            }
    return first ? hq_error_new(HQ_USAGE, "there is no help for `%s`; --%s is an option of %s: `hq help %s`", word,
                                name, str_cstr(&commands), first)
                 : NULL;
}

/* The command that was meant: one of another tool, or one that is spelt nearly so; NULL. */
static struct hq_error *command_meant(const struct command *const *table, const char *word)
{
    struct suggest near;

    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (suggest_lists(elsewhere[i].words, word))
            return hq_error_new(HQ_USAGE, "there is no help for `%s`: %s", word, elsewhere[i].here);
    suggest_init(&near, word, 1);
    for (; *table; table++)
        suggest_add(&near, (*table)->cmd.name);
    return near.count ? hq_error_new(HQ_USAGE, "there is no help for `%s`; did you mean %s?", word, near.best[0])
                      : NULL;
}

/* A word that can only be meant as a database, whether it is there or not. */
static bool looks_like_path(const char *word)
{
    return strpbrk(word, "/.") || file_exists(word);
}

static int help(const struct command *const *table, int argc, char **argv)
{
    const struct command *c = argc ? find(table, argv[0]) : NULL;
    AUTO_STR struct str text = {0}, word = {0};

    if (!argc || command_asks_for_help(argv[0]))
        return help_overview(table);
    if (c)
        return command_help(c);
    for (int i = 0; i < argc; i++)
        str_addf(&word, "%s%s", i ? " " : "", argv[i]);
    /* A word of the query language; the complaint knows the commands too. */
    struct hq_error *error = help_word(word.s, &text), *better = NULL;

    if (!error)
        return print_text(&text);
    if (!foreign_statement(word.s) && !(better = option_of(table, word.s)))
        better = command_meant(table, word.s);
    if (better) {
        hq_error_free(error);
        error = better;
    }
    return command_fail("help", error);
}

/* Prints the manual pages and completion scripts, which `make install` asks for. */
static int generate(const struct command *const *table, const char *what, const char *which)
{
    AUTO_STR struct str text = {0};
    struct hq_error *error = NULL;

    if (!strcmp(what, "--completion"))
        error = shell_completion(table, which ? which : "", &text);
    else if (which)
        error = manual_page(table, which, &text);
    else
        manual_list(table, &text);
    return error ? command_fail("", error) : print_text(&text);
}

static int dispatch(const struct command *const *table, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;

    if (!word) {
        command_fail("",
                     hq_error_new(HQ_USAGE, "a command or a database is missing; `hq --help` shows how hq is used"));
        return HQ_USAGE;
    }
    if (command_asks_for_help(word) || !strcmp(word, "help"))
        return help(table, argc - 2, argv + 2);
    if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
        puts("hq " HQ_VERSION);
        return HQ_OK;
    }
    if (!strcmp(word, "--manual") || !strcmp(word, "--completion"))
        return generate(table, word, argv[2]);
    const struct command *c = find(table, word);

    if (c)
        return command_run(c, argc - 2, argv + 2);
    c = find(table, "query");
    if (!c || (*word != '-' && !looks_like_path(word)))
        return command_fail("", unknown(table, word, argv + 2));
    return command_run(c, argc - 1, argv + 1);
}

int command_main(const struct command *const *table, int argc, char **argv)
{
    return command_end(dispatch(table, argc, argv));
}
