/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/baseline.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/map.h"
#include <errno.h>
#include <math.h>
#include <string.h>

enum { FILE_MAX = 64 << 20 };

static const char head[] = "hq baseline 1";

void baseline_deinit(struct baseline *b)
{
    vec_foreach(q, &b->queries)
        vec_deinit(&q->values);
    vec_deinit(&b->queries);
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

const struct baseline_value *baseline_value_find(const struct baseline_query *q, const struct baseline_value *like)
{
    for (size_t i = 0; q && i < q->values.len; i++)
        if (!strcmp(q->values.data[i].metric, like->metric) && !strcmp(q->values.data[i].path, like->path))
            return &q->values.data[i];
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

    if (strncmp(l->at, text, n) == 0)
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

/* "of 2310", "of exact", "of unknown", "of 4 runs, sd 0.02s" */
static void read_support(struct line *l, struct baseline_value *v)
{
    want(l, " of ");
    if (!strncmp(l->at, "exact:", 6)) {
        v->samples = INFINITY;
        l->at += 5;
    } else if (!strncmp(l->at, "unknown:", 8)) {
        v->samples = NAN;
        l->at += 7;
    } else {
        v->samples = quantity(l).value;
    }
    v->absolute = !strncmp(l->at, " runs", 5);
    if (v->absolute) {
        v->runs = v->samples >= 1 && v->samples < 1e6 ? (unsigned)v->samples : 0;
        want(l, " runs, sd ");
        v->sd = quantity(l).value;
    }
    if (v->absolute && v->runs < 2)
        fail(l, "has too few runs");
}

static void read_value(struct line *l, struct baseline *b)
{
    struct baseline_value v = {.metric = metric_name(l, &b->arena)};
    struct quantity q;

    want(l, " ");
    q = quantity(l);
    want(l, " +-");
    v.tolerance = quantity(l).value;
    read_support(l, &v);
    want(l, ": ");
    v.path = arena_strdup(&b->arena, l->at);
    v.dim = q.dim;
    if (v.absolute == q.percent)
        fail(l, "mixes a share and runs");
    if (v.absolute)
        v.value = q.value;
    else
        v.share = q.value;
    if (!b->queries.len)
        fail(l, "comes before any query");
    if (!l->wrong)
        vec_push(&vec_last(&b->queries).values, v);
}

static void read_line(struct line *l, struct baseline *b)
{
    if (!*l->at || *l->at == '#')
        return;
    if (strncmp(l->at, "query: ", 7) != 0) {
        read_value(l, b);
        return;
    }
    if (baseline_find(b, l->at + 7))
        fail(l, "is there twice");
    else
        baseline_add(b, l->at + 7);
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

struct hq_error *baseline_read(const char *path, bool forgiving, struct baseline *b)
{
    AUTO_STR struct str text = {0};
    struct line l = {.file = path};
    char *next;

    *b = (struct baseline){0};
    if (!file_exists(path))
        return NULL;
    HQ_TRY(file_read(path, &text, FILE_MAX));
    for (char *at = text.len ? text.s : NULL; at && *at; at = next) {
        size_t n = strcspn(at, "\n");

        next = at + n + (at[n] == '\n');
        at[n] = '\0';
        l.at = at;
        l.number++;
        if (l.number == 1 && strcmp(at, head) != 0 && !forgiving)
            return hq_error_new(HQ_DATA, "%s is no baseline of this version of hq: it does not begin with `%s`", path,
                                head);
        if (l.number > 1)
            read_line(&l, b);
        if (l.wrong && !forgiving)
            return wrong_line(&l, at);
        l.wrong = NULL;
    }
    return NULL;
}

/* ---- writing ---- */

static int by_path(const void *a, const void *b)
{
    const struct baseline_value *x = a, *y = b;
    int order = strcmp(x->path, y->path);

    return order ? order : strcmp(x->metric, y->metric);
}

static void add_value(struct str *out, const struct baseline_value *v)
{
    str_addf(out, strpbrk(v->metric, " :\"") && !strstr(v->metric, "::") ? "\"%s\"" : "%s", v->metric);
    if (v->absolute)
        str_addf(out, " %.6g%s +-%.3g%% of %u runs, sd %.3g%s", v->value, dim_unit(v->dim), 100 * v->tolerance, v->runs,
                 v->sd, dim_unit(v->dim));
    else if (isnan(v->samples))
        str_addf(out, " %.2f%% +-%.3g%% of unknown", 100 * v->share, 100 * v->tolerance);
    else if (isinf(v->samples))
        str_addf(out, " %.2f%% +-%.3g%% of exact", 100 * v->share, 100 * v->tolerance);
    else
        str_addf(out, " %.2f%% +-%.3g%% of %.0f", 100 * v->share, 100 * v->tolerance, v->samples);
    str_addf(out, ": %s\n", v->path);
}

struct hq_error *baseline_write(const char *path, const struct baseline *b)
{
    AUTO_STR struct str out = {0};
    struct file_writer w;

    str_addf(&out, "%s\n", head);
    vec_foreach(q, &b->queries) {
        str_addf(&out, "\nquery: %s\n", q->text);
        vec_sort(&q->values, by_path);
        vec_foreach(v, &q->values)
            add_value(&out, v);
    }
    HQ_TRY(file_writer_open(&w, path));
    file_writer_write(&w, str_cstr(&out), out.len);
    return file_writer_commit(&w);
}

/* ---- from a table ---- */

static struct baseline_value *find_value(const struct baseline_query *q, const char *metric, const char *path)
{
    vec_foreach(v, &q->values)
        if (!strcmp(v->metric, metric) && !strcmp(v->path, path))
            return v;
    return NULL;
}

static bool is_measured(const struct column *c)
{
    return c->type == COLUMN_NUMBER && c->metric && c->scope != SCOPED_NONE && c->total > 0 && isfinite(c->total) &&
           !c->marks_sign && strncmp(c->name, "old.", 4) != 0;
}

/* How many samples the whole has: a value of k samples has a 95 % interval of 1.96 value / sqrt(k). Read from the
 * largest row. */
static double samples_of(const struct table *t, size_t column)
{
    const struct cell *best = NULL;

    vec_foreach(r, &t->rows) {
        const struct cell *cell = &r->cells[column];

        if (cell->number > 0 && (!best || cell->number > best->number))
            best = cell;
    }
    if (!best || isnan(best->ci))
        return NAN;
    if (best->ci == 0)
        return INFINITY;
    double k = 1.959963984540054 * best->number / best->ci;

    return round(k * k * t->columns.data[column].total / best->number);
}

/* Paths of names, as deep as the row: path[depth] is that of the last row at the depth. A part without a name ends it.
 */
static const char *row_path(struct arena *arena, const struct row *r, const char **paths, int max)
{
    const char *path = r->key && r->depth < max ? r->key : NULL;

    if (r->depth >= max)
        return NULL;
    if (path && r->depth > 0)
        path = paths[r->depth - 1] ? arena_printf(arena, "%s > %s", paths[r->depth - 1], path) : NULL;
    if (path) {
        char *line = arena_strdup(arena, path);

        for (char *c = line; *c; c++)
            *c = *c == '\n' ? ' ' : *c;
        path = line;
    }
    paths[r->depth] = path;
    return path;
}

/* The value of a path and metric, new if there was none: `index` is by their hash. Two paths of one hash are tried one
 * after the other. */
static struct baseline_value *value_at(struct baseline_query *q, struct map *index, const struct baseline_value *fresh)
{
    for (uint64_t salt = 0;; salt++) {
        uint64_t key = hash_combine(hash_combine(salt, hash_str(fresh->metric)), hash_str(fresh->path));
        bool is_new;
        uint64_t at = *map_insert(index, key ? key : 1, q->values.len, &is_new);

        if (is_new)
            vec_push(&q->values, *fresh);
        if (!strcmp(q->values.data[at].path, fresh->path) && !strcmp(q->values.data[at].metric, fresh->metric))
            return &q->values.data[at];
    }
}

static void add_cell(struct baseline_query *q, struct map *index, const struct column *c, const struct cell *cell,
                     const char *path, double samples, bool outside)
{
    struct baseline_value fresh = {.metric = c->name, .path = path, .samples = samples, .dim = c->dim, .outside = true};
    struct baseline_value *v = value_at(q, index, &fresh);

    v->outside &= outside;
    v->share += cell->number / c->total;
    v->value += cell->number;
}

enum { DEPTH_MAX = 256 };

void baseline_measure(struct baseline *b, struct baseline_query *q, const struct table *t, double least)
{
    const char *paths[DEPTH_MAX] = {NULL};
    AUTO(map_deinit) struct map index = {0};
    size_t kept = 0;

    for (size_t c = 0; c < t->columns.len; c++) {
        struct column column = t->columns.data[c];
        double samples = is_measured(&column) ? samples_of(t, c) : 0;

        if (!is_measured(&column))
            continue;
        column.name = arena_strdup(&b->arena, column.name);
        vec_foreach(r, &t->rows) {
            const char *path = r->flags & ROW_FOLDED ? NULL : row_path(&b->arena, r, paths, DEPTH_MAX);

            if (path && r->cells[c].number > 0)
                add_cell(q, &index, &column, &r->cells[c], path, samples, r->flags & ROW_ANCESTOR);
        }
    }
    vec_foreach(v, &q->values)
        if (v->share >= least)
            q->values.data[kept++] = *v;
    q->values.len = kept;
}

void baseline_average(struct baseline *b, struct baseline_query *q, const struct baseline_query *const *runs, size_t n)
{
    (void)b;
    vec_foreach(first, &runs[0]->values) {
        struct baseline_value v = *first;
        double sum = 0, squares = 0, share = 0, samples = 0;
        size_t found = 0;

        for (size_t i = 0; i < n; i++) {
            const struct baseline_value *one = find_value(runs[i], v.metric, v.path);

            if (!one)
                break;
            found++;
            v.outside = v.outside && one->outside;
            sum += one->value;
            share += one->share;
            samples += one->samples;
        }
        if (found < n)
            continue;
        for (size_t i = 0; i < n; i++) {
            double off = find_value(runs[i], v.metric, v.path)->value - sum / (double)n;

            squares += off * off;
        }
        v.absolute = n > 1;
        v.runs = (unsigned)n;
        v.value = sum / (double)n;
        v.sd = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
        v.share = share / (double)n;
        v.samples = samples;
        vec_push(&q->values, v);
    }
}
