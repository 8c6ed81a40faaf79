/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/baseline/baseline.h"
#include "common/file.h"
#include "common/str.h"
#include <errno.h>
#include <math.h>
#include <string.h>

enum { FILE_MAX = 64 << 20 };

static const char head[] = "hq baseline ", last[] = "# end";
/* The number behind that: shares of all the time, and of what computes (baseline_split). */
enum { OF_ALL = 2, OF_WHAT_COMPUTES = 3 };

void baseline_deinit(struct baseline *b)
{
    vec_foreach(q, &b->queries) {
        loop_rows_deinit(&q->loops);
        vec_deinit(&q->values);
        vec_deinit(&q->settings);
    }
    vec_deinit(&b->queries);
    vec_deinit(&b->settings);
    arena_deinit(&b->arena);
}

char *baseline_path(const char *query_file)
{
    size_t n = strlen(query_file);

    if (n > 3 && !strcmp(query_file + n - 3, ".hq"))
        n -= 3;
    return xasprintf("%.*s.baseline", (int)n, query_file);
}

struct baseline_query *baseline_find(const struct baseline *b, const char *text)
{
    vec_foreach(q, &b->queries)
        if (!strcmp(q->text, text))
            return q;
    return NULL;
}

struct baseline_query *baseline_add(struct baseline *b, const char *text)
{
    vec_push(&b->queries, (struct baseline_query){.text = arena_strdup(&b->arena, text)});
    return &vec_last(&b->queries);
}

size_t baseline_size(const struct baseline *b)
{
    size_t n = 0;

    vec_foreach(q, &b->queries)
        n += q->values.len;
    return n;
}

/* ---- reading: a cursor over one line ---- */

struct line {
    const char *file;
    unsigned number;
    const char *at;
    const char *wrong;
    bool ends;   /* the head says that the last line is `last` */
    bool at_end; /* the present line is */
    unsigned version;
    struct row_names names; /* of the values of the present query */
};

static void fail(struct line *l, const char *what)
{
    if (!l->wrong)
        l->wrong = what;
}

/* Skips a text that must come next. */
static void want(struct line *l, const char *text)
{
    size_t n = strlen(text);

    if (!strncmp(l->at, text, n))
        l->at += n;
    else
        fail(l, "is not as hq check --update writes it");
}

static struct quantity quantity(struct line *l)
{
    size_t n = units_scan(l->at);
    struct quantity q = {0};
    struct hq_error *err = units_parse_n(l->at, n, &q);

    if (err)
        fail(l, "has a wrong number");
    hq_error_free(err);
    l->at += n;
    return q;
}

static const char *metric_name(struct line *l, struct arena *arena)
{
    bool quoted = *l->at == '"';
    size_t n = strcspn(l->at + quoted, quoted ? "\"" : " ");
    const char *name = arena_strndup(arena, l->at + quoted, n);

    l->at += n + quoted;
    if (quoted)
        want(l, "\"");
    if (!n)
        fail(l, "names no metric");
    return name;
}

/* ", sd 1.2%, mean 1.25s, spread 0.02s" and what a later version knows besides. */
static void read_more(struct line *l, struct baseline_value *v)
{
    const struct {
        const char *word;
        double *value;
    } known[] = {{"sd", &v->share_sd}, {"mean", &v->value}, {"spread", &v->value_sd}};

    while (str_begins(l->at, ", ")) {
        const char *word = l->at + 2;
        size_t n = strcspn(word, " :");

        l->at = word + n;
        want(l, " ");
        struct quantity q = quantity(l);

        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strlen(known[i].word) == n && !strncmp(word, known[i].word, n))
                *known[i].value = q.value;
        if (n == 4 && !strncmp(word, "mean", n))
            v->dim = q.dim;
    }
}

/* "of 2310", "of 9240 in 5 runs", "of exact", "of unknown" */
static void read_support(struct line *l, struct baseline_value *v)
{
    want(l, " of ");
    if (str_begins(l->at, "exact")) {
        v->samples = INFINITY;
        l->at += 5;
    } else if (str_begins(l->at, "unknown")) {
        v->samples = NAN;
        l->at += 7;
    } else {
        v->samples = quantity(l).value;
    }
    if (str_begins(l->at, " in ")) {
        l->at += 4;
        double runs = quantity(l).value;

        want(l, " runs");
        v->runs = runs >= 2 && runs < 1e6 ? (unsigned)runs : 0;
        if (!v->runs)
            fail(l, "has too few runs");
    }
    read_more(l, v);
}

