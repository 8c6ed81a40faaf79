/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of a row over the commits of a history (history.h): its steps, in words and as a picture. */
#include "repl/gate/history.h"
#include "query/output.h"
#include "repl/baseline/row_paths.h"
#include <math.h>
#include <string.h>

#define LEVEL 0.01  /* how likely a history in which nothing changed has a step */
#define LEAST 0.005 /* points of a share, or a part of an exact value: less is not told */

/* ---- from commits to rows ---- */

static bool asks(const struct history_commit *c, const struct course *row)
{
    vec_foreach(v, &c->values)
        if (!strcmp(v->query, row->query) && !strcmp(v->metric, row->metric))
            return true;
    return false;
}

/* The commits that have the metric of the query at all are those of which the row is something, or nothing. */
static void add_commits(const struct history *h, courses *all)
{
    vec_foreach(row, all)
        for (size_t i = 0; i < h->commits.len; i++)
            if (asks(&h->commits.data[i], row)) {
                vec_push(&row->commit, i);
                vec_push(&row->y, 0);
            }
}

static void set_value(struct course *row, size_t commit, double y)
{
    for (size_t i = 0; i < row->commit.len; i++)
        if (row->commit.data[i] == commit)
            row->y.data[i] = y;
}

/* Changes of less than this are not told. */
static double least_of(const struct course *row)
{
    double largest = 0;

    vec_foreach(y, &row->y)
        largest = fmax(largest, fabs(*y));
    return row->exact ? LEAST * largest : LEAST;
}

static void find_steps(struct course *row, size_t tests)
{
    enum { MOST = 16 };
    struct gate_step steps[MOST];
    AUTO_FREE double *y = xcalloc(row->y.len + 1, sizeof *y);

    /* A commit keeps no smaller shares: what it has not may have come to as much. */
    for (size_t i = 0; i < row->y.len; i++)
        y[i] = row->exact ? row->y.data[i] : fmax(row->y.data[i], BASELINE_LEAST);
    size_t n = gate_steps(y, row->y.len, LEVEL / (double)tests, least_of(row), row->exact ? 0 : row->samples, steps,
                          MOST);

    vec_append(&row->steps, steps, n);
}

static bool may_have_steps(const struct course *row)
{
    double mean = 0, squares = 0;

    vec_foreach(y, &row->y)
        mean += *y / (double)row->y.len;
    vec_foreach(y, &row->y)
        squares += (*y - mean) * (*y - mean);
    return squares >= gate_steps_squares(row->y.len, least_of(row));
}

static int by_values(const void *a, const void *b)
{
    const struct course *x = *(const struct course *const *)a, *y = *(const struct course *const *)b;

    return x->y.len != y->y.len ? (x->y.len < y->y.len ? -1 : 1)
                                : memcmp(x->y.data, y->y.data, x->y.len * sizeof *x->y.data);
}

/* How many courses may have steps; those that are alike, as that of a procedure which calls nothing is with and without
 * what it calls, are one. */
static size_t count_tests(const courses *all)
{
    VEC(const struct course *) list = {0};
    size_t n = 0;

    vec_foreach(row, all)
        if (may_have_steps(row))
            vec_push(&list, row);
    vec_sort(&list, by_values);
    for (size_t i = 0; i < list.len; i++)
        n += i == 0 || by_values(&list.data[i - 1], &list.data[i]) != 0;
    vec_deinit(&list);
    return n ? n : 1;
}

void history_courses(const struct history *h, courses *out)
{
    AUTO(row_names_deinit) struct row_names names = {0};

    for (int fill = 0; fill < 2; fill++) {
        for (size_t i = 0; i < h->commits.len; i++)
            vec_foreach(v, &h->commits.data[i].values) {
                AUTO_FREE char *key = xasprintf("%s\n%s", v->query, v->metric);
                bool is_new;
                uint32_t at = row_names_add(&names, key, v->path, &is_new);

                if (is_new)
                    vec_push(
                        out,
                        (struct course){
                            .query = v->query, .metric = v->metric, .path = v->path, .dim = v->dim, .exact = v->exact});
                struct course *row = &out->data[at];

                if (fill)
                    set_value(row, i, row->exact ? v->value : v->share);
                if (v->samples > 0 && (row->samples == 0 || v->samples < row->samples))
                    row->samples = v->samples;
            }
        if (!fill)
            add_commits(h, out);
    }
    size_t tests = count_tests(out);

    vec_foreach(row, out)
        find_steps(row, tests);
}

