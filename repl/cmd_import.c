/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq import`: other tools' data as a database. */
#include "common/file.h"
#include "common/log.h"
#include "common/suggest.h"
#include "common/vec.h"
#include "common/units.h"
#include "db/import/import.h"
#include "db/import/limits.h"
#include "repl/command.h"
#include <string.h>

static const struct opt options[] = {
    {.name = "output", .letter = 'o', .value = "DB", .help = "the directory to make, or a file whose name ends in .db"},
    {.name = "formats", .help = "list the formats"},
    {.name = "max-depth", .value = "N", .help = "frames of one call path at most (100K)"},
    {.name = "max-frames", .value = "N", .help = "different frames at most (10M)"},
    {.name = "max-values", .value = "N", .help = "values, and cells of metrics times frames, at most (100M)"},
    {.name = "max-size", .value = "SIZE", .help = "bytes of a file, uncompressed, at most (16GiB)"},
    {.name = "quiet", .help = "no notes and no progress"},
    {.name = "verbose", .letter = 'v', .help = "say what is being done"},
    {0}};

static int list_formats(void)
{
    for (const struct import_format *f = import_formats; f->name; f++)
        printf("%-12s %s\n", f->name, f->summary);
    return HQ_OK;
}

/* A word before the files that is neither a file nor like one was meant as a format. */
static struct hq_error *no_format(const char *word)
{
    AUTO_STR struct str advice = {0};
    struct suggest near;

    suggest_init(&near, word, 1);
    for (const struct import_format *f = import_formats; f->name; f++)
        suggest_add(&near, f->name);
    suggest_text(&near, &advice);
    return hq_error_new(HQ_USAGE, "there is no format %s; `hq import --formats` lists them%s", word, str_cstr(&advice));
}

/* The limits of db/import/limits.h. */
static struct hq_error *take_limits(const struct opt_args *args)
{
    const struct {
        const char *option;
        uint64_t *limit;
    } limits[] = {{"max-depth", &import_limits.depth},
                  {"max-frames", &import_limits.frames},
                  {"max-values", &import_limits.values},
                  {"max-size", &import_limits.bytes}};

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const char *text = opt_value(args, limits[i].option);

        if (text)
            HQ_TRY(hq_error_prefix(units_parse_count(text, limits[i].limit), "--%s", limits[i].option));
    }
    return NULL;
}

static bool is_word(const char *operand)
{
    return strcmp(operand, "-") && !strpbrk(operand, "./") && file_is_absent(operand);
}

/* A file that is given twice, by whatever names, would count twice. */
static int refuse_twice(const char *const *files, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            if (!strcmp(files[i], files[k]))
                return command_usage("import", "%s is given twice", files[i]);
            if (file_is_same(files[i], files[k]))
                return command_usage("import", "%s and %s are one file", files[k], files[i]);
        }
    return HQ_OK;
}

static int run(const struct opt_args *args)
{
    VEC(struct import_file) files = {0};
    const struct import_format *format = NULL;
    const char *output = opt_value(args, "output");
    size_t first = 0;

    if (opt_flag(args, "formats", false))
        return list_formats();
    log_set_level(opt_flag(args, "quiet", false)     ? LEVEL_QUIET
                  : opt_flag(args, "verbose", false) ? LEVEL_VERBOSE
                                                     : LEVEL_NORMAL);
    struct hq_error *bad = take_limits(args);

    if (bad)
        return command_fail("import", bad);
    /* A format's name is a format, unless it is all that was given: then it is a file. */
    if (args->operands.len > 1 && (format = import_find(args->operands.data[0])))
        first = 1;
    else if (args->operands.len > 1 && is_word(args->operands.data[0]))
        return command_fail("import", no_format(args->operands.data[0]));
    if (first == args->operands.len)
        return command_usage("import", "the file to import is missing");
    if (!output)
        return command_usage("import", "the database to make is missing: -o DB");
    int twice = refuse_twice(args->operands.data + first, args->operands.len - first);

    if (twice)
        return twice;
    for (size_t i = first; i < args->operands.len; i++)
        vec_push(&files, (struct import_file){.path = args->operands.data[i], .format = format});
    struct hq_error *error = import_files(files.data, files.len, output);

    vec_deinit(&files);
    return command_fail("import", error);
}

const struct command cmd_import = {
    .cmd =
        {
            .name = "import",
            .usage = "[FORMAT] FILE... -o DB",
            .summary = "make a database from other tools' data",
            .description =
                "Reads profiles and traces of other tools into a database that every query works on. The format of "
                "each file is found "
                "by looking at it; FORMAT says it for all of them, and is needed for standard input (-). `hq import "
                "--formats` lists "
                "the formats. Files that are compressed by gzip are read as they are, but perf.data.\n\n"
                "Several files become one database. If their formats differ, their trees are aligned by the names of "
                "procedures.\n\n"
                "A file can also be asked directly, `hq FILE QUERY`: it is imported into the cache directory first.",
            .examples = "  perf script | hq import perf - -o perf.hq\n  hq import cpu.pprof -o cpu.hq\n  hq import "
                        "stacks.folded -o stacks.hq\n",
            .options = options,
        },
    .run = run,
};
