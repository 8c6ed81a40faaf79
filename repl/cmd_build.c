/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq build`: makes the database of measurements without asking a question. */
#include "repl/command.h"

#include "common/log.h"
#include "common/mem.h"
#include "common/vec.h"
#include "db/build/build.h"

#include <stdio.h>

static const struct opt options[] = {
    {.name = "output",
     .letter = 'o',
     .value = "DB",
     .help = "where the database goes: a directory or a file; of one MEASUREMENTS without it into it"},
    {.name = "jobs", .letter = 'j', .value = "N", .help = "how many threads work on it; without it one per processor"},
    {.name = "force", .letter = 'f', .help = "build it even if it is up to date"},
    {.name = "clock-offsets",
     .value = "FILE",
     .help = "add these times to the clocks of hosts: lines like `host node2 -1.5ms` or `rank 3 250us`"},
    {.name = "structure",
     .value = "FILE",
     .repeats = true,
     .help = "structure from outside, in the form of `hq structure --xml`, for the load modules of its build-ids"},
    {.name = "structure-by-name", .help = "take it for load modules of its names, too, whatever their build-ids"},
    {.name = "with-source", .help = "keep the texts of the source files in the database"},
    {.name = "loops", .negatable = true, .help = "recover loops from machine code (the default)"},
    {.name = "structure-cache",
     .negatable = true,
     .help = "keep what was found out about binaries for the next time (the default)"},
    {.name = "quiet", .help = "no notes and no progress"},
    {.name = "verbose", .letter = 'v', .help = "say what is being done"},
    {.name = NULL},
};

static struct hq_error *parse_jobs(const struct opt_args *args, int *out)
{
    const char *text = opt_value(args, "jobs");
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;

    if (text && (!*text || *end || n < 1 || n > 1024))
        return hq_error_new(HQ_USAGE, "--jobs takes a number from 1 to 1024, not `%s`", text);
    *out = (int)n;
    return NULL;
}

static int run(const struct opt_args *args)
{
    struct build_options build = {
        .output = opt_value(args, "output"),
        .clock_offsets = opt_value(args, "clock-offsets"),
        .force = opt_flag(args, "force", false) || opt_value(args, "clock-offsets"),
        .with_source = opt_flag(args, "with-source", false),
        .no_loops = !opt_flag(args, "loops", true),
        .no_structure_cache = !opt_flag(args, "structure-cache", true),
    };
    AUTO_FREE char *written = NULL;
    VEC(const char *) structures = {0};
    struct hq_error *err;

    for (size_t i = 0; i < opt_count(args, "structure"); i++)
        vec_push(&structures, opt_value_at(args, "structure", i));
    build.structures = structures.data;
    build.structure_count = structures.len;
    build.structure_by_name = opt_flag(args, "structure-by-name", false);

    log_set_level(opt_flag(args, "quiet", false)     ? LEVEL_QUIET
                  : opt_flag(args, "verbose", false) ? LEVEL_VERBOSE
                                                     : LEVEL_NORMAL);
    /* A database that is there already does not have what these options ask for. */
    build.force |= build.with_source || build.no_loops || build.structure_count;
    /* In the first of several it would be taken for that one's own, which its next question makes again. */
    if (!args->operands.len || (args->operands.len > 1 && !build.output)) {
        vec_deinit(&structures);
        return command_usage("build", args->operands.len
                                          ? "several are joined into a database of its own: -o DB names it"
                                          : "name the directory of a recording");
    }
    err = parse_jobs(args, &build.threads);
    if (!err)
        err = db_build(args->operands.data, args->operands.len, &build, &written);
    if (!err && written)
        printf("%s\n", written);
    vec_deinit(&structures);
    return command_fail("build", err);
}

static const struct opt_foreign foreign[] = {
    {"threads", "it is -j, --jobs"},
    {"t", "it is -j, --jobs"},
    {"S", "structure is recovered anyway; --structure FILE takes it from a file"},
    {0}};

const struct command cmd_build = {
    .cmd =
        {
            .name = "build",
            .usage = "[-o DB] [OPTIONS] MEASUREMENTS...",
            .summary = "build the database of a recording, or of several together",
            .description = "MEASUREMENTS is a directory that `hq record` made, a directory of .hqm files, or such a "
                           "file. Several are joined into one database. "
                           "The first question about a recording builds its database too; this command is for doing it "
                           "ahead of time, in another place, "
                           "or with options.\n\n"
                           "The database appears in one step when it is complete, and an interrupted build can simply "
                           "be repeated. The same measurements give "
                           "the same file, byte for byte, with any number of threads.\n\n"
                           "Where one machine is not enough, `mpirun -n N hq build DB` splits the work over N ranks "
                           "(MPICH or Open MPI).",
            .examples = "  hq build -j 8 my.hq\n  hq build -o both.hq first.hq second.hq\n  hq build --with-source "
                        "my.hq\n  mpirun -n 16 hq build my.hq\n",
            .options = options,
            .foreign = foreign,
        },
    .run = run,
};