void courses_deinit(courses *c)
{
    vec_foreach(row, c) {
        vec_deinit(&row->y);
        vec_deinit(&row->commit);
        vec_deinit(&row->steps);
    }
    vec_deinit(c);
}

/* ---- in words ---- */

const char *course_name(const struct course *c, struct arena *arena)
{
    AUTO(row_paths_deinit) struct row_paths paths = {0};

    row_paths_add(&paths, c->path);
    return arena_printf(arena, "%s of %s", c->metric, row_paths_text(&paths, arena, c->path, false));
}

static const char *amount(const struct course *c, double y, struct arena *arena)
{
    char text[UNITS_TEXT];

    return c->exact ? arena_strdup(arena, units_format(text, y, c->dim)) : arena_printf(arena, "%.1f%%", 100 * y);
}

double course_step_size(const struct gate_step *s)
{
    return fabs(s->after - s->before) / fmax(fabs(s->before) + fabs(s->after), 1e-300);
}

static const char *commit_name(const struct history *h, const struct course *c, size_t i)
{
    return h->commits.data[c->commit.data[i < c->commit.len ? i : c->commit.len - 1]].name;
}

/* The first commit from which on the machine is another one, where the step may be; NULL. What the processor does not
 * change, exact amounts, their number may. */
static const char *other_machine(const struct history *h, const struct course *c, const struct gate_step *s)
{
    enum baseline_elsewhere least = c->exact ? MACHINE_COUNT : MACHINE_PROCESSOR;

    for (size_t i = s->first; i < s->last && i + 1 < c->commit.len; i++) {
        const struct history_commit *x = &h->commits.data[c->commit.data[i]],
                                    *y = &h->commits.data[c->commit.data[i + 1]];

        if (x->machine && y->machine && baseline_elsewhere(y->machine, x->machine) >= least)
            return y->name;
    }
    return NULL;
}

static const char *where_text(const struct history *h, const struct course *c, const struct gate_step *s,
                              const char *what, struct arena *arena)
{
    const char *from = commit_name(h, c, s->first), *to = commit_name(h, c, s->last);

    if (s->drift)
        return arena_printf(arena, "%s, little by little from %s to %s (%zu commits)", what, from, to,
                            s->last - s->first + 1);
    if (s->last - s->first == 1)
        return arena_printf(arena, "%s in %s", what, to);
    return arena_printf(arena, "%s behind %s, at the latest in %s; most likely in %s", what, from, to,
                        commit_name(h, c, s->at));
}

const char *course_step_text(const struct history *h, const struct course *c, const struct gate_step *s,
                             struct arena *arena)
{
    const char *what = arena_printf(arena, "%s: %s -> %s", course_name(c, arena), amount(c, s->before, arena),
                                    amount(c, s->after, arena));
    const char *text = where_text(h, c, s, what, arena), *other = other_machine(h, c, s);

    return other ? arena_printf(arena, "%s; from %s on it was measured on another machine", text, other) : text;
}

/* ---- as a picture ---- */

struct table *course_table(const struct history *h, const struct course *c)
{
    struct table *t = table_create();
    double unit = c->exact ? 1 : 100;

    t->query = t->view = "history";
    vec_push(&t->columns, (struct column){.name = arena_printf(&t->arena, "%s%s", course_name(c, &t->arena),
                                                               c->exact ? "" : ", % of the total"),
                                          .type = COLUMN_NUMBER,
                                          .dim = c->exact ? c->dim : DIM_NONE,
                                          .total = NAN});
    for (size_t i = 0; i < c->y.len; i++) {
        struct row *r = table_add_row(t);

        r->name = arena_strdup(&t->arena, commit_name(h, c, i));
        r->cells[0].number = round(1000 * unit * c->y.data[i]) / 1000;
    }
    vec_foreach(s, &c->steps)
        vec_push(&t->notes, course_step_text(h, c, s, &t->arena));
    return t;
}

struct hq_error *course_plot(const struct history *h, const struct course *c, FILE *out)
{
    struct table *t = course_table(h, c);
    struct output_options options;

