/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/command.h"

/* In the order of `hq --help`: from a first recording to what only few need. */
static const struct command *const table[] = {
    NULL,
};

int main(int argc, char **argv)
{
    return command_main(table, argc, argv);
}
