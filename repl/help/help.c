/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/help/help.h"
#include "common/mem.h"
#include "common/opt.h"
#include "common/str.h"
#include "common/suggest.h"
#include "query/grammar/words.h"
#include "query/output.h"
#include "repl/saved.h"
#include "repl/help/topics.h"
#include <string.h>
#include <strings.h>

enum { WIDTH_MAX = 100, WIDTH_MIN = 40, COLUMN = 20 };

/* The width of the terminal; 0 if there is none. */
static size_t terminal_width(void)
{
    struct output_options o;

    output_detect(&o, stdout);
    return o.width;
}

/* Returns the width of lines: the terminal's, but not so wide that they are hard to read. */
static size_t line_width(void)
{
    size_t width = terminal_width();

    return !width || width > WIDTH_MAX ? WIDTH_MAX : width < WIDTH_MIN ? WIDTH_MIN : width - 1;
}

/* For lines that files and pipes take whole: SIZE_MAX there. */
static size_t whole_width(void)
{
    return terminal_width() ? line_width() : SIZE_MAX;
}

/* ---- one word as the tables know it ---- */

struct entry {
    const char *what; /* view, clause ... */
    const char *name, *other;
    const char *usage, *summary;
    int view, clause; /* their number, or -1 */
};

typedef void each_entry(void *arg, const struct entry *e);

static void each_view(each_entry *each, void *arg)
{
    for (int i = 0; i < VIEW_KINDS; i++) {
        const struct view_word *v = &view_words[i];

        each(arg, &(struct entry){"view", v->name, v->others[0], v->usage, v->summary, i, -1});
    }
}

static void each_clause(each_entry *each, void *arg)
{
    for (int i = 0; i < CLAUSE_KINDS; i++) {
        const struct clause_word *c = &clause_words[i];

        each(arg, &(struct entry){"clause", c->name, c->other, c->usage, c->summary, -1, i});
    }
}

static void each_statement(each_entry *each, void *arg)
{
    for (int i = 0; i < STATEMENT_KINDS; i++) {
        const struct statement_word *w = &statement_words[i];

        if (w->name)
            each(arg, &(struct entry){"statement", w->name, w->other, w->usage, w->summary, -1, -1});
    }
}

static void each_function(each_entry *each, void *arg)
{
    for (int i = 0; i < FUNCTION_KINDS; i++) {
        const struct function_word *w = &function_words[i];

        each(arg, &(struct entry){"function", w->name, NULL, w->usage, w->summary, -1, -1});
    }
}

static void each_attribute(each_entry *each, void *arg)
{
    for (int i = 0; i < ATTRIBUTE_KINDS; i++)
        each(arg, &(struct entry){"attribute", attribute_words[i].name, NULL, attribute_words[i].name,
                                  attribute_words[i].summary, -1, -1});
}

static void each_setting(each_entry *each, void *arg)
{
    for (int i = 0; i < SETTING_KINDS; i++) {
        AUTO_STR struct str usage = {0};

        setting_usage(i, &usage);
        each(arg, &(struct entry){"setting", setting_words[i].name, setting_words[i].other, usage.s,
                                  setting_words[i].summary, -1, -1});
    }
}

static void each_format(each_entry *each, void *arg)
{
    for (const struct output_format *f = output_formats; f->name; f++) {
        AUTO_STR struct str usage = {0};

        str_addf(&usage, "as %s [to FILE]", f->name);
        each(arg, &(struct entry){"format", f->name, NULL, usage.s, f->summary, -1, -1});
    }
}

static const struct section {
    const char *title;
    void (*each)(each_entry *each, void *arg);
} sections[] = {
    {"views", each_view},       {"clauses", each_clause},     {"statements", each_statement},
    {"settings", each_setting}, {"functions", each_function}, {"attributes", each_attribute},
    {"formats", each_format},
};
enum { SECTIONS = sizeof sections / sizeof sections[0] };

static const char saved_topic[] = "queries", topics_title[] = "topics";

/* ---- help WORD ---- */

struct search {
    const char *word;
    struct str *out;
    bool found;
    bool begins; /* the word is the first of several */
};

static void add_line(struct str *out, const char *left, const char *right)
{
    if (strlen(left) > COLUMN - 3) {
        str_add(out, "  ");
        opt_wrap(out, left, 2, 4, whole_width());
        str_addc(out, '\n');
        str_repeat(out, ' ', COLUMN);
    } else {
        str_addf(out, "  %-*s", COLUMN - 2, left);
    }
    opt_wrap(out, right, COLUMN, COLUMN, line_width());
    str_addc(out, '\n');
}