    vec_clear(&t->notes); /* who draws it tells them */
    output_detect(&options, out);
    struct hq_error *error = output_write(output_find("plot"), t, &options, out);

    table_destroy(t);
    return error;
}

enum { WIDTH = 900, HEIGHT = 320, LEFT = 80, RIGHT = 20, TOP = 40, BOTTOM = 50 };

struct scale {
    double n, most;
};

static double x_of(const struct scale *s, double i)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (s->n > 1 ? i / (s->n - 1) : 0.5);
}

static double y_of(const struct scale *s, double y)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (s->most > 0 ? y / s->most : 0);
}

static void add_text(struct str *out, double x, double y, const char *anchor, const char *text)
{
    str_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    xml_escape(out, text);
    str_add(out, "</text>\n");
}

/* The levels between steps as lines, and where a step may lie as a band. */
static void add_levels(struct str *out, const struct scale *scale, const struct course *c)
{
    vec_foreach(s, &c->steps) {
        if (s->drift) {
            str_addf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#c0392b\"/>\n",
                     x_of(scale, (double)s->first), y_of(scale, s->before), x_of(scale, (double)s->last),
                     y_of(scale, s->after));
            continue;
        }
        double from = x_of(scale, (double)s->first), to = x_of(scale, (double)s->last);

        str_addf(out,
                 "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#c0392b\" fill-opacity=\"0.15\"/>\n",
                 from, TOP, to - from, HEIGHT - TOP - BOTTOM);
        size_t next = c->y.len;

        if (s + 1 < c->steps.data + c->steps.len)
            next = (s + 1)->at;
        double before_from = s == c->steps.data ? 0 : (double)(s - 1)->at;

        str_addf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#c0392b\"/>\n",
                 x_of(scale, before_from), y_of(scale, s->before), x_of(scale, (double)s->at - 1),
                 y_of(scale, s->before));
        str_addf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#c0392b\"/>\n",
                 x_of(scale, (double)s->at), y_of(scale, s->after), x_of(scale, (double)next - 1),
                 y_of(scale, s->after));
    }
}

void course_svg(const struct history *h, const struct course *c, struct str *out)
{
    AUTO(arena_deinit) struct arena arena = {0};
    struct scale scale = {.n = (double)c->y.len};

    vec_foreach(y, &c->y)
        scale.most = fmax(scale.most, *y);
    scale.most *= 1.1;
    str_addf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n"
             "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
             WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    add_text(out, LEFT, TOP - 18, "start", course_name(c, &arena));
    for (int i = 0; i <= 4; i++) {
        double y = scale.most * i / 4;

        str_addf(out, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", LEFT, y_of(&scale, y),
                 WIDTH - RIGHT, y_of(&scale, y));
        add_text(out, LEFT - 6, y_of(&scale, y) + 4, "end", i ? amount(c, y, &arena) : "0");
    }
    add_levels(out, &scale, c);
    str_add(out, "<polyline fill=\"none\" stroke=\"#2c5f8a\" points=\"");
    for (size_t i = 0; i < c->y.len; i++)
        str_addf(out, "%s%.1f,%.1f", i ? " " : "", x_of(&scale, (double)i), y_of(&scale, c->y.data[i]));
    str_add(out, "\"/>\n");
    for (size_t i = 0; i < c->y.len; i++) {
        str_addf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#2c5f8a\"><title>", x_of(&scale, (double)i),
                 y_of(&scale, c->y.data[i]));
        xml_escape(out, commit_name(h, c, i));
        str_add(out, ": ");
        xml_escape(out, amount(c, c->y.data[i], &arena));
        str_add(out, "</title></circle>\n");
    }
    if (c->y.len) {
        add_text(out, LEFT, HEIGHT - BOTTOM + 22, "start", commit_name(h, c, 0));
        add_text(out, WIDTH - RIGHT, HEIGHT - BOTTOM + 22, "end", commit_name(h, c, c->y.len - 1));
    }
    double line = HEIGHT - 12;

    if (c->steps.len)
        add_text(out, LEFT, line, "start", course_step_text(h, c, &c->steps.data[c->steps.len - 1], &arena));
    str_add(out, "</svg>\n");
}
