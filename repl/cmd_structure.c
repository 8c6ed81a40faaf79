/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq structure`: what is known of the code of a binary. */
#include "common/log.h"
#include "common/suggest.h"
#include "repl/command.h"
#include "structure/outline.h"

static const struct opt options[] = {
    {.name = "xml", .help = "as XML, in the form of the HPCView paper: PGM, F, P, I (inlined), L (loop), S (statements)"},
    {.name = "raw", .help = "as the machine code has it: loops are not fused, statements stay where they were moved to"},
    {.name = "loops", .negatable = true, .help = "look for loops (on)"},
    {.name = "inlines", .negatable = true, .help = "show inlined procedures (on)"},
    {0}
};

static struct hq_error *no_procedure(const struct structure *s, const char *path, const char *name)
{
    AUTO_STR struct str advice = {0};
    struct suggest near;

    suggest_init(&near, name, 3);
    for (size_t i = 0; i < s->scopes.len; i++)
        if (s->scopes.data[i].kind == SCOPE_PROCEDURE)
            suggest_add(&near, intern_str(&s->strings, s->scopes.data[i].name));
    suggest_text(&near, &advice);
    return hq_error_new(HQ_DATA, "%s has no procedure %s%s", path, name, str_cstr(&advice));
}

static int run(const struct opt_args *args)
{
    struct structure_options how = {.loops = opt_flag(args, "loops", true), .inlines = opt_flag(args, "inlines", true)};
    struct outline_options outline = {.xml = opt_flag(args, "xml", false), .raw = opt_flag(args, "raw", false)};
    VEC(const char *) names = {0};
    struct structure s;

    if (!args->operands.len)
        return command_usage("structure", "the file is missing");
    for (size_t i = 1; i < args->operands.len; i++)
        vec_push(&names, args->operands.data[i]);
    vec_push(&names, NULL);
    outline.procedures = names.data;
    const char *path = args->operands.data[0];
    struct hq_error *error = structure_whole(path, &how, &s);
    if (!error) {
        const char *missing = outline_missing(&s, &outline);

        if (missing)
            error = no_procedure(&s, path, missing);
        else
            outline_print(&s, path, &outline, stdout);
        if (s.note)
            log_note("%s", s.note);
        structure_deinit(&s);
    }
    vec_deinit(&names);
    return command_fail("structure", error);
}

const struct command cmd_structure = {
    .cmd = {
        .name = "structure",
        .usage = "[OPTIONS] FILE [PROCEDURE]...",
        .summary = "print the files, procedures, loops and inlined code of a binary",
        .description =
            "Shows what a program or shared library consists of: source files, the procedures in them, and in each procedure its "
            "loops, the procedures that were inlined into it and its statements, recovered from debug information and machine code. "
            "Debug information may lie in a separate file below /usr/lib/debug or below a directory of HQ_DEBUG_PATH.\n\n"
            "PROCEDURE is a name, whole or unqualified, or a pattern with * and ?. Without one everything is shown.\n\n"
            "This is the structure that views of a database show; no database is needed here.",
        .options = options,
    },
    .run = run,
};
