/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subcommands of hq: `hq NAME ...` runs cmd_NAME.run.
 *
 * A subcommand is one file repl/cmd_NAME.c, which exports `const struct command cmd_NAME`, and one row in the
 * table of repl/main.c. `hq --help`, `hq NAME --help`, the man page and the shell completions are made from these
 * rows, so nothing about a command is written anywhere else.
 */
#ifndef HQ_REPL_COMMAND_H
#define HQ_REPL_COMMAND_H

#include "common/err.h"

struct opt;

struct command {
    const char *name;           /* build */
    const char *summary;        /* half a line, lower case, no full stop: "build the database of a measurement directory" */
    const char *usage;          /* what follows the name: "[-o DB] [--] COMMAND [ARG]..."; further lines are alternatives */
    const char *notes;          /* paragraphs and examples for --help and the man page; NULL: none */
    const struct opt *options;  /* rows of common/opt.h, ended by a zero row; NULL: none */
    /* argv[0] is the command's name, argv[argc] is NULL. Returns the exit status, enum hq_status. */
    int (*run)(int argc, char **argv);
};

/*
 * `hq NAME --help` is answered before run() is called; it counts up to the first word that is no option or
 * to `--`, so `hq record ./a.out --help` reaches a.out.
 */
int command_main(const struct command *const *table, int argc, char **argv);

/* The graver of two exit statuses: 3, 2, 1, 4, 0. Any other number is graver than these. */
int exit_worse(int a, int b);

/*
 * Ends a command with an error: prints "hq NAME: sentence" on standard error, with a pointer to `hq NAME --help` if
 * the usage was wrong, frees the error and returns its exit status. NULL gives 0, so that a command may end with
 * `return command_fail("build", error);`.
 */
int command_fail(const char *name, struct hq_error *error);

#endif
