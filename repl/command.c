/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/command.h"
#include "common/file.h"
#include "common/progress.h"
#include "common/suggest.h"
#include "repl/help.h"
#include "repl/manual.h"
#include "repl/session.h"
#include "repl/shells.h"
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int exit_worse(int a, int b)
{
    static const char order[] = {HQ_OK, HQ_INCONCLUSIVE, HQ_FAILED, HQ_USAGE, HQ_DATA};
    const char *x = memchr(order, a, sizeof order), *y = memchr(order, b, sizeof order);

    if (!x || !y)
        return x ? b : a;
    return x > y ? a : b;
}

static void print_error(const char *name, const char *message)
{
    progress_hide();
    fflush(stdout);
    AUTO_FREE char *line = xasprintf("hq%s%s: %s", *name ? " " : "", name, message);

    utf8_put_line(line, stderr);
}

int command_fail(const char *name, struct hq_error *error)
{
    if (!error)
        return HQ_OK;
    int status = error->status;

    print_error(name, error->message);
    hq_error_free(error);
    return status;
}

int command_usage(const char *name, const char *fmt, ...)
{
    AUTO_STR struct str text = {0};
    va_list ap;

    va_start(ap, fmt);
    str_vaddf(&text, fmt, ap);
    va_end(ap);
    str_addf(&text, "; `hq %s --help` shows how it is used", name);
    print_error(name, text.s);
    return HQ_USAGE;
}

static const struct command *find(const struct command *const *table, const char *name)
{
    for (; *table; table++)
        if (!strcmp((*table)->cmd.name, name))
            return *table;
    return NULL;
}

static size_t terminal_width(void)
{
    struct winsize size;

    return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

static int print_text(struct str *text)
{
    fputs(str_cstr(text), stdout);
    return HQ_OK;
}

static int help_command(const struct command *c)
{
    AUTO_STR struct str text = {0};

    opt_help(&c->cmd, "hq", terminal_width(), &text);
    return print_text(&text);
}

static int help_overview(const struct command *const *table)
{
    AUTO_STR struct str text = {0};
    size_t width = terminal_width();

    str_add(&text, "hq: call path profiles that answer questions\n\n"
                   "  hq record -o DB -- PROGRAM ARGS...   measure a program\n"
                   "  hq DB \"hot path\"                     ask its database a question (or several)\n"
                   "  hq DB                                ask at a prompt; `help` there explains the language\n"
                   "  hq DB -f FILE                        ask what stands in a file\n\ncommands:\n");
    for (; *table; table++) {
        str_addf(&text, "  %-12s", (*table)->cmd.name);
        opt_wrap(&text, (*table)->cmd.summary, 14, 14, width);
        str_addc(&text, '\n');
    }
    str_add(
        &text,
        "\n`hq COMMAND --help` explains a command and its options, `hq help language` the query language, `hq help\n"
        "WORD` a word of it. Exit status: 0 all well, 1 an expectation failed, 2 wrong usage or query, 3 data that\n"
        "could not be read, 4 inconclusive.\n");
    return print_text(&text);
}

/* Whether help is asked for: not in the words of a program that a command starts. */
static bool wants_help(const struct command *c, int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--"); i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return true;
        if (c->cmd.stops_at_operand && argv[i][0] != '-')
            return false;
    }
    return false;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct opt_args args;
    struct hq_error *error;

    if (wants_help(c, argc, argv))
        return help_command(c);
    error = opt_parse(&c->cmd, argc, argv, &args);
    int status = error ? command_fail(c->cmd.name, error) : c->run(&args);

    opt_args_deinit(&args);
    return status;
}

static struct hq_error *unknown(const struct command *const *table, const char *word)
{
    AUTO(arena_deinit) struct arena arena = {0};
    AUTO_STR struct str text = {0};
    struct dirent **entries;
    struct suggest near;

    if (!strcmp(word, "version"))
        return hq_error_new(HQ_USAGE, "`hq --version` tells the version, `hq DB info` that of a recording");
    int n = scandir(".", &entries, NULL, alphasort);

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

/* Whether a command is near enough to be what was meant. */
static bool suggested(const struct command *const *table, const char *word)
{
    struct suggest near;

    suggest_init(&near, word, 1);
    for (; *table; table++)
        suggest_add(&near, (*table)->cmd.name);
    return near.count;
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

    if (!argc)
        return help_overview(table);
    if (c)
        return help_command(c);
    for (int i = 0; i < argc; i++)
        str_addf(&word, "%s%s", i ? " " : "", argv[i]);
    /* A word of the query language; the complaint knows the commands too. */
    struct hq_error *error = help_word(word.s, &text);

    if (!error)
        return print_text(&text);
    if (suggested(table, argv[0])) {
        hq_error_free(error);
        error = unknown(table, argv[0]);
    }
    return command_fail("help", error);
}

/* What `make install` asks for: the manual pages and completion scripts. */
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
    if (!strcmp(word, "--help") || !strcmp(word, "-h"))
        return help(table, 0, NULL);
    if (!strcmp(word, "help"))
        return help(table, argc - 2, argv + 2);
    if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
        puts("hq " HQ_VERSION);
        return HQ_OK;
    }
    if (!strcmp(word, "--manual") || !strcmp(word, "--completion"))
        return generate(table, word, argv[2]);
    const struct command *c = find(table, word);

    if (c)
        return run(c, argc - 2, argv + 2);
    c = find(table, "query");
    if (!c || (*word != '-' && !looks_like_path(word)))
        return command_fail("", unknown(table, word));
    return run(c, argc - 1, argv + 1);
}

int command_main(const struct command *const *table, int argc, char **argv)
{
    int status = dispatch(table, argc, argv);

    /* What was printed must have arrived; results of queries have complained already. */
    if ((fflush(stdout) || ferror(stdout)) && status != HQ_DATA)
        return command_fail("", hq_error_errno(HQ_DATA, "cannot write to standard output"));
    return status;
}
