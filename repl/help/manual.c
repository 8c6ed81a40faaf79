/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/help/manual.h"
#include "common/mem.h"
#include "query/grammar/words.h"
#include "query/output.h"
#include "repl/help/topics.h"
#include <stdbool.h>
#include <string.h>

/* ---- man(7) markup ---- */

/* Text in which nothing is markup, as it stands: a hyphen stays one that can be copied. */
static void add_text(struct str *out, const char *text)
{
    bool line_start = !out->len || out->s[out->len - 1] == '\n';

    for (; *text; text++) {
        if (line_start && strchr(".'", *text))
            str_add(out, "\\&");
        line_start = *text == '\n';
        if (*text == '\\')
            str_add(out, "\\e");
        else if (*text == '-')
            str_add(out, "\\-");
        else
            str_addc(out, *text);
    }
}

/* Text of any number of paragraphs: an empty line starts the next. */
static void add_paragraphs(struct str *out, const char *text)
{
    for (const char *p = text, *end; p && *p; p = end ? end + 2 : NULL) {
        end = strstr(p, "\n\n");
        AUTO_FREE char *one = end ? xstrndup(p, (size_t)(end - p)) : xstrdup(p);

        str_add(out, ".PP\n");
        add_text(out, one);
        str_addc(out, '\n');
    }
}

static void add_section(struct str *out, const char *title)
{
    str_addf(out, ".SH \"%s\"\n", title);
}

static void add_title(struct str *out, const char *name, int section, const char *summary)
{
    str_addf(out, ".TH \"%s\" \"%d\" \"\" \"hq " HQ_VERSION "\" \"%s\"\n", name, section,
             section == 1 ? "User Commands" : "File Formats");
    add_section(out, "NAME");
    add_text(out, name);
    str_add(out, " \\- ");
    add_text(out, summary);
    str_addc(out, '\n');
}

static void add_verbatim(struct str *out, const char *text)
{
    str_add(out, ".PP\n.nf\n");
    add_text(out, text);
    str_add(out, ".fi\n");
}

/* .TP TERM, then what it means */
static void add_term(struct str *out, const char *term, const char *text)
{
    str_add(out, ".TP\n\\fB");
    add_text(out, term);
    str_add(out, "\\fR\n");
    add_text(out, text ? text : "");
    str_addc(out, '\n');
}

/* ---- section 1 ---- */

