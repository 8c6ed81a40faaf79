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

/* Sets the options for output that does not go to a terminal. */
static void not_a_terminal(struct output_options *o)
{
    output_detect(o, stdout);
    o->terminal = false;
    o->width = o->height = 0;
    o->colours = COLOURS_NONE;
}

/* A table in a format, or a text. */
struct content {
    const struct output_format *format;
    const struct table *table;
    const char *text;
    bool csv_safe;
    enum output_names names;
};

static struct hq_error *put(const struct content *c, const struct output_options *o, FILE *out)
{
    struct output_options options = *o;

    options.csv_safe = c->csv_safe;
    options.names = c->names;
    if (c->table)
        return output_write(c->format, c->table, &options, out);
    fputs(c->text, out);
    return fflush(out) ? hq_error_errno(HQ_DATA, "cannot write the result") : NULL;
}

/* An error of writing says where to. */
static struct hq_error *put_file(const struct content *c, const struct output_options *o, FILE *out, const char *path)
{
    struct hq_error *error = put(c, o, out);

    if (!error || error->status != HQ_DATA)
        return error;
    struct hq_error *named = hq_error_new(HQ_DATA, "%s: %s", path, error->message);

    hq_error_free(error);
    return named;
}

static struct hq_error *append(const struct content *c, const struct output_options *o, const char *path)
{
    FILE *f = fopen(path, "a");

    if (!f)
        return hq_error_errno(HQ_DATA, "cannot write %s", path);
    struct hq_error *error = put_file(c, o, f, path);

    if (fclose(f) && !error)
        error = hq_error_errno(HQ_DATA, "cannot write %s", path);
    return error;
}

static struct hq_error *to_file(const struct content *c, const char *path, bool at_end)
{
    AUTO_FREE char *expanded = file_expand_home(path);
    struct output_options options;
    struct file_writer w;

    not_a_terminal(&options);
    if (at_end)
        return append(c, &options, expanded);
    HQ_TRY(file_writer_open(&w, expanded));
    struct hq_error *error = put_file(c, &options, w.file, expanded);

    if (error) {
        file_writer_discard(&w);
        return error;
    }
    return file_writer_commit(&w);
}

/* Through a program: at once, or only what is longer than `lines`. */
static struct hq_error *through(const struct content *c, const struct output_options *o, const char *command,
                                size_t lines)
{
    struct pager p;

    HQ_TRY(pager_open(&p, command, lines, o->width));
    return pager_close(&p, put(c, o, p.stream));
}

static struct hq_error *to_command(const struct content *c, const char *command)
{
    struct output_options options;

    not_a_terminal(&options);
    return through(c, &options, command, 0);
}

/* The pager for what is taller than `lines`; NULL: there is none to be used. */
static const char *pager_for(const struct session *s, const struct output_options *o)
{
    /* Without a terminal, or one whose height is not known, there is nothing to be taller than. */
    return s->prompt && query_setting(&s->env, SETTING_PAGER) && o->height ? pager_command() : NULL;
}

static struct hq_error *to_person(const struct session *s, const struct content *c)
{
    struct output_options options;

    output_detect(&options, stdout);
    const char *pager = pager_for(s, &options);

    if (!query_setting(&s->env, SETTING_COLOUR))
        options.colours = COLOURS_NONE;
    return pager ? through(c, &options, pager, options.height) : put(c, &options, stdout);
}

static struct hq_error *send(const struct session *s, const struct statement *st, const struct content *c)
{
    const struct output_spec *as = spec_of(st);

    if (as && as->file)
        return to_file(c, as->file, false);
    if (st->redirect.text)
        return to_file(c, st->redirect.text, st->append);
    return st->pipe.text ? to_command(c, st->pipe.text) : to_person(s, c);
}

struct hq_error *result_text(const struct session *s, const struct statement *st, const char *text)
{
    return send(s, st, &(struct content){.text = text});
}

struct hq_error *result_show(const struct session *s, const struct statement *st, const struct table *t)
{
    const struct output_spec *as = spec_of(st);
    const struct output_format *format = output_find(as ? as->format : t->tree ? "tree" : "table");
    struct content content = {.format = format,
                              .table = t,
                              .csv_safe = query_setting(&s->env, SETTING_CSV_SAFE),
                              .names = (enum output_names)query_setting(&s->env, SETTING_NAMES)};
    struct hq_error *error = send(s, st, &content);

    if (!error && !s->quiet)
        output_notes(t, stderr);
    return error;
}
