/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hq of `make collector`, which records and nothing else: it needs the C library alone, and another hq answers, on
 * this machine or elsewhere. What `hq record` asks of other rooms for --mark and --runs is here what can be done
 * without them.
 */
#include "common/mem.h"
#include "repl/command.h"
#include "repl/gate/runs.h"
#include "repl/record/record.h"

#include <stdio.h>
#include <string.h>

const bool record_only = true;

extern const struct command cmd_record;

static const char *const others[] = {
#define COMMAND(name) #name,
#include "repl/commands.def"
#undef COMMAND
};

struct hq_error *record_find_marks(const struct opt_args *args, const char *program, struct str *places)
{
    (void)program;
    (void)places;
    if (!opt_count(args, "mark") && !opt_count(args, "mark-in"))
        return NULL;
    return hq_error_new(HQ_USAGE, "--mark reads the program's machine code, which an hq that only records (make "
                                  "collector) cannot: record with a whole hq");
}

/* The first question to the set does so. */
struct hq_error *run_set_join(const struct run_set *set)
{
    (void)set;
    return NULL;
}

static int overview(void)
{
    puts("hq: call path profiles; this one was built to record and nothing else (make collector)\n\n"
         "  hq record -o DB --with-binaries -- PROGRAM ARGS...   measure a program, to ask on another machine\n"
         "  hq record -o DB -- PROGRAM ARGS...                   measure it, to ask where its files are\n\n"
         "`hq record --help` explains all options. DB is a directory; a whole hq answers questions about it wherever\n"
         "it has been copied to: hq DB \"hot path\".");
    return HQ_OK;
}

/* Whatever else an hq is asked for. */
static int refuse(const char *word)
{
    bool is_command = false;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is_command |= !strcmp(word, others[i]);
    return command_fail("", hq_error_new(HQ_USAGE,
                                         "%s%s%s: this hq records and nothing else (make collector); ask a whole hq, "
                                         "here or on another machine, where DB brings its binaries along if it was "
                                         "recorded --with-binaries",
                                         is_command ? "`hq " : "", word, is_command ? "`" : ""));
}

static int dispatch(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    if (!*word)
        return command_fail("", hq_error_new(HQ_USAGE, "a command is missing; `hq --help` shows how this hq is used"));
    if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
        puts("hq " HQ_VERSION);
        return HQ_OK;
    }
    if (!strcmp(word, "record"))
        return command_run(&cmd_record, argc - 2, argv + 2);
    if (!strcmp(word, "help") && argc > 2)
        return strcmp(argv[2], "record") ? refuse(argv[2]) : command_help(&cmd_record);
    if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h"))
        return overview();
    return refuse(word);
}

int main(int argc, char **argv)
{
    command_start();
    return command_end(dispatch(argc, argv));
}
