/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq structure`: what is known of the code of a binary. */
#include "common/log.h"
#include "common/suggest.h"
#include "repl/command.h"
#include "repl/session.h"
#include "structure/outline.h"

static const struct opt options[] = {
    {.name = "xml",
     .help = "as a structure file in XML, with the addresses of every scope, for `hq build --structure`"},
    {.name = "raw",
     .help = "as the machine code has it: loops are not fused, statements stay where they were moved to"},
    {.name = "loops", .negatable = true, .help = "look for loops (on)"},
    {.name = "inlines", .negatable = true, .help = "show inlined procedures (on)"},
    {0}};

struct names {
    const char **data;
    size_t len, cap;
};

static struct hq_error *no_procedures(const struct structure *s, const char *path, const struct names *missing)
{
    AUTO_STR struct str advice = {0}, list = {0};
    struct suggest near;

    for (size_t i = 0; i < missing->len; i++)
        str_addf(&list, "%s%s", !i ? "" : i + 1 < missing->len ? ", " : " and ", missing->data[i]);
    if (missing->len > 1)
        return hq_error_new(HQ_DATA, "%s has no procedures %s", path, str_cstr(&list));
    suggest_init(&near, missing->data[0], 3);
    for (size_t i = 0; i < s->scopes.len; i++)
        if (s->scopes.data[i].kind == SCOPE_PROCEDURE)
            suggest_add(&near, intern_str(&s->strings, s->scopes.data[i].name));
    suggest_text(&near, &advice);
    return hq_error_new(HQ_DATA, "%s has no procedure %s%s", path, str_cstr(&list), str_cstr(&advice));
}

/* Prints the procedures that were found, as XML if the names of all procedures are given; then names those that were
 * not. */
static struct hq_error *print(const struct structure *s, const struct opt_args *args, const struct known *known)
{
    struct outline_options outline = {.raw = opt_flag(args, "raw", false)};
    const char *path = args->operands.data[0];
    struct names found = {0}, missing = {0};
    struct hq_error *error = NULL;

    for (size_t i = 1; i < args->operands.len; i++) {
        const char *name = args->operands.data[i];

        if (outline_has(s, name))
            vec_push(&found, name);
        else
            vec_push(&missing, name);
    }
    vec_push(&found, NULL);
    outline.procedures = found.data;
    if (found.len > 1 || !missing.len) {
        if (known)
            outline_xml(s, path, known, &outline, stdout);
        else
            outline_print(s, path, &outline, stdout);
    }
    if (missing.len)
        error = no_procedures(s, path, &missing);
    vec_deinit(&found);
    vec_deinit(&missing);
    return error;
}

static int run(const struct opt_args *args)
{
    struct structure_options how = {.loops = opt_flag(args, "loops", true), .inlines = opt_flag(args, "inlines", true)};
    struct structure s;
    struct known known = {0};

    how.code = opt_flag(args, "xml", false);
    if (!args->operands.len)
        return command_usage("structure", "the file is missing");
    if (looks_like_database(args->operands.data[0]))
        return command_usage(
            "structure", "%s is a database: hq %s flat shows its structure; this command reads a program or library",
            args->operands.data[0], args->operands.data[0]);
    if (how.code && opt_flag(args, "raw", false))
        return command_usage("structure", "--raw is for the outline: a structure file has both structures");
    struct hq_error *error = structure_whole(args->operands.data[0], &how, &s);
    if (!error) {
        if (how.code)
            known_find(args->operands.data[0], &how, true, &known);
        error = print(&s, args, how.code ? &known : NULL);
        known_deinit(&known);
        if (s.note)
            log_note("%s", s.note);
        structure_deinit(&s);
    }
    return command_fail("structure", error);
}

const struct command cmd_structure = {
    .cmd =
        {
            .name = "structure",
            .usage = "[OPTIONS] FILE [PROCEDURE]...",
            .summary = "print the files, procedures, loops and inlined code of a binary",
            .description =
                "Shows what a program or shared library consists of: source files, the procedures in them, "
                "and in each procedure its "
                "loops, the procedures that were inlined into it and its statements, recovered from debug "
                "information and machine code. "
                "Debug information may lie in a separate file below /usr/lib/debug or below a directory of "
                "HQ_DEBUG_PATH. Loops have the lines of their statements in the source, where that is at hand "
                "as it was when the binary was linked; with HQ_SOURCES=no those that the binary tells.\n\n"
                "PROCEDURE is a name, whole or unqualified, or a pattern with * and ?. Without one "
                "everything is shown.\n\n"
                "This is the structure that views of a database show; no database is needed here.",
            .options = options,
        },
    .run = run,
};
