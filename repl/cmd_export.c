/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq export`: a database, or the result of a query on it, as other tools take it. */
#include "common/file.h"
#include "common/log.h"
#include "common/progress.h"
#include "db/export_trace.h"
#include "db/import/import.h"
#include "query/output.h"
#include "repl/command.h"
#include "repl/limits.h"
#include "repl/session.h"
#include <string.h>
#include <strings.h>

static const struct opt options[] = {
    {.name = "output", .letter = 'o', .value = "FILE", .help = "where to write (default: standard output)"},
    {.name = "lines",
     .negatable = true,
     .help = "keep the lines of statements apart (default for pprof and callgrind)"},
    LIMIT_OPTIONS,
    {.name = "quiet", .help = "no hints and no coverage line"},
    {0}};

static struct hq_error *export_trace(const char *path, const char *output)
{
    struct file_writer w = {0};
    struct db *db;

    HQ_TRY(import_prepare(path, NULL, &db));
    struct hq_error *error = file_writer_open(&w, output ? output : "/dev/stdout");

    struct progress progress;

    progress_start(&progress, "writing the trace", 0, false);
    if (!error)
        error = db_export_chrome(db, w.file);
    progress_finish(&progress);
    if (!error)
        error = file_writer_commit(&w);
    else
        file_writer_discard(&w);
    db_close(db);
    return error;
}

/* QUERY as FORMAT to "FILE" */
static void add_query(struct str *text, const char *query, const char *format, const char *output)
{
    str_addf(text, "%s as %s", query, format);
    if (output)
        str_addf(text, strchr(output, '"') ? " to '%s'" : " to \"%s\"", output);
}

static int export_query(const struct opt_args *args, const char *format, const char *output)
{
    AUTO_STR struct str text = {0};
    struct session s;
    int status;

    session_init(&s);
    s.quiet = opt_flag(args, "quiet", false);
    if (opt_flag(args, "lines", output_find(format)->of_lines))
        str_add(&text, "set lines on; ");
    add_query(&text, args->operands.len > 2 ? args->operands.data[2] : "tree all", format, output);
    struct hq_error *error = session_open(&s, args->operands.data[1], NULL);

    if (error)
        s.status = command_fail("export", error);
    else
        session_text(&s, &(struct source){.name = "query", .text = str_cstr(&text), .length = text.len});
    status = s.status;
    session_deinit(&s);
    return status;
}

static int unknown_format(const char *format)
{
    AUTO_STR struct str names = {0};

    for (const struct output_format *f = output_formats; f->name; f++)
        str_addf(&names, "%s%s", f == output_formats ? "" : ", ", f->name);
    return command_usage("export", "there is no format `%s` (%s)", format, str_cstr(&names));
}

static int run(const struct opt_args *args)
{
    const char *output = opt_value(args, "output");

    if (opt_flag(args, "quiet", false))
        log_set_level(LEVEL_QUIET);
    if (args->operands.len && !output_find(args->operands.data[0]) && looks_like_database(args->operands.data[0]))
        return command_usage("export", "the format comes first: hq export pprof %s", args->operands.data[0]);
    if (args->operands.len < 2)
        return command_usage("export", args->operands.len ? "the database is missing"
                                                          : "the format and the database are missing");
    if (args->operands.len > 3)
        return command_usage("export", "one query at a time, in quotes");
    if (args->operands.len == 3 && strchr(args->operands.data[2], '.') && !session_parses(args->operands.data[2]))
        return command_usage("export", "%s is no question; -o %s writes there", args->operands.data[2],
                             args->operands.data[2]);
    const char *format = args->operands.data[0];
    struct hq_error *error = limits_take(args);

    if (error)
        return command_fail("export", error);
    if (!output_find(format))
        return unknown_format(format);
    if (args->operands.len == 2 && !strcasecmp(format, "chrome"))
        return command_fail("export", export_trace(args->operands.data[1], output));
    return export_query(args, format, output);
}

static const char first_word[] = "the format is the first word: hq export pprof DB";
static const struct opt_foreign foreign[] = {{"format", first_word}, {"f", first_word}, {"as", first_word}, {0}};

const struct command cmd_export = {
    .cmd =
        {
            .name = "export",
            .usage = "FORMAT DB [QUERY] [-o FILE]",
            .summary = "write a database as other tools take it",
            .description = "Writes the whole calling context tree, or the result of QUERY, in a format of `as` (see "
                           "`hq help as`): pprof, speedscope, "
                           "callgrind and folded for call paths, dot, csv and json for anything. chrome without a "
                           "query writes the whole trace, "
                           "every sample with all of its call path, for Perfetto and chrome://tracing.",
            .examples = "  hq export pprof my.hq -o my.pb.gz\n  hq export chrome my.hq -o my.json\n  hq export folded "
                        "my.hq \"tree of solve\" -o solve.folded\n",
            .options = options,
            .foreign = foreign,
        },
    .run = run,
};