static void read_value(struct line *l, struct baseline *b)
{
    struct baseline_value v = {.metric = metric_name(l, &b->arena)};
    struct quantity q;

    want(l, " ");
    q = quantity(l);
    v.dim = q.dim;
    want(l, " +-");
    v.tolerance = quantity(l).value;
    read_support(l, &v);
    want(l, ": ");
    v.path = arena_strdup(&b->arena, l->at);
    v.absolute = !q.percent;
    if (v.absolute && !isinf(v.samples))
        fail(l, "has a value where a share must be: only what is exact is kept as it is");
    if (v.absolute)
        v.value = q.value;
    else
        v.share = q.value;
    if (!b->queries.len)
        fail(l, "comes before any query");
    if (l->wrong)
        return;
    bool is_new;
    const struct baseline_value *known = baseline_value_add(&vec_last(&b->queries), &l->names, &v, &is_new);

    /* A merge may keep the lines of both sides: which of two values is right nobody knows. */
    if (!is_new && (known->share != v.share || known->value != v.value || known->tolerance != v.tolerance))
        fail(l, "is of a row that has another line, with other values");
}

/* `WORD: TEXT` before the first query. */
static bool is_head_line(const char *line)
{
    size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyz-");

    return n && str_begins(line + n, ": ");
}

static void read_system(struct line *l, struct baseline *b)
{
    l->at += 8;
    b->system = quantity(l).value;
    if (!(b->system >= 0 && b->system <= 1) || *l->at)
        fail(l, "has a wrong number");
}

static void read_ranks(struct line *l, struct baseline *b)
{
    l->at += 7;
    double ranks = quantity(l).value;

    if (!(ranks >= 1 && ranks < 1e9) || *l->at)
        fail(l, "has a wrong number");
    else
        b->ranks = (unsigned)ranks;
}

static void read_line(struct line *l, struct baseline *b)
{
    if (!*l->at || *l->at == '#') {
        l->at_end |= !strcmp(l->at, last);
        return;
    }
    l->at_end = false;
    if (str_begins(l->at, "set ")) {
        baseline_settings *into = b->queries.len ? &vec_last(&b->queries).settings : &b->settings;

        vec_push(into, arena_strdup(&b->arena, l->at));
        return;
    }
    if (str_begins(l->at, "hq baseline ")) {
        fail(l, "begins a second baseline, behind the first");
        return;
    }
    if (!str_begins(l->at, "query: ")) {
        if (!b->queries.len && !strcmp(l->at, "names: source"))
            b->by_source = true;
        else if (!b->queries.len && str_begins(l->at, "clock: "))
            b->clock = arena_strdup(&b->arena, l->at + 7);
        else if (!b->queries.len && str_begins(l->at, "machine: "))
            b->machine = arena_strdup(&b->arena, l->at + 9);
        else if (!b->queries.len && str_begins(l->at, "system: "))
            read_system(l, b);
        else if (!b->queries.len && str_begins(l->at, "ranks: "))
            read_ranks(l, b);
        else if (!b->queries.len && str_begins(l->at, "last-line: "))
            l->ends = true;
        else if (b->queries.len || !is_head_line(l->at))
            read_value(l, b);
        return;
    }
    if (baseline_find(b, l->at + 7))
        fail(l, "is there twice");
    else
        baseline_add(b, l->at + 7)->computes = l->version == OF_WHAT_COMPUTES;
    row_names_deinit(&l->names);
    l->names = (struct row_names){0};
}

/* Lines that a merge leaves where both sides changed the same. */
static bool is_conflict(const char *line)
{
    static const char *const marks[] = {"<<<<<<<", "|||||||", "=======", ">>>>>>>"};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!strncmp(line, marks[i], 7))
            return true;
    return false;
}

static struct hq_error *wrong_line(const struct line *l, const char *text)
{
    if (is_conflict(text))
        return hq_error_new(
            HQ_DATA,
            "%s:%u: this file holds an unresolved merge conflict; hq check --update writes it again and keeps its "
            "tolerances",
            l->file, l->number);
    return hq_error_new(HQ_DATA, "%s:%u: the line %s; correct it, or write the file again with hq check --update",
                        l->file, l->number, l->wrong);
}

static struct hq_error *wrong_head(const struct line *l, const char *line)
{
    if (!l->version)
        return hq_error_new(HQ_DATA, "%s is no baseline: it does not begin with `%s%d`", l->file, head, OF_ALL);
    if (l->version == 1)
        return hq_error_new(HQ_USAGE,
                            "%s is a baseline of hq 0.1, which told procedures apart by their names alone; write it "
                            "again with hq check --update, which keeps its tolerances",
                            l->file);
    return hq_error_new(HQ_USAGE, "%s is a baseline of a later version of hq: it begins with `%s`", l->file, line);
}

/* The first line: true if it is of this version. */
static bool read_head(struct line *l)
{
    if (sscanf(l->at, "hq baseline %u", &l->version) != 1)
        l->version = 0;
    return (l->version == OF_ALL || l->version == OF_WHAT_COMPUTES) && strlen(l->at) == sizeof head;
}

/* `text` is cut into lines; a byte order mark and carriage returns, which editors and git add, are no part of them. */
static struct hq_error *read_lines(struct line *l, char *text, bool forgiving, struct baseline *b)
{
    char *next;

