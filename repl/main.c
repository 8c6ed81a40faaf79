/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/command.h"
#include <locale.h>

extern const struct command cmd_build;
extern const struct command cmd_check;
extern const struct command cmd_export;
extern const struct command cmd_import;
extern const struct command cmd_query;
extern const struct command cmd_record;
extern const struct command cmd_verify;
extern const struct command cmd_structure;

/* In the order of `hq --help`: from a first recording to what only few need. */
static const struct command *const table[] = {
    &cmd_record,
    &cmd_query,
    &cmd_check,
    &cmd_build,
    &cmd_verify,
    &cmd_import,
    &cmd_export,
    &cmd_structure,
    NULL,
};

int main(int argc, char **argv)
{
    /* For the width of characters only: numbers are written and read with a point. */
    setlocale(LC_CTYPE, "");
    return command_main(table, argc, argv);
}
