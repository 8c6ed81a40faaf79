/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq check DB FILE...`: expectations and baselines of saved queries, for CI. */
#include "common/clock.h"
#include "common/file.h"
#include "common/log.h"
#include "common/progress.h"
#include "common/str.h"
#include "query/grammar/words.h"
#include "repl/check/run.h"
#include "repl/command.h"
#include "repl/limits.h"
#include <signal.h>
#include <string.h>
#include <time.h>

static const char *const inconclusive_choices[] = {"pass", "fail", "report", NULL};

static const struct opt options[] = {
    {.name = "update",
     .letter = 'u',
     .help = "write the values of each query beside it, into FILE.baseline, instead of comparing with them"},
    {.name = "tolerance",
     .value = "P%",
     .help =
         "the rise that has to be found, half of it may pass: in a race percent of a row (default: 10%; of an exact "
         "one 0.5%); with --update percentage points of a share (without it as before, at first 10%, 20% of one "
         "run), percent of an exact value (0.5%); `default` has what --update would write if there were no "
         "baseline"},
    {.name = "run",
     .value = "DB",
     .repeats = true,
     .help = "another run of the same program; a set of runs (hq record --runs) has them all. A baseline is compared "
             "with all together; what is expected must hold in each"},
    {.name = "junit", .value = "FILE", .help = "write a report in JUnit XML; - is standard output, in place of TAP"},
    {.name = "markdown",
     .value = "FILE",
     .help = "write a report in Markdown, as for a pull request; - is standard output, in place of TAP"},
    {.name = "history",
     .value = "DIR",
     .help = "keep the values of this commit in DIR, and tell where a row's level changed (hq history DIR draws it)"},
    {.name = "commit",
     .value = "NAME",
     .help = "what --history calls this commit (default: what git says of the current directory)"},
    {.name = "bisect", .help = "exit with 0 (passed), 1 (failed) or 125 (could not tell), as `git bisect run` wants"},
    {.name = "define",
     .letter = 'D',
     .value = "NAME=VALUE",
     .repeats = true,
     .help = "the value of {{NAME}} in queries"},
    {.name = "strict", .help = "a pattern that matches nothing is an error"},
    GROUPS_OPTION,
    {.name = "inconclusive",
     .value = "AS",
     .choices = inconclusive_choices,
     .help = "what counts as too few samples to tell: pass, fail, or report (status 4, the default)"},
    LIMIT_OPTIONS,
    {.name = "quiet", .help = "no hints and notes"},
    {.name = "verbose", .letter = 'v', .help = "say what is being done, and what passed checks found"},
    {0}};

/* ---- points ---- */

struct check *check_new(struct runner *r, enum check_outcome outcome, const char *name, unsigned line)
{
    vec_push(&r->checks.all, (struct check){.outcome = outcome,
                                            .file = arena_strdup(&r->checks.arena, r->file),
                                            .line = line,
                                            .name = arena_strdup(&r->checks.arena, name)});
    r->touched = true;
    return &vec_last(&r->checks.all);
}

void check_add_line(struct runner *r, struct check *c, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        vec_push(&c->lines, arena_strndup(&r->checks.arena, text, n));
        text += n + (text[n] == '\n');
    }
}

/* The last check is whole: print it. */
void check_finish(struct runner *r, double start)
{
    struct check *c = &vec_last(&r->checks.all);

    if (c->outcome == CHECK_INCONCLUSIVE)
        c->outcome = r->inconclusive;
    c->seconds = clock_seconds() - start;
    if (r->tap)
        tap_point(c, r->checks.all.len, r->tap);
}

static void on_error(void *arg, const struct hq_error *error)
{
    struct runner *r = arg;
    struct check *c = check_new(r, CHECK_ERROR, "cannot be run", 0);

    check_add_line(r, c, error->message);
    r->status = exit_worse(r->status, error->status);
    check_finish(r, clock_seconds());
}

/* ---- expectations ---- */

static void tell_expectations(struct runner *r, struct check *c, const struct table *t)
{
    vec_foreach(note, &t->notes)
        if (strstr(*note, ": expect ") && (r->verbose || !str_begins(*note, "pass")))
            check_add_line(r, c, *note);
}

/* `run`: what the point says of the run, "" where there is one. */
static struct hq_error *check_expectations(struct runner *r, const struct statement *st, const char *run)
{
    static const enum check_outcome outcomes[] = {
        [VERDICT_PASS] = CHECK_PASS, [VERDICT_FAIL] = CHECK_FAIL, [VERDICT_INCONCLUSIVE] = CHECK_INCONCLUSIVE};
    AUTO(arena_deinit) struct arena arena = {0};
    struct table *t = NULL;
    double start = clock_seconds();
    struct hq_error *error = limits_query(&r->session.env, st, &t);

    if (error || !t)
        return error;
    if (t->verdict.kind != VERDICT_NONE) {
        struct check *c = check_new(r, outcomes[t->verdict.kind],
                                    arena_printf(&arena, "%s%s", print_statement(&arena, st), run), st->place.line);

        tell_expectations(r, c, t);
        check_finish(r, start);
    }
    vec_foreach(note, &t->notes)
        if (!strstr(*note, ": expect "))
            log_note("%s:%u: %s", r->file, st->place.line, *note);
    table_destroy(t);
    return NULL;
}

/* Asks each database that is given: what is expected must hold in all. */
static struct hq_error *check_each(struct runner *r, const struct statement *st)
{
    AUTO(arena_deinit) struct arena arena = {0};
    size_t more = opt_count(r->args, "run");
    struct hq_error *error = check_expectations(r, st, "");

    for (size_t i = 0; i < more && !error; i++) {
        const char *path = opt_value_at(r->args, "run", i);

        error = session_open(&r->session, path, NULL);
        if (!error)
            error = check_expectations(r, st, arena_printf(&arena, " (%s)", path));
    }
    if (more && !error)
        error = session_open(&r->session, r->db, NULL);
    return error;
}

static struct hq_error *on_query(void *arg, const struct statement *st)
{
    struct runner *r = arg;

    if (!check_is_race(r) || r->update)
        HQ_TRY(check_baseline(r, st));
    HQ_TRY(check_history_take(r, st));
    return check_each(r, st);
}

/* ---- files ---- */

static struct hq_error *open_session(struct runner *r, struct arena *arena)
{
    struct session *s = &r->session;

    session_init(s);
    s->keeps_files = true;
    s->quiet = opt_flag(r->args, "quiet", false);
    s->strict = opt_flag(r->args, "strict", false);
    s->groups = opt_value(r->args, "groups");
    s->on_query = on_query;
    s->on_error = on_error;
    s->on_arg = r;
    HQ_TRY(session_options(s));
    HQ_TRY(session_parameters(s, r->args, arena));
    HQ_TRY(session_open(s, r->db, NULL));
    check_begin_baseline(r);
    return NULL;
}

/* Which of the parameters a file has named, before its session ends. */
static void remember_parameters(struct runner *r)
{
    for (size_t i = 0; i < r->session.parameter_used.len; i++) {
        if (i == r->parameter_used.len)
            vec_push(&r->parameter_used, false);
        r->parameter_used.data[i] |= r->session.parameter_used.data[i];
    }
}

/* A limit that is given to a misspelt parameter is not that of the check, which has its default. */
static void tell_unused_parameters(struct runner *r)
{
    for (size_t i = 0; i < r->parameter_used.len; i++) {
        const char *text = opt_value_at(r->args, "define", i);
        int name = (int)strcspn(text, "=");

        if (r->parameter_used.data[i])
            continue;
        struct hq_error *error = hq_error_new(HQ_USAGE, "no file names {{%.*s}}, which -D gives a value", name, text);

        if (opt_flag(r->args, "strict", false))
            on_error(r, error);
        else
            log_hint("%s", error->message);
        hq_error_free(error);
    }
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

    if (!error && check_is_race(r) && !r->update)
        error = check_race(r, file);
    if (!error && session_file(&r->session, file)) {
        error = check_write_baseline(r, path);
        if (!r->update && !check_is_race(r))
            check_tell_unasked(r, path);
    }
    if (!error && !r->touched && !r->update && !r->history)
        error = hq_error_new(
            HQ_USAGE, "%s has nothing to check: no query with `expect`, and no baseline (hq check --update makes one)",
            file);
    remember_parameters(r);
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
    tell_unused_parameters(r);
    struct hq_error *error = check_history_end(r);

    if (error)
        on_error(r, error);
    hq_error_free(error);
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

/* A report never replaces what it is about: an option before the database may have taken the next word for its value.
 */
static struct hq_error *report_is_apart(const struct runner *r, const char *option)
{
    const char *report = opt_value(r->args, option), *ending = report ? strrchr(report, '.') : NULL;
    bool taken = ending && (!strcmp(ending, ".hq") || !strcmp(ending, ".baseline"));

    for (size_t i = 0; report && i < r->args->operands.len; i++)
        taken |= file_is_same(report, r->args->operands.data[i]);
    return taken ? hq_error_new(HQ_USAGE, "--%s names %s, which is no file for a report; one such as perf.%s is",
                                option, report, !strcmp(option, "junit") ? "xml" : "md")
                 : NULL;
}

static struct hq_error *take_tolerance(struct runner *r)
{
    const char *text = opt_value(r->args, "tolerance");
    bool anew = text && !strcmp(text, "default"), given = text && !anew;
    struct quantity q = {GATE_TOLERANCE, DIM_NONE, true};

    if (given)
        HQ_TRY(units_parse(text, &q));
    if (!q.percent || !(q.value > 0) || q.value > 1)
        return hq_error_new(HQ_USAGE, "--tolerance wants a percentage, such as 2%%, or `default`, not '%s'", text);
    r->tolerance = given ? q.value : 0;
    r->race_tolerance = gate_tolerance_of(q.value);
    if (given)
        r->race_tolerance.exact = q.value;
    r->keep_tolerance = !text;
    return NULL;
}

/* Where the reports go: each to a place of its own. */
static struct hq_error *take_reports(struct runner *r)
{
    const char *junit = opt_value(r->args, "junit"), *markdown = opt_value(r->args, "markdown");
    bool one = junit && markdown && !strcmp(junit, markdown);

    if (one && !strcmp(junit, "-"))
        return hq_error_new(HQ_USAGE, "standard output takes one report: give --junit or --markdown a file");
    if (one)
        return hq_error_new(HQ_USAGE, "--junit and --markdown name one file, %s; give each its own", junit);
    HQ_TRY(report_is_apart(r, "junit"));
    HQ_TRY(report_is_apart(r, "markdown"));
    r->tap = (markdown && !strcmp(markdown, "-")) || (junit && !strcmp(junit, "-")) ? NULL : stdout;
    return NULL;
}

static struct hq_error *take_options(struct runner *r)
{
    const char *as = opt_value(r->args, "inconclusive");
    bool bisect = opt_flag(r->args, "bisect", false);

    HQ_TRY(take_tolerance(r));
    HQ_TRY(take_reports(r));
    r->history = opt_value(r->args, "history");
    r->update = opt_flag(r->args, "update", false);
    r->verbose = opt_flag(r->args, "verbose", false);
    r->inconclusive = as && !strcmp(as, "pass")   ? CHECK_PASS
                      : as && !strcmp(as, "fail") ? CHECK_FAIL
                                                  : CHECK_INCONCLUSIVE;
    if (opt_value(r->args, "commit") && !r->history)
        return hq_error_new(HQ_USAGE, "--commit names what --history DIR keeps; give that, too");
    if (r->update && bisect)
        return hq_error_new(HQ_USAGE, "--update writes baselines and --bisect judges by them: give one of the two");
    if (r->inconclusive == CHECK_PASS && bisect)
        return hq_error_new(HQ_USAGE, "--inconclusive=pass would have --bisect call a commit good that nobody could "
                                      "judge; leave it out, and such commits are skipped");
    log_set_level(opt_flag(r->args, "quiet", false) ? LEVEL_QUIET : r->verbose ? LEVEL_VERBOSE : LEVEL_NORMAL);
    return NULL;
}

/* Opened once before anything else: without data there is nothing to check. */
static struct hq_error *try_database(struct runner *r)
{
    struct session s;

    HQ_TRY(check_find_runs(r));
    if (opt_value(r->args, "tolerance") && !r->update && !check_is_race(r))
        return hq_error_new(HQ_USAGE, "--tolerance is of races, and of what --update writes: a baseline has its own in "
                                      "each line (+-10%%), which hq check --update --tolerance P%% writes anew");

    session_init(&s);
    struct hq_error *error = session_open(&s, r->db, NULL);

    r->status = exit_worse(r->status, s.status); /* what is damaged is checked as far as it is there */
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

/* Nothing can be checked. Reports say so, too: one of an earlier run that passed may lie in their place. */
static int bail_out(struct runner *r, struct hq_error *error)
{
    FILE *tap = r->tap;

    if (tap)
        tap_bail_out(error->message, tap);
    r->tap = NULL;
    r->file = r->db;
    on_error(r, error);
    int status = command_fail("check", error);

    error = write_reports(r);
    if (error)
        status = exit_worse(status, command_fail("check", error));
    return opt_flag(r->args, "bisect", false) ? BISECT_SKIP : status;
}

static int check_all(struct runner *r)
{
    struct progress progress;

    progress_start(&progress, "checking", 0, false);
    check_files(r);
    progress_finish(&progress);
    if (r->tap)
        tap_end(&r->checks, r->tap);
    int status = outcome_status(r);
    struct hq_error *error = write_reports(r);

    if (error)
        status = exit_worse(status, command_fail("check", error));
    return status;
}

static int run(const struct opt_args *args)
{
    struct runner r = {.args = args, .checks = {.began = time(NULL)}};
    struct hq_error *error;

    if (args->operands.len < 2)
        return command_usage("check", args->operands.len
                                          ? "the files of queries are missing (hq DB 'VIEW expect ...' checks one "
                                            "question)"
                                          : "the database is missing");
    error = take_options(&r);
    if (!error)
        error = limits_take(args);
    if (error)
        return command_fail("check", error);
    r.db = args->operands.data[0];
    if (r.tap)
        tap_begin(r.tap);
    error = try_database(&r);
    int status = error ? bail_out(&r, error) : check_all(&r);

    checks_deinit(&r.checks);
    baseline_deinit(&r.kept);
    run_set_deinit(&r.set);
    vec_foreach(set, &r.sets)
        run_set_deinit(set);
    vec_deinit(&r.sets);
    vec_deinit(&r.runs);
    vec_deinit(&r.parameter_used);
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
