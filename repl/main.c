/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of commands, and the start of hq. */
#include "repl/command.h"
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <string.h>

#define COMMAND(name) extern const struct command cmd_##name;
#include "repl/commands.def"
#undef COMMAND

static const struct command *const table[] = {
#define COMMAND(name) &cmd_##name,
#include "repl/commands.def"
#undef COMMAND
    NULL,
};

static void do_nothing(int signal)
{
    (void)signal;
}

int main(int argc, char **argv)
{
    /* A file that grows beyond the limit of the shell (ulimit -f) is an error of its write. Not SIG_IGN, which programs
     * that are started would inherit. */
    struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};

    sigaction(SIGXFSZ, &action, NULL);
    /*
     * For the characters of the terminal and their width only: numbers are written and read with a point, and letters
     * are compared as everywhere. In Turkish `LIMIT` is not `limit`.
     */
    setlocale(LC_CTYPE, "");
    setlocale(LC_CTYPE, strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? "C.UTF-8" : "C");
    return command_main(table, argc, argv);
}