static void add_options(struct str *out, const struct opt_command *c)
{
    add_section(out, "OPTIONS");
    for (const struct opt *o = opt_next(c, NULL); o; o = opt_next(c, o)) {
        AUTO_STR struct str term = {0};

        if (o->hidden)
            continue;
        if (o->letter)
            str_addf(&term, "-%c, ", o->letter);
        str_addf(&term, "--%s%s%s%s", o->negatable ? "[no-]" : "", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        AUTO_FREE char *text = xasprintf("%s.", o->help ? o->help : "");

        add_term(out, term.s, text);
        for (const char *const *choice = o->choices; choice && *choice; choice++) {
            str_add(out, choice == o->choices ? "One of " : ", ");
            add_text(out, *choice);
            str_add(out, choice[1] ? "" : ".\n");
        }
    }
    add_term(out, "-h, --help", "Explain the command.");
}

static void add_exit_status(struct str *out, bool record)
{
    add_section(out, "EXIT STATUS");
    if (record) {
        str_add(out, "That of the program; 128 + N if signal N ended it, 127 if there is no such program, 126 if it "
                     "cannot be started. Before it is started "
                     "2 for wrong usage, 3 for a place that cannot be written.\n");
        return;
    }
    add_term(out, "0", "All well.");
    add_term(out, "1", "An expectation failed.");
    add_term(out, "2", "Wrong usage, or a wrong query.");
    add_term(out, "3", "The data could not be read.");
    add_term(out, "4", "Inconclusive: too few samples to decide an expectation.");
    str_add(out, ".PP\nOf several the gravest is reported: 3, 2, 1, 4, 0. `hq record` passes on the status of the "
                 "program, 127 or 126 if it "
                 "cannot be started.\n");
}

static void add_see_also(struct str *out, const struct command *const *table, const char *self)
{
    add_section(out, "SEE ALSO");
    if (strcmp(self, "hq"))
        str_add(out, "hq(1), ");
    for (; *table; table++)
        if (strcmp((*table)->cmd.name, self))
            str_addf(out, "hq\\-%s(1), ", (*table)->cmd.name);
    str_add(out, "hq\\-language(5)\n");
}

static void add_command_page(struct str *out, const struct command *const *table, const struct opt_command *c)
{
    AUTO_FREE char *name = xasprintf("hq-%s", c->name);
    bool query = !strcmp(c->name, "query");

    add_title(out, name, 1, c->summary);
    add_section(out, "SYNOPSIS");
    str_addf(out, ".B hq %s\n", query ? "[query]" : c->name);
    add_text(out, c->usage ? c->usage : "");
    str_addc(out, '\n');
    if (c->description) {
        add_section(out, "DESCRIPTION");
        add_paragraphs(out, c->description);
    }
    add_options(out, c);
    if (c->examples) {
        add_section(out, "EXAMPLES");
        add_verbatim(out, c->examples);
    }
    for (const struct topic *t = topics; query && t->name; t++)
        if (!strcmp(t->name, "prompt")) {
            add_section(out, "THE PROMPT");
            add_verbatim(out, t->text);
        }
    add_exit_status(out, !strcmp(c->name, "record"));
    add_see_also(out, table, c->name);
}

static void add_environment(struct str *out)
{
    add_section(out, "ENVIRONMENT");
    add_term(out, "HQ_PAGER, PAGER", "The pager of the prompt; empty: none.");
    add_term(out, "HQ_HISTORY",
             "File of the prompt's history; empty: none is kept. Else $XDG_STATE_HOME/hq/history or "
             "~/.local/state/hq/history.");
    add_term(out, "HQ_QUERIES",
             "Directories with saved queries, separated by colons, searched before ./queries, "
             "~/.config/hq/queries and those that come with hq.");
    add_term(out, "NO_COLOR", "Not empty: no colours.");
    add_term(out, "VISUAL, EDITOR", "The editor of \\e at the prompt.");
    add_term(out, "XDG_CACHE_HOME",
             "Where recovered program structure is kept, and databases of directories that cannot be written.");
}

static void add_files(struct str *out)
{
    add_section(out, "FILES");
    add_term(out, "DB/measurements/*.hqm", "What a recording has written, a file a process.");
    add_term(
        out, "DB/hq.db",
        "The database, made by the first question or hq build; it needs neither the measurements nor the program.");
    add_term(out, "NAME.hq", "Queries; see hq-language(5).");
    add_term(out, "NAME.baseline", "Their values, by hq check --update; text, a value a line.");
}

static void add_main_page(struct str *out, const struct command *const *table)
{
    add_title(out, "hq", 1, "call path profiles that answer questions");
    add_section(out, "SYNOPSIS");
    str_add(out, ".B hq record\n[OPTIONS] [\\-\\-] PROGRAM [ARG]...\n.br\n.B hq\nDB [QUERY]...\n.br\n.B hq\nCOMMAND "
                 "[OPTIONS] ...\n");
    add_section(out, "DESCRIPTION");
    add_paragraphs(
        out,
        "hq records where a program spends its time, in full calling context, without changing or recompiling it, and "
        "answers questions about it: on the command line, from files, and at a prompt.\n\n"
        "`hq COMMAND --help` explains a command, `hq help WORD` a word of the query language.");
    add_section(out, "COMMANDS");
    for (const struct command *const *c = table; *c; c++)
        add_term(out, (*c)->cmd.name, (*c)->cmd.summary);
    add_environment(out);
    add_files(out);
    add_exit_status(out, false);
    add_see_also(out, table, "hq");
}

/* ---- section 5: the language ---- */

static void add_words(struct str *out)
{
    add_section(out, "VIEWS");
    for (int i = 0; i < VIEW_KINDS; i++)
        add_term(out, view_words[i].usage, view_words[i].summary);
    add_section(out, "CLAUSES");
    for (int i = 0; i < CLAUSE_KINDS; i++)
        add_term(out, clause_words[i].usage, clause_words[i].summary);
    add_section(out, "STATEMENTS");
    for (int i = 0; i < STATEMENT_KINDS; i++)
        if (statement_words[i].name)
            add_term(out, statement_words[i].usage, statement_words[i].summary);
    add_section(out, "SETTINGS");
    for (int i = 0; i < SETTING_KINDS; i++) {
        const struct setting_word *w = &setting_words[i];
        AUTO_FREE char *text = xasprintf("%s (%s at the start)", w->summary, w->words[w->start]);
        AUTO_STR struct str usage = {0};

        setting_usage(i, &usage);
        add_term(out, str_cstr(&usage), text);
    }
    add_section(out, "FUNCTIONS");
    for (int i = 0; i < FUNCTION_KINDS; i++)
        add_term(out, function_words[i].usage, function_words[i].summary);
    add_section(out, "ATTRIBUTES");
    for (int i = 0; i < ATTRIBUTE_KINDS; i++)
        add_term(out, attribute_words[i].name, attribute_words[i].summary);
    add_section(out, "FORMATS");
    for (const struct output_format *f = output_formats; f->name; f++)
        add_term(out, f->name, f->summary);
}

static void add_language_page(struct str *out, const struct command *const *table)
{
    add_title(out, "hq-language", 5, "the query language of hq, and the form of .hq files");
    add_section(out, "DESCRIPTION");
    add_paragraphs(out, "A query is a view, then clauses in any order; they take effect in the order in which they are "
                        "listed below. A file "
                        "of queries (NAME.hq) holds statements, one a line or separated by semicolons. A line that is "
                        "indented goes on with the one "
                        "before. A comment starts with two hyphens and a space and ends with the line. Keywords may be "
                        "written in any case.");
    add_words(out);
    for (const struct topic *t = topics; t->name; t++) {
        AUTO_FREE char *title = xstrdup(t->name);

        for (char *p = title; *p; p++)
            *p = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
        add_section(out, title);
        add_verbatim(out, t->text);
    }
    add_see_also(out, table, "language");
}

/* ---- all pages ---- */

void manual_list(const struct command *const *table, struct str *out)
{
    str_add(out, "hq.1\n");
    for (; *table; table++)
        str_addf(out, "hq-%s.1\n", (*table)->cmd.name);
    str_add(out, "hq-language.5\n");
}

struct hq_error *manual_page(const struct command *const *table, const char *page, struct str *out)
{
    if (!strcmp(page, "hq.1")) {
        add_main_page(out, table);
        return NULL;
    }
    if (!strcmp(page, "hq-language.5")) {
        add_language_page(out, table);
        return NULL;
    }
    for (const struct command *const *c = table; *c; c++) {
        AUTO_FREE char *name = xasprintf("hq-%s.1", (*c)->cmd.name);

        if (!strcmp(page, name)) {
            add_command_page(out, table, &(*c)->cmd);
            return NULL;
        }
    }
    return hq_error_new(HQ_USAGE, "there is no manual page '%s'; `hq --manual` lists them", page);
}
