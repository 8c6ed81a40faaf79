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

/* Through a program: at once, or only what is longer than `lines`. */
static struct hq_error *through(const struct output_format *format, const struct table *t, const struct output_options *o,
                                const char *command, size_t lines)
{
    struct pager p;

    HQ_TRY(pager_open(&p, command, lines));
    return pager_close(&p, output_write(format, t, o, p.stream));
}

/* The pager for what is taller than `lines`; NULL: there is none to be used. */
static const char *pager_for(const struct session *s, const struct output_options *o)
{
    /* Without a terminal, or one whose height is not known, there is nothing to be taller than. */
    return s->prompt && !s->no_pager && o->height ? pager_command() : NULL;
}

static struct hq_error *to_person(const struct session *s, const struct output_format *format, const struct table *t)
{
    struct output_options options;

    output_detect(&options, stdout);
    const char *pager = pager_for(s, &options);

    if (s->no_colour)
        options.colours = COLOURS_NONE;
    return pager ? through(format, t, &options, pager, options.height) : output_write(format, t, &options, stdout);
}

struct hq_error *result_text(const struct session *s, const char *text)
{
    struct output_options options;
    struct pager p;

    output_detect(&options, stdout);
    const char *pager = pager_for(s, &options);

    if (pager) {
        HQ_TRY(pager_open(&p, pager, options.height));
        fputs(text, p.stream);
        return pager_close(&p, NULL);
    }
    fputs(text, stdout);
    return fflush(stdout) ? hq_error_errno(HQ_DATA, "cannot write the result") : NULL;
}

static struct hq_error *to_command(const struct output_format *format, const struct table *t, const char *command)
{
    struct output_options options;

    not_a_terminal(&options);
    return through(format, t, &options, command, 0);
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
