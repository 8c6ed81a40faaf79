/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/result.h"
#include "common/file.h"
#include "query/output.h"
#include "repl/pager.h"

static const struct output_spec *spec_of(const struct statement *st)
{
    return st->kind == STATEMENT_QUERY ? st->query.as : NULL;
}

struct hq_error *result_check(const struct statement *st)
{
    const struct output_spec *as = spec_of(st);

    return !as || output_find(as->format) ? NULL : output_unknown(as);
}

/* What fits anything that is not a terminal. */
static void not_a_terminal(struct output_options *o)
{
    output_detect(o, stdout);
    o->width = o->height = 0;
    o->colours = COLOURS_NONE;
}

static struct hq_error *to_file(const struct output_format *format, const struct table *t, const char *path)
{
    AUTO_FREE char *expanded = file_expand_home(path);
    struct output_options options;
    struct file_writer w;

    not_a_terminal(&options);
    HQ_TRY(file_writer_open(&w, expanded));
    struct hq_error *error = output_write(format, t, &options, w.file);

    if (error) {
        file_writer_discard(&w);
        return error;
    }
    return file_writer_commit(&w);
}

/* The text of a result in memory; the caller frees it. */
static struct hq_error *to_text(const struct output_format *format, const struct table *t,
                                const struct output_options *options, char **text, size_t *len)
{
    FILE *out = open_memstream(text, len);

    if (!out)
        return &hq_error_no_memory;
    struct hq_error *error = output_write(format, t, options, out);

    fclose(out);
    return error;
}

static struct hq_error *to_command(const struct output_format *format, const struct table *t, const char *command)
{
    AUTO_FREE char *text = NULL;
    struct output_options options;
    size_t len;

    not_a_terminal(&options);
    HQ_TRY(to_text(format, t, &options, &text, &len));
    return pager_pipe(command, text, len);
}

static struct hq_error *to_person(const struct session *s, const struct output_format *format, const struct table *t)
{
    const char *pager = s->prompt && !s->no_pager ? pager_command() : NULL;
    AUTO_FREE char *text = NULL;
    struct output_options options;
    size_t len;

    output_detect(&options, stdout);
    if (s->no_colour)
        options.colours = COLOURS_NONE;
    if (!pager || !isatty(STDOUT_FILENO))
        return output_write(format, t, &options, stdout);
    HQ_TRY(to_text(format, t, &options, &text, &len));
    if (pager_is_taller(text, len, STDOUT_FILENO))
        return pager_pipe(pager, text, len);
    fwrite(text, 1, len, stdout);
    return fflush(stdout) ? hq_error_errno(HQ_DATA, "cannot write the result") : NULL;
}

struct hq_error *result_show(const struct session *s, const struct statement *st, const struct table *t)
{
    const struct output_spec *as = spec_of(st);
    const struct output_format *format = output_find(as ? as->format : t->tree ? "tree" : "table");
    const char *file = as && as->file ? as->file : st->redirect.text;
    struct hq_error *error = file            ? to_file(format, t, file)
                           : st->pipe.text   ? to_command(format, t, st->pipe.text)
                                             : to_person(s, format, t);

    if (!error && !s->quiet)
        output_notes(t, stderr);
    return error;
}
