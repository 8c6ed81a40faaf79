/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq history DIR`: what `hq check --history DIR` kept of the commits: steps, drifts, and the course of a row. */
#include "common/file.h"
#include "repl/command.h"
#include "repl/gate/history.h"
#include <stdio.h>
#include <string.h>

enum { STEPS_MOST = 20, ROWS_MOST = 4 };

static const struct opt options[] = {
    {.name = "metric", .letter = 'm', .value = "METRIC", .help = "draw this metric (default: the first one)"},
    {.name = "svg", .value = "FILE", .help = "draw the row into a picture; - is standard output"},
    {0}};

struct told {
    const struct course *course;
    const struct gate_step *step;
};

/* The latest first, and of one commit the largest. */
static int by_time(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    size_t i = x->course->commit.data[x->step->at], k = y->course->commit.data[y->step->at];
    double p = course_step_size(x->step), q = course_step_size(y->step);

    return i != k ? (i < k ? 1 : -1) : p < q ? 1 : p > q ? -1 : strcmp(x->course->path, y->course->path);
}

static void tell_steps(const struct history *h, const courses *all)
{
    AUTO(arena_deinit) struct arena arena = {0};
    VEC(struct told) list = {0};
    size_t n = h->commits.len;

    vec_foreach(c, all)
        vec_foreach(s, &c->steps)
            vec_push(&list, (struct told){c, s});
    vec_sort(&list, by_time);
    utf8_tell_line(arena_printf(&arena, "%zu commit%s, %s to %s; %zu rows, %zu step%s", n, n == 1 ? "" : "s",
                                h->commits.data[0].name, h->commits.data[n - 1].name, all->len, list.len,
                                list.len == 1 ? "" : "s"),
                   stdout);
    for (size_t i = 0; i < list.len && i < STEPS_MOST; i++)
        utf8_tell_line(
            arena_printf(&arena, "  %s", course_step_text(h, list.data[i].course, list.data[i].step, &arena)), stdout);
    if (list.len > STEPS_MOST)
        printf("  and %zu more\n", list.len - STEPS_MOST);
    if (h->untold)
        printf(
            "  %zu commit%s of the same time as the one behind, and git did not count them: by their names they stand "
            "in this order\n",
            h->untold, h->untold == 1 ? " is" : "s are");
    if (h->apart)
        printf(
            "  %zu commit%s as many before %s as the one behind: of another branch, or replaced by it (rebase, amend); "
            "steps beside %s may be due to that\n",
            h->apart, h->apart == 1 ? " has" : "s have", h->apart == 1 ? "it" : "them", h->apart == 1 ? "it" : "them");
    if (n < STEPS_LEAST)
        printf("  a step can be seen from %d commits on\n", STEPS_LEAST);
    vec_deinit(&list);
}

/* How well a row is what was asked for: 0 not at all. */
static int match(const struct course *c, const char *row, const char *metric)
{
    const char *last = baseline_own_scope(c->path);

    if (metric ? strcmp(c->metric, metric) : c->metric[baseline_metric_length(c->metric)])
        return 0;
    const char *name = strchr(last, ' ');
    size_t n = strlen(row);

    if (name && !strncmp(name + 1, row, n) && (!name[1 + n] || name[1 + n] == ' ' || name[1 + n] == '('))
        return last == c->path ? 3 : 2;
    return strstr(c->path, row) ? 1 : 0;
}

static struct hq_error *write_svg(const struct history *h, const struct course *c, const char *path)
{
    AUTO_STR struct str out = {0};
    struct file_writer w;

    course_svg(h, c, &out);
    if (!strcmp(path, "-")) {
        fwrite(str_cstr(&out), 1, out.len, stdout);
        return fflush(stdout) ? hq_error_errno(HQ_DATA, "cannot write the picture") : NULL;
    }
    HQ_TRY(file_writer_open(&w, path));
    file_writer_write(&w, str_cstr(&out), out.len);
    return file_writer_commit(&w);
}

static struct hq_error *draw(const struct history *h, const courses *all, const char *row, const char *metric,
                             const char *svg)
{
    AUTO(arena_deinit) struct arena arena = {0};
    size_t drawn = 0;

    for (int wanted = 3; wanted > 0 && !drawn; wanted--)
        vec_foreach(c, all) {
            if (match(c, row, metric) != wanted || drawn == ROWS_MOST)
                continue;
            if (svg)
                return write_svg(h, c, svg);
            if (drawn++)
                putchar('\n');
            HQ_TRY(course_plot(h, c, stdout));
            vec_foreach(s, &c->steps)
                utf8_tell_line(course_step_text(h, c, s, &arena), stdout);
        }
    return drawn ? NULL
                 : hq_error_new(HQ_USAGE, "the history has no row `%s`%s%s; hq history DIR names those that changed",
                                row, metric ? " with the metric " : "", metric ? metric : "");
}

static int run(const struct opt_args *args)
{
    AUTO(history_deinit) struct history h = {0};
    const char *svg = opt_value(args, "svg"), *metric = opt_value(args, "metric");
    courses all = {0};
    size_t n = args->operands.len;

    if (n < 1 || n > 2)
        return command_usage("history", n ? "%s is too much" : "the directory is missing",
                             n ? args->operands.data[2] : NULL);
    if (n == 1 && svg)
        return command_usage("history", "--svg draws one row: name it behind the directory");
    struct hq_error *error = history_read(args->operands.data[0], NULL, &h);

    if (!error && !h.commits.len)
        error = hq_error_new(HQ_USAGE, "%s holds no history; hq check --history %s DB FILE writes one",
                             args->operands.data[0], args->operands.data[0]);
    if (!error) {
        history_courses(&h, &all);
        if (n == 1)
            tell_steps(&h, &all);
        else
            error = draw(&h, &all, args->operands.data[1], metric, svg);
    }
    courses_deinit(&all);
    return error ? command_fail("history", error) : HQ_OK;
}

const struct command cmd_history = {
    .cmd =
        {
            .name = "history",
            .usage = "DIR [ROW] [--svg FILE]",
            .summary = "what changed over the commits, and when",
            .description =
                "Reads what `hq check --history DIR` kept of each commit. Without ROW it lists the steps, the latest "
                "first: rows whose level changed, with the commits between which it did, and drifts, which go on "
                "little by little so that no single commit shows them. With ROW, the name of a procedure or a part "
                "of a call path, it draws its course. A history in which nothing changed has a step in one case of "
                "a hundred.",
            .examples = "  hq check run.hq perf/*.hq --history perf/history\n"
                        "  hq history perf/history\n"
                        "  hq history perf/history solve\n"
                        "  hq history perf/history solve --svg solve.svg\n",
            .options = options,
        },
    .run = run,
};
