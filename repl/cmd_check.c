/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq check DB FILE...`: expectations and baselines of saved queries, for CI. */
#include "common/file.h"
#include "common/log.h"
#include "common/progress.h"
#include "query/grammar/words.h"
#include "repl/baseline.h"
#include "repl/command.h"
#include "repl/session.h"
#include <signal.h>
#include <string.h>
#include <time.h>

enum { BISECT_SKIP = 125 };

#define LEAST      0.005  /* the smallest share that comes into a baseline */
#define LEAST_KEPT 0.0025 /* and that stays in one, so that a row on the edge does not come and go */

static const char *const inconclusive_choices[] = {"pass", "fail", "report", NULL};

static const struct opt options[] = {
    {.name = "update",
     .letter = 'u',
     .help = "write the values of each query beside it, into FILE.baseline, instead of comparing with them"},
    {.name = "tolerance",
     .value = "P%",
     .help = "with --update: what a value may rise by; percentage points of a share, percent of a mean over runs "
             "(default: as before, 2% at first)"},
    {.name = "run",
     .value = "DB",
     .repeats = true,
     .help = "another run of the same program; of three runs or more, baselines hold seconds (or events, bytes) "
             "instead of shares"},
    {.name = "junit", .value = "FILE", .help = "write a report in JUnit XML; - is standard output, in place of TAP"},
    {.name = "markdown",
     .value = "FILE",
     .help = "write a report in Markdown, as for a pull request; - is standard output, in place of TAP"},
    {.name = "bisect", .help = "exit with 0 (passed), 1 (failed) or 125 (could not tell), as `git bisect run` wants"},
    {.name = "define",
     .letter = 'D',
     .value = "NAME=VALUE",
     .repeats = true,
     .help = "the value of {{NAME}} in queries"},
    {.name = "strict", .help = "a pattern that matches nothing is an error"},
    {.name = "inconclusive",
     .value = "AS",
     .choices = inconclusive_choices,
     .help = "what counts as too few samples to tell: pass, fail, or report (status 4, the default)"},
    {.name = "quiet", .help = "no hints and notes"},
    {.name = "verbose", .letter = 'v', .help = "say what is being done, and what passed checks found"},
    {0}};

struct runner {
    const struct opt_args *args;
    struct checks checks;
    struct session session; /* of the present file */
    const char *db, *file;
    struct baseline before, after;
    bool update, keep_tolerance, verbose, touched;
    enum check_outcome inconclusive; /* what it counts as */
    double tolerance;
    int status; /* the gravest of errors */
    FILE *tap;  /* NULL: none is wanted */
};

/* ---- points ---- */

static double seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static struct check *new_check(struct runner *r, enum check_outcome outcome, const char *name, unsigned line)
{
    vec_push(&r->checks.all, (struct check){.outcome = outcome,
                                            .file = arena_strdup(&r->checks.arena, r->file),
                                            .line = line,
                                            .name = arena_strdup(&r->checks.arena, name)});
    r->touched = true;
    return &vec_last(&r->checks.all);
}

static void add_line(struct runner *r, struct check *c, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        vec_push(&c->lines, arena_strndup(&r->checks.arena, text, n));
        text += n + (text[n] == '\n');
    }
}

/* The last check is whole: print it. */
static void finish(struct runner *r, double start)
{
    struct check *c = &vec_last(&r->checks.all);

    if (c->outcome == CHECK_INCONCLUSIVE)
        c->outcome = r->inconclusive;
    c->seconds = seconds() - start;
    if (r->tap)
        tap_point(c, r->checks.all.len, r->tap);
}

static void on_error(void *arg, const struct hq_error *error)
{
    struct runner *r = arg;
    struct check *c = new_check(r, CHECK_ERROR, "cannot be run", 0);

    add_line(r, c, error->message);
    r->status = exit_worse(r->status, error->status);
    finish(r, seconds());
}

/* ---- expectations ---- */

static void tell_expectations(struct runner *r, struct check *c, const struct table *t)
{
    vec_foreach(note, &t->notes)
        if (strstr(*note, ": expect ") && (r->verbose || strncmp(*note, "pass", 4) != 0))
            add_line(r, c, *note);
}

static unsigned line_of(const struct statement *st)
{
    return st->place.line;
}

static struct hq_error *check_expectations(struct runner *r, const struct statement *st)
{
    static const enum check_outcome outcomes[] = {
        [VERDICT_PASS] = CHECK_PASS, [VERDICT_FAIL] = CHECK_FAIL, [VERDICT_INCONCLUSIVE] = CHECK_INCONCLUSIVE};
    AUTO(arena_deinit) struct arena arena = {0};
    struct table *t = NULL;
    double start = seconds();
    struct hq_error *error = query_run(&r->session.env, st, &t);

    if (!error && t && t->verdict.kind != VERDICT_NONE) {
        struct check *c = new_check(r, outcomes[t->verdict.kind], print_statement(&arena, st), line_of(st));

        tell_expectations(r, c, t);
        finish(r, start);
    } else if (!error && t) {
        vec_foreach(note, &t->notes)
            log_note("%s:%u: %s", r->file, line_of(st), *note);
    }
    table_destroy(t);
    return error;
}

/* ---- baselines ---- */

/*
 * All rows that the query means, with their intervals. A limit would make rows come and go, and so would a filter that
 * they cross: those that `where` leaves out are measured too, and marked.
 */
static struct hq_error *measure(struct runner *r, const struct statement *st, struct baseline *into,
                                struct baseline_query *q)
{
    struct query_env *env = &r->session.env;
    struct statement whole = *st;
    struct table *t = NULL;
    bool ci = env->ci;

    whole.query.expect.len = 0;
    whole.query.as = NULL;
    whole.query.limit = 0;
    whole.query.all = true;
    env->ci = env->keep_all = true;
    struct hq_error *error = query_run(env, &whole, &t);

    env->ci = ci;
    env->keep_all = false;
    if (!error && t && !t->facts && !t->picture)
        baseline_measure(into, q, t, r->update ? LEAST_KEPT : LEAST);
    table_destroy(t);
    return error;
}

/* The values of this database, or the means over it and those of --run. */
static struct hq_error *measure_runs(struct runner *r, const struct statement *st, struct baseline *into,
                                     const char *text)
{
    size_t n = 1 + opt_count(r->args, "run");
    struct baseline_query *q;
    struct hq_error *error = NULL;

    if (n == 1)
        return measure(r, st, into, baseline_add(into, text));
    struct baseline_query *runs = xcalloc(n, sizeof *runs);
    const struct baseline_query **list = xcalloc(n, sizeof *list);

    for (size_t i = 0; i < n && !error; i++) {
        list[i] = &runs[i];
        error = session_open(&r->session, i ? opt_value_at(r->args, "run", i - 1) : r->db, NULL);
        if (!error)
            error = measure(r, st, into, &runs[i]);
    }
    if (!error)
        error = session_open(&r->session, r->db, NULL);
    q = baseline_add(into, text);
    if (!error)
        baseline_average(into, q, list, n);
    for (size_t i = 0; i < n; i++)
        vec_deinit(&runs[i].values);
    free(runs);
    free(list);
    return error;
}

static bool has_baseline(const struct statement *st)
{
    return st->kind == STATEMENT_QUERY && !st->query.compare && view_has_costs(st->query.view.kind);
}

/* The query without what does not change its values; names the baseline. */
static const char *query_text(struct arena *arena, const struct statement *st)
{
    struct query q = st->query;

    q.expect.len = 0;
    q.limit = 0;
    q.as = NULL;
    return print_query(arena, &q);
}

static struct hq_error *update_baseline(struct runner *r, const struct statement *st, const char *text)
{
    HQ_TRY(measure_runs(r, st, &r->after, text));
    struct baseline_query *q = &vec_last(&r->after.queries);

    baseline_renew(q, r->keep_tolerance ? baseline_find(&r->before, text) : NULL, r->tolerance, LEAST);
    if (!q->values.len) {
        vec_deinit(&q->values);
        r->after.queries.len--;
    } else {
        log_note("%s:%u: %zu values", r->file, line_of(st), q->values.len);
    }
    return NULL;
}

static const char *metric_names(struct arena *arena, const struct baseline_query *q)
{
    const char *names = "";

    vec_foreach(v, &q->values)
        if (!strstr(names, v->metric))
            names = *names ? arena_printf(arena, "%s, %s", names, v->metric) : v->metric;
    return *names ? names : "nothing";
}

/* A run of other events cannot be compared with: everything would be new. */
static struct hq_error *check_metrics(const struct baseline_query *before, const struct baseline_query *now)
{
    AUTO(arena_deinit) struct arena arena = {0};

    vec_foreach(v, &now->values)
        vec_foreach(old, &before->values)
            if (!strcmp(v->metric, old->metric))
                return NULL;
    if (!now->values.len || !before->values.len)
        return NULL;
    return hq_error_new(
        HQ_USAGE,
        "the baseline holds %s, and this run has %s; record the same events, or write the baseline again with "
        "hq check --update",
        metric_names(&arena, before), metric_names(&arena, now));
}

static struct hq_error *check_baseline(struct runner *r, const struct statement *st)
{
    AUTO(arena_deinit) struct arena arena = {0};
    const char *text = query_text(&arena, st);
    struct baseline_query *before = baseline_find(&r->before, text);
    AUTO(baseline_deinit) struct baseline now = {0};
    double start = seconds();

    if (!has_baseline(st) || (r->update && baseline_find(&r->after, text)))
        return NULL;
    if (r->update)
        return update_baseline(r, st, text);
    if (!before) {
        if (r->before.queries.len && !st->query.expect.len)
            log_warn("%s:%u: the baseline has no values of this query; hq check --update writes them", r->file,
                     line_of(st));
        return NULL;
    }
    before->asked = true;
    HQ_TRY(measure_runs(r, st, &now, text));
    HQ_TRY(check_metrics(before, &now.queries.data[0]));
    struct check_lines lines = {0};
    double alpha = baseline_alpha(&r->before, &now.queries.data[0]);
    enum check_outcome outcome = baseline_judge(before, &now.queries.data[0], alpha, &arena, &lines);
    struct check *c = new_check(r, outcome, arena_printf(&arena, "baseline of %s", text), line_of(st));

    vec_foreach(line, &lines)
        add_line(r, c, *line);
    vec_deinit(&lines);
    finish(r, start);
    return NULL;
}

static struct hq_error *on_query(void *arg, const struct statement *st)
{
    struct runner *r = arg;

    HQ_TRY(check_baseline(r, st));
    return check_expectations(r, st);
}

/* ---- files ---- */

static struct hq_error *open_session(struct runner *r, struct arena *arena)
{
    struct session *s = &r->session;

    session_init(s);
    s->quiet = opt_flag(r->args, "quiet", false);
    s->strict = s->env.strict = opt_flag(r->args, "strict", false);
    s->on_query = on_query;
    s->on_error = on_error;
    s->on_arg = r;
    HQ_TRY(session_parameters(s, r->args, arena));
    return session_open(s, r->db, NULL);
}

/* A query that was changed has left its values behind. */
static void tell_unasked(const struct runner *r, const char *path)
{
    vec_foreach(q, &r->before.queries)
        if (!q->asked)
            log_warn("%s: %s does not ask `%s`; hq check --update forgets it", path, r->file, q->text);
}

static struct hq_error *write_baseline(struct runner *r, const char *path)
{
    if (!r->update || !r->after.queries.len)
        return NULL;
    HQ_TRY(baseline_write(path, &r->after));
    log_note("%s: %zu values of %zu quer%s", path, baseline_size(&r->after), r->after.queries.len,
             r->after.queries.len == 1 ? "y" : "ies");
    return NULL;
}

/* An error that is not about one statement: the file as a whole cannot be checked. */
static struct hq_error *check_file(struct runner *r, const char *file)
{
    AUTO_FREE char *path = baseline_path(file);
    AUTO(arena_deinit) struct arena arena = {0};

    r->file = file;
    r->touched = false;
    if (looks_like_database(file))
        return hq_error_new(HQ_USAGE,
                            "%s is a database, and one is given already; the queries stand in files: hq check DB "
                            "FILE..., another run of it is --run DB",
                            file);
    HQ_TRY(baseline_read(path, r->update, &r->before));
    struct hq_error *error = open_session(r, &arena);

    if (!error && session_file(&r->session, file)) {
        error = write_baseline(r, path);
        if (!r->update)
            tell_unasked(r, path);
    }
    if (!error && !r->touched && !r->update)
        error = hq_error_new(
            HQ_USAGE, "%s has nothing to check: no query with `expect`, and no baseline (hq check --update makes one)",
            file);
    session_deinit(&r->session);
    return error;
}

static void check_files(struct runner *r)
{
    for (size_t i = 1; i < r->args->operands.len; i++) {
        struct hq_error *error = check_file(r, r->args->operands.data[i]);

        if (error)
            on_error(r, error);
        hq_error_free(error);
        baseline_deinit(&r->before);
        baseline_deinit(&r->after);
        r->before = r->after = (struct baseline){0};
    }
}

/* ---- the command ---- */

static int outcome_status(const struct runner *r)
{
    int status = r->status;

    if (checks_count(&r->checks, CHECK_FAIL))
        status = exit_worse(status, HQ_FAILED);
    if (checks_count(&r->checks, CHECK_INCONCLUSIVE))
        status = exit_worse(status, HQ_INCONCLUSIVE);
    if (!opt_flag(r->args, "bisect", false))
        return status;
    return status == HQ_OK || status == HQ_FAILED ? status : BISECT_SKIP;
}

static struct hq_error *take_options(struct runner *r)
{
    const char *as = opt_value(r->args, "inconclusive"), *tolerance = opt_value(r->args, "tolerance");
    struct quantity q = {0.02, DIM_NONE, true};

    if (tolerance)
        HQ_TRY(units_parse(tolerance, &q));
    if (!q.percent || q.value > 1)
        return hq_error_new(HQ_USAGE, "--tolerance wants a percentage, such as 2%%, not '%s'", tolerance);
    const char *junit = opt_value(r->args, "junit"), *markdown = opt_value(r->args, "markdown");

    if (junit && markdown && !strcmp(junit, "-") && !strcmp(markdown, "-"))
        return hq_error_new(HQ_USAGE, "standard output takes one report: give --junit or --markdown a file");
    if (opt_flag(r->args, "update", false) && opt_flag(r->args, "bisect", false))
        return hq_error_new(HQ_USAGE, "--update writes baselines and --bisect judges by them: give one of the two");
    if (opt_count(r->args, "run") == 1)
        return hq_error_new(HQ_USAGE, "two runs do not tell how far runs differ: give --run DB twice or more");
    r->tolerance = q.value;
    r->keep_tolerance = !tolerance;
    r->update = opt_flag(r->args, "update", false);
    r->verbose = opt_flag(r->args, "verbose", false);
    r->inconclusive = as && !strcmp(as, "pass")   ? CHECK_PASS
                      : as && !strcmp(as, "fail") ? CHECK_FAIL
                                                  : CHECK_INCONCLUSIVE;
    r->tap = (markdown && !strcmp(markdown, "-")) || (junit && !strcmp(junit, "-")) ? NULL : stdout;
    log_set_level(opt_flag(r->args, "quiet", false) ? LEVEL_QUIET : r->verbose ? LEVEL_VERBOSE : LEVEL_NORMAL);
    return NULL;
}

/* Opened once before anything else: without data there is nothing to check. */
static struct hq_error *try_database(struct runner *r)
{
    struct session s;

    session_init(&s);
    struct hq_error *error = session_open(&s, r->db, NULL);

    session_deinit(&s);
    return error;
}

static struct hq_error *write_reports(const struct runner *r)
{
    const char *junit = opt_value(r->args, "junit"), *markdown = opt_value(r->args, "markdown");

    if (junit)
        HQ_TRY(check_junit_write(&r->checks, junit));
    return markdown ? check_markdown_write(&r->checks, markdown) : NULL;
}

static int run(const struct opt_args *args)
{
    struct runner r = {.args = args};
    bool bisect = opt_flag(args, "bisect", false);
    struct hq_error *error;

    if (args->operands.len < 2)
        return command_usage("check",
                             args->operands.len ? "the files of queries are missing" : "the database is missing");
    error = take_options(&r);
    if (error)
        return command_fail("check", error);
    r.db = args->operands.data[0];
    if (r.tap)
        tap_begin(r.tap);
    error = try_database(&r);
    if (error) {
        if (r.tap)
            tap_bail_out(error->message, r.tap);
        int status = command_fail("check", error);

        return bisect ? BISECT_SKIP : status;
    }
    struct progress progress;

    progress_start(&progress, "checking", 0, false);
    check_files(&r);
    progress_finish(&progress);
    if (r.tap)
        tap_end(&r.checks, r.tap);
    int status = outcome_status(&r);

    error = write_reports(&r);
    if (error)
        status = exit_worse(status, command_fail("check", error));
    checks_deinit(&r.checks);
    return status;
}

const struct command cmd_check = {
    .cmd =
        {
            .name = "check",
            .usage = "DB FILE...",
            .summary = "check expectations and baselines, for CI",
            .description =
                "Runs saved queries on a database and prints a line of TAP for each query with `expect`, and for each "
                "one that has a "
                "baseline beside it (FILE.baseline, written with --update). Results themselves are not printed.\n\n"
                "Exit status: 0 all passed, 1 a check failed, 2 a query is wrong, 3 the data could not be read, 4 too "
                "few samples to tell; "
                "the gravest of them all: 3, 2, 1, 4, 0.",
            .examples = "  hq check run.hq perf/*.hq --junit perf.xml --markdown perf.md\n"
                        "  hq check --update run.hq perf/shares.hq\n"
                        "  hq check b1.hq --run b2.hq --run b3.hq perf/seconds.hq\n"
                        "  git bisect run sh -c 'make -s app || exit 125\n"
                        "      hq record --force -o b.hq -- ./app || exit 125; hq check --bisect b.hq perf/*.hq'\n",
            .options = options,
        },
    .run = run,
};
