/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subcommands of hq: `hq NAME ...` runs cmd_NAME.run.
 *
 * A subcommand is one file repl/cmd_NAME.c, which exports `const struct command cmd_NAME`, and one row of
 * repl/commands.def. `hq --help`, `hq NAME --help`, the man page and the shell completions are made from these
 * rows, so nothing about a command is written anywhere else.
 */
#ifndef HQ_REPL_COMMAND_H
#define HQ_REPL_COMMAND_H

#include "common/err.h"
#include "common/opt.h"

struct command {
    struct opt_command cmd; /* name, usage (what follows the name), summary, description, options */
    /* The command line is parsed: options and operands. Returns the exit status, enum hq_status (record: the
     * program's). */
    int (*run)(const struct opt_args *args);
};

/*
 * Finds the command of a command line in the table (ended by NULL), answers --help and --version, parses the options
 * and runs it. Returns the exit status.
 */
int command_main(const struct command *const *table, int argc, char **argv); /* dispatch.c */

/* Sets signals and locale, first of all in every hq. */
void command_start(void);

/* The parts of command_main: --help of a command; its options parsed and the command run (the first of argv is the word
 * behind its name); the end of the process, which must have printed what it printed. Each returns the exit status. */
int command_help(const struct command *c);
int command_run(const struct command *c, int argc, char **argv);
int command_end(int status);

/* Columns of the terminal, 80 if standard output is none. */
size_t command_width(void);

/* Is it --help, or what people write for it? */
bool command_asks_for_help(const char *word);

/* The graver of two exit statuses: 3, 2, 1, 4, 0. Any other number is graver than these. */
int exit_worse(int a, int b);

/*
 * Ends a command with an error: prints "hq NAME: sentence" on standard error, frees the error and returns its
 * exit status. NULL gives 0, so that a command may end with `return command_fail("build", error);`.
 */
int command_fail(const char *name, struct hq_error *error);

/* Like command_fail, for operands that are missing or too many, with a pointer to `hq NAME --help`: returns
 * HQ_USAGE. */
int command_usage(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --bisect: the exit status for a commit of which nothing can be said, as `git bisect run` wants it. */
enum { BISECT_SKIP = 125 };

#endif