/* The clauses that a view takes, or the views that take a clause. */
static void add_related(struct str *out, const struct entry *e)
{
    AUTO_STR struct str list = {0};

    for (int i = 0; e->view >= 0 && i < CLAUSE_KINDS; i++)
        if (clause_allowed(e->view, i, NULL))
            str_addf(&list, "%s%s", list.len ? ", " : "takes ", clause_words[i].name);
    for (int i = 0; e->clause >= 0 && i < VIEW_KINDS; i++)
        if (clause_allowed(i, e->clause, NULL))
            str_addf(&list, "%s%s", list.len ? ", " : "for ", view_words[i].name);
    if (!list.len)
        return;
    str_add(out, "  ");
    opt_wrap(out, list.s, 2, 2, line_width());
    str_addc(out, '\n');
}

/* `sort` of `sort by`. */
static bool begins(const char *name, const char *word)
{
    size_t len = strlen(word);

    return !strncasecmp(name, word, len) && name[len] == ' ';
}

static void tell(void *arg, const struct entry *e)
{
    struct search *s = arg;

    if (!(s->begins ? begins(e->name, s->word) : !strcasecmp(e->name, s->word)) &&
        (!e->other || strcasecmp(e->other, s->word)))
        return;
    AUTO_STR struct str head = {0};

    str_addf(&head, "%s (%s)", e->usage, e->what);
    str_add(s->out, s->found ? "\n" : "");
    opt_wrap(s->out, str_cstr(&head), 0, 4, whole_width());
    str_add(s->out, "\n  ");
    opt_wrap(s->out, e->summary, 2, 2, line_width());
    str_addc(s->out, '\n');
    add_related(s->out, e);
    s->found = true;
}

static void list(void *arg, const struct entry *e)
{
    add_line(arg, e->usage, e->summary);
}

static void list_name(void *arg, const struct entry *e)
{
    add_line(arg, e->name, e->summary);
}

static void list_saved(void *arg, const char *name, const char *path)
{
    AUTO_FREE char *summary = saved_summary(path);

    add_line(arg, name, summary ? summary : path);
}

static void list_topics(struct str *out)
{
    for (const struct topic *t = topics; t->name; t++)
        add_line(out, t->name, t->summary);
    add_line(out, saved_topic, "the saved queries, for `run NAME` and -q NAME");
}

/* Where the explanation in a line begins: behind its last gap that leaves room for some words. */
static size_t explanation(const char *line, size_t length, size_t width)
{
    size_t at = strspn(line, " ");

    for (size_t i = at; i + 2 < length && i + WIDTH_MIN / 2 < width; i++)
        if (line[i] == ' ' && line[i + 1] == ' ' && line[i + 2] != ' ')
            at = i + 2;
    return at;
}

/* The text of a topic; a line that is too long for the terminal goes on below its explanation. */
static void add_topic(struct str *out, const char *text)
{
    size_t width = whole_width(), n;

    for (; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        if (utf8_width_n(text, n) <= width) {
            str_addn(out, text, n);
        } else {
            size_t at = explanation(text, n, width);
            AUTO_FREE char *rest = xstrndup(text + at, n - at);

            str_addn(out, text, at);
            opt_wrap(out, rest, at, at, width);
        }
        str_addc(out, '\n');
    }
}

