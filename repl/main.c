/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of commands, and the start of hq. */
#include "repl/command.h"
#include <stddef.h>

#define COMMAND(name) extern const struct command cmd_##name;
#include "repl/commands.def"
#undef COMMAND

static const struct command *const table[] = {
#define COMMAND(name) &cmd_##name,
#include "repl/commands.def"
#undef COMMAND
    NULL,
};

int main(int argc, char **argv)
{
    command_start();
    return command_main(table, argc, argv);
}