    if (text && str_begins(text, "\xef\xbb\xbf"))
        text += 3;
    for (char *at = text; at && *at; at = next) {
        size_t n = strcspn(at, "\n");

        next = at + n + (at[n] == '\n');
        at[n] = '\0';
        if (n && at[n - 1] == '\r')
            at[n - 1] = '\0';
        l->at = at;
        l->number++;
        bool other = l->number == 1 && !read_head(l);

        if (other && !forgiving)
            return wrong_head(l, at);
        b->by_source |= other;
        if (l->number > 1)
            read_line(l, b);
        if (l->wrong && !forgiving)
            return wrong_line(l, at);
        l->wrong = NULL;
    }
    return NULL;
}

struct hq_error *baseline_read(const char *path, bool forgiving, struct baseline *b)
{
    AUTO_STR struct str text = {0};
    struct line l = {.file = path};

    *b = (struct baseline){0};
    if (file_is_absent(path))
        return NULL;
    HQ_TRY(file_read(path, &text, FILE_MAX));
    struct hq_error *error = read_lines(&l, text.len ? text.s : NULL, forgiving, b);

    row_names_deinit(&l.names);
    /* None is written without values, so this one was cut off; without an error its queries would judge nothing. */
    if (!error && !forgiving && (!b->queries.len || (l.ends && !l.at_end)))
        return hq_error_new(HQ_DATA, "%s %s: it was cut off; restore it, or write it again with hq check --update",
                            path, b->queries.len ? "does not end with `# end`" : "has no values of any query");
    if (!error && !forgiving && l.version == OF_ALL && b->system >= BASELINE_SYSTEM)
        return hq_error_new(
            HQ_USAGE,
            "%s is of an earlier hq, which did not tell what computes from what is in the system; write "
            "it again with hq check --update, which keeps its tolerances",
            path);
    return error;
}

/* ---- writing ---- */

static int by_path(const void *a, const void *b)
{
    const struct baseline_value *x = a, *y = b;
    int order = strcmp(x->path, y->path);

    return order ? order : strcmp(x->metric, y->metric);
}

static bool must_be_quoted(const char *metric)
{
    return !strcmp(metric, "set") || (strpbrk(metric, " :\"") && !strstr(metric, "::"));
}

static void add_settings(struct str *out, const baseline_settings *settings)
{
    vec_foreach(s, settings)
        str_addf(out, "%s\n", *s);
}

static void add_support(struct str *out, const struct baseline_value *v)
{
    const char *unit = dim_unit(v->dim);

    if (isnan(v->samples))
        str_add(out, " of unknown");
    else if (isinf(v->samples))
        str_add(out, " of exact");
    else
        str_addf(out, " of %.0f", v->samples);
    if (v->runs > 1)
        str_addf(out, " in %u runs", v->runs);
    if (v->runs > 1 && !v->absolute)
        str_addf(out, ", sd %.3g%%", 100 * v->share_sd);
    if (!v->absolute && (v->runs > 1 || v->value > 0))
        str_addf(out, ", mean %.6g%s", v->value, unit);
    if (v->runs > 1)
        str_addf(out, ", spread %.3g%s", v->value_sd, unit);
}

static void add_value(struct str *out, const struct baseline_value *v)
{
    str_addf(out, must_be_quoted(v->metric) ? "\"%s\"" : "%s", v->metric);
    if (v->absolute)
        str_addf(out, " %.9g%s +-%.3g%%", v->value, dim_unit(v->dim), 100 * v->tolerance);
    else
        str_addf(out, " %.2f%% +-%.3g%%", 100 * v->share, 100 * v->tolerance);
    add_support(out, v);
    str_addf(out, ": %s\n", v->path);
}

struct hq_error *baseline_write(const char *path, const struct baseline *b)
{
    AUTO_STR struct str out = {0};
    struct file_writer w;

    bool computes = b->queries.len && b->queries.data[0].computes;

    str_addf(&out, "%s%d\nnames: %s\n", head, computes ? OF_WHAT_COMPUTES : OF_ALL,
             b->by_source ? "source" : "linkage");
    if (b->clock)
        str_addf(&out, "clock: %s\n", b->clock);
    if (b->machine)
        str_addf(&out, "machine: %s\n", b->machine);
    if (b->ranks)
        str_addf(&out, "ranks: %u\n", b->ranks);
    /* In steps, so that an update changes few lines. */
    if (b->system >= BASELINE_SYSTEM)
        str_addf(&out, "system: %.0f%%\n", 5 * round(b->system * 20));
    str_addf(&out, "last-line: %s\n", last);
    add_settings(&out, &b->settings);
    vec_foreach(q, &b->queries) {
        str_addf(&out, "\nquery: %s\n", q->text);
        add_settings(&out, &q->settings);
        vec_sort(&q->values, by_path);
        vec_foreach(v, &q->values)
            add_value(&out, v);
    }
    str_addf(&out, "\n%s\n", last);
    HQ_TRY(file_writer_open(&w, path));
    file_writer_write(&w, str_cstr(&out), out.len);
    return file_writer_commit(&w);
}