/* Whether a line of the topic begins with the word, so that it is explained there. */
static bool explains(const struct topic *t, const char *word)
{
    size_t len = strlen(word);

    for (const char *line = t->text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (str_begins(line, "  ") && !strncasecmp(line + 2, word, len) && line[2 + len] == ' ')
            return true;
    return false;
}

/* ---- all words ---- */

struct visitor {
    void (*each)(void *arg, const char *word);
    void *arg;
};

static void visit(void *arg, const struct entry *e)
{
    struct visitor *v = arg;

    v->each(v->arg, e->name);
    if (e->other)
        v->each(v->arg, e->other);
}

void help_each(void (*each)(void *arg, const char *word), void *arg)
{
    struct visitor v = {each, arg};

    for (int i = 0; i < SECTIONS; i++)
        sections[i].each(visit, &v);
    for (int i = 0; i < SECTIONS; i++)
        each(arg, sections[i].title);
    each(arg, topics_title);
    for (const struct topic *t = topics; t->name; t++)
        each(arg, t->name);
    each(arg, saved_topic);
}

static void suggest(void *arg, const char *word)
{
    suggest_add(arg, word);
}

static struct hq_error *unknown_word(const char *word)
{
    AUTO_STR struct str text = {0};
    struct suggest near;

    const char *here = foreign_statement(word);

    if (!here)
        here = foreign_clause(word);
    if (here)
        return hq_error_new(HQ_USAGE, "there is no help for `%s`; in a question that is: %s", word, here);
    suggest_init(&near, word, 3);
    help_each(suggest, &near);
    suggest_text(&near, &text);
    return hq_error_new(HQ_USAGE, "there is no help for `%s`%s", word,
                        text.len ? text.s : "; `help` alone lists what there is");
}

/* ---- the overview ---- */

static void add_name(void *arg, const struct entry *e)
{
    struct str *names = arg;

    str_addf(names, "%s%s", names->len ? ", " : "", e->name);
}

static void overview(struct str *out)
{
    str_add(out, "A question is a view, then clauses in any order:\n\n"
                 "  hot path                              follow the cost from the top down\n"
                 "  procedures limit 10                   the ten that cost most\n"
                 "  callers of MPI_Wait where cputime > 1%\n"
                 "  tree of \"solve*\" depth 4 as json to solve.json\n\nviews:\n");
    each_view(list_name, out);
    for (int i = 1; i < SECTIONS; i++) {
        AUTO_STR struct str names = {0};

        sections[i].each(add_name, &names);
        str_addf(out, "\n%s:\n  ", sections[i].title);
        opt_wrap(out, names.s, 2, 2, line_width());
        str_addc(out, '\n');
    }
    str_addf(out, "\n%s:\n", topics_title);
    list_topics(out);
    str_add(
        out,
        "\n`help WORD` explains any of these words, `help clauses` a whole list. At the prompt Tab completes, and ?\n"
        "after any beginning lists what may stand there. Ctrl-D leaves.\n");
}

/* Other words for topics, with a blank around each. */
static const struct {
    const char *words, *topic;
} also[] = {
    {" pattern regex regexp glob wildcard wildcards names ", "patterns"},
    {" value expression expressions unit units percentage % ", "values"},
    {" cumulative self-time result results ", "answers"},
    {" key keys completion history editing tab ", "prompt"},
    {" script status statuses exit-status exit-code ", "scripts"},
    {" baseline baselines bisect regression regressions github gitlab jenkins ", "ci"},
};

static bool names_topic(const struct topic *t, const char *word)
{
    bool names = !strcasecmp(t->name, word);

    for (size_t i = 0; i < sizeof also / sizeof *also; i++)
        names |= !strcmp(also[i].topic, t->name) && suggest_lists(also[i].words, word);
    return names;
}

static bool tell_word(const char *word, struct str *out)
{
    struct search s = {.word = word, .out = out};

    for (int i = 0; i < SECTIONS; i++)
        if (!strcasecmp(sections[i].title, word)) {
            sections[i].each(list, out);
            s.found = true;
        }
    for (int i = 0; i < SECTIONS; i++)
        sections[i].each(tell, &s);
    for (const struct topic *t = topics; t->name; t++)
        if (names_topic(t, word)) {
            str_add(out, s.found ? "\n" : "");
            add_topic(out, t->text);
            s.found = true;
        }
    if (!strcasecmp(word, saved_topic)) {
        AUTO_ERROR struct hq_error *error = saved_each(list_saved, out);

        if (error)
            str_addf(out, "(%s)\n", error->message);
        s.found = true;
    }
    if (!strcasecmp(word, topics_title)) {
        list_topics(out);
        s.found = true;
    }
    s.begins = !s.found;
    for (int i = 0; s.begins && i < SECTIONS; i++)
        sections[i].each(tell, &s);
    for (const struct topic *t = topics; !s.found && t->name; t++)
        if (explains(t, word)) {
            add_topic(out, t->text);
            s.found = true;
        }
    return s.found;
}

/* The longest beginning that is a word: `callers of main`, `ci(x)`. */
static bool tell_beginning(const char *text, struct str *out)
{
    AUTO_FREE char *part = xstrdup(text);
    bool found = false;

    for (size_t n = strlen(part); n > 0 && !found; n--)
        if (part[n - 1] == ' ' || part[n - 1] == '(') {
            part[n - 1] = '\0';
            found = tell_word(part, out);
        }
    return found;
}

/* `exit status`, which is more than `exit` */
static bool tell_joined(const char *text, struct str *out)
{
    AUTO_FREE char *word = xstrdup(text);

    for (char *c = word; (c = strchr(c, ' '));)
        *c = '-';
    return strchr(word, '-') && tell_word(word, out);
}

struct hq_error *help_word(const char *word, struct str *out)
{
    if (!word || !strcasecmp(word, "language")) {
        overview(out);
        return NULL;
    }
    bool found = tell_word(word, out) || (!strncasecmp(word, "set ", 4) && tell_word(word + 4, out)) ||
                 tell_joined(word, out) || tell_beginning(word, out);

    return found ? NULL : unknown_word(word);
}
