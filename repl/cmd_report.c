/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq report`: a database as one page for a browser. */
#include "common/file.h"
#include "common/log.h"
#include "common/progress.h"
#include "common/units.h"
#include "query/report/report.h"
#include "repl/command.h"
#include "repl/gate/history.h"
#include "repl/session.h"
#include <math.h>
#include <string.h>

#define BUDGET (20u << 20)
enum { COURSES_MOST = 8 };

static const char question[] = "it writes a page for a browser; hq DB QUERY asks in the terminal";

/* Options of perf report. */
static const struct opt_foreign foreign[] = {
    {"stdio", question},
    {"sort", question},
    {"s", question},
    {"i", "the database stands alone: hq report DB"},
    {"input", "the database stands alone: hq report DB"},
    {"no-children", question},
    {"children", question},
    {"g", question},
    {"html", "a page in HTML is what it writes: hq report DB -o page.html"},
    {NULL, NULL},
};

static const struct opt options[] = {
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "where to write (default: DB.html; - is standard output)"},
    {.name = "force", .letter = 'f', .help = "replace a file that is there and is not a report"},
    {.name = "compare", .value = "OLD", .help = "show beside each value the one of this database, and the difference"},
    {.name = "budget",
     .value = "SIZE",
     .help =
         "the size that the file may have, such as 5MB (default: 20MiB); traces, then values of single threads, then "
         "calls that cost next to nothing are left out to keep it, and the page says so"},
    {.name = "with-source", .help = "put the text of the source files that cost most into the page"},
    {.name = "source-path", .value = "DIR[:DIR]...", .help = "where source files are looked for first"},
    {.name = "history",
     .value = "DIR",
     .help = "show the courses over commits that `hq check --history DIR` kept: of rows that changed, else of the "
             "largest"},
    {.name = "quiet", .help = "do not say what was written"},
    {0}};

/* my.hq/ -> my.html */
static char *output_of(const char *path)
{
    AUTO_FREE char *whole = xstrdup(path);

    for (size_t n = strlen(whole); n > 1 && whole[n - 1] == '/'; n--)
        whole[n - 1] = '\0';
    char *dot = strrchr(file_basename(whole), '.');

    if (dot && dot != file_basename(whole))
        *dot = '\0';
    return xasprintf("%s.html", whole);
}

/* Only what this command wrote is replaced unasked. Devices and pipes are written to, and not opened here: reading from
 * a pipe would wait for its writer, which is to be hq. */
static struct hq_error *may_write(const char *path)
{
    char head[512] = "";

    if (!strcmp(path, "-") || file_is_absent(path) || file_is_other(path))
        return NULL;
    FILE *f = fopen(path, "r");

    if (!f)
        return hq_error_prefix(hq_error_errno(HQ_USAGE, "it cannot be read"),
                               "%s is there and may be no report; --force replaces it", path);
    size_t n = fread(head, 1, sizeof head - 1, f);

    fclose(f);
    head[n] = '\0';
    if (n == 0 || strstr(head, "<title>hq report</title>"))
        return NULL;
    return hq_error_new(HQ_USAGE, "%s is there and is not a report; --force replaces it", path);
}

static void tell(const char *output, const struct report_options *o, const struct report_result *r)
{
    char size[UNITS_TEXT];

    if (log_get_level() == LEVEL_QUIET)
        return;
    fprintf(stderr, "hq: %s: %s, opens in any browser\n", output, units_format(size, (double)r->bytes, DIM_BYTES));
    if (r->trace_every > 1)
        log_note("one in %u records of the traces is in the page, to keep it within --budget", r->trace_every);
    else if (r->records && !r->trace_every && !o->compare)
        log_note("the traces are left out of the page, to keep it within --budget");
    if (r->cut > 0)
        log_note(
            "calls below %.3g %% of every metric are left out of the page, to keep it within --budget: a row stands "
            "for those of a caller, what is added up without them is marked, and totals stay exact",
            100 * r->cut);
    if (r->coarse > 0)
        log_note("of calls below %.3g %% of every metric the page has one value a thread, to keep it within --budget: "
                 "what lies inside them is estimated for chosen ranks and threads, and marked",
                 100 * r->coarse);
    if (!r->profiles && !o->compare)
        log_note("the values of single threads are left out of the page, to keep it within --budget");
}

static void tell_budget(const struct report_options *o, const struct report_result *r)
{
    char size[UNITS_TEXT];

    if (o->budget && r->bytes > o->budget)
        log_note("the page is larger than --budget %s: what is left stays",
                 units_format(size, (double)o->budget, DIM_BYTES));
}

static struct hq_error *write_report(struct session *s, const struct report_options *o, const char *output)
{
    struct file_writer w = {0};
    struct report_result result;
    struct progress progress;

    HQ_TRY(file_writer_open(&w, !strcmp(output, "-") ? "/dev/stdout" : output));
    progress_start(&progress, "writing the page", 0, false);
    struct hq_error *error = report_write(&s->env, o, w.file, &result);

    progress_finish(&progress);
    if (error) {
        file_writer_discard(&w);
        return error;
    }
    HQ_TRY(file_writer_commit(&w));
    if (strcmp(output, "-"))
        tell(output, o, &result);
    tell_budget(o, &result);
    return NULL;
}

/* One question, which names no file or format of its own. */
static bool is_question(const char *text)
{
    struct source source = {.name = "query", .text = text, .length = strlen(text)};
    struct script *script;
    AUTO_ERROR struct hq_error *error = parse_script(&source, NULL, &script);
    bool is = !error && script->statements.len == 1 && script->statements.data[0].kind == STATEMENT_QUERY &&
              !script->statements.data[0].query.as;

    script_destroy(script);
    return is;
}

/* A file among the statements has its option. */
static struct hq_error *operands_check(const struct opt_args *args)
{
    const char *db = args->operands.data[0];

    for (size_t i = 1; i < args->operands.len; i++) {
        const char *text = args->operands.data[i], *dot = strrchr(text, '.');

        if (dot && !strcmp(dot, ".html"))
            return hq_error_new(HQ_USAGE, "%s is no statement: hq report %s -o %s writes the page there", text, db,
                                text);
        if (file_exists(text))
            return hq_error_new(HQ_USAGE, "%s is no statement: hq report %s --compare %s compares with it", text, db,
                                text);
    }
    return NULL;
}

typedef VEC(const char *) texts;

/* Statements that make the state of the page, settings and lets; questions are kept for their answers. */
static bool prepare(struct session *s, const struct opt_args *args, texts *questions)
{
    for (size_t i = 1; i < args->operands.len; i++) {
        const char *text = args->operands.data[i];

        if (is_question(text)) {
            vec_push(questions, text);
            continue;
        }
        if (!session_text(s, &(struct source){.name = "query", .text = text, .length = strlen(text)}))
            return false;
    }
    return true;
}

/* ---- what commits were like ---- */

struct told_courses {
    struct history history;
    courses all;
    struct report_answer answers[COURSES_MOST];
    struct str pictures[COURSES_MOST];
    size_t count;
};

/* By its largest step; of rows without one by what they are now, which is less than any. */
static double importance(const struct course *c)
{
    double most = 0;

    vec_foreach(s, &c->steps)
        most = fmax(most, course_step_size(s));
    return c->steps.len                                                ? 1 + most
           : c->y.len && !c->metric[baseline_metric_length(c->metric)] ? fmin(1, c->y.data[c->y.len - 1])
                                                                       : -1;
}

static int by_importance(const void *a, const void *b)
{
    const struct course *x = a, *y = b;
    double p = importance(x), q = importance(y);

    return p != q ? (p < q ? 1 : -1) : strcmp(x->path, y->path);
}

static struct hq_error *tell_courses(const char *directory, struct told_courses *t)
{
    HQ_TRY(history_read(directory, NULL, &t->history));
    if (!t->history.commits.len)
        return hq_error_new(HQ_USAGE, "%s holds no history; hq check --history %s DB FILE writes one", directory,
                            directory);
    history_courses(&t->history, &t->all);
    vec_sort(&t->all, by_importance);
    for (size_t i = 0; i < t->all.len && t->count < COURSES_MOST; i++) {
        const struct course *c = &t->all.data[i];

        if (importance(c) < 0)
            break;
        course_svg(&t->history, c, &t->pictures[t->count]);
        t->answers[t->count] = (struct report_answer){
            .title = arena_printf(&t->history.arena, "history: %s", course_name(c, &t->history.arena)),
            .table = course_table(&t->history, c),
            .picture = str_cstr(&t->pictures[t->count]),
        };
        t->count++;
    }
    return NULL;
}

static void told_courses_deinit(struct told_courses *t)
{
    for (size_t i = 0; i < t->count; i++) {
        table_destroy((struct table *)t->answers[i].table);
        str_deinit(&t->pictures[i]);
    }
    courses_deinit(&t->all);
    history_deinit(&t->history);
}

static struct hq_error *report(struct session *s, const struct opt_args *args, texts *questions)
{
    const char *path = args->operands.data[0], *given = opt_value(args, "output"), *budget = opt_value(args, "budget");
    AUTO_FREE char *output = given ? xstrdup(given) : output_of(path);
    AUTO_STR struct str state = {0};
    AUTO(told_courses_deinit) struct told_courses told = {0};
    struct report_options o = {.name = path,
                               .compare = opt_value(args, "compare"),
                               .budget = BUDGET,
                               .with_source = opt_flag(args, "with-source", false)};

    if (budget)
        HQ_TRY(units_parse_count(budget, &o.budget));
    if (!opt_flag(args, "force", false))
        HQ_TRY(may_write(output));
    HQ_TRY(operands_check(args));
    HQ_TRY(session_open(s, path, NULL));
    if (!prepare(s, args, questions))
        return NULL;
    if (query_last(&s->env))
        return hq_error_new(HQ_USAGE, "the page shows the answer to a question as it is: write each one as an argument "
                                      "of its own, without `as` and `to`");
    if (opt_value(args, "history"))
        HQ_TRY(tell_courses(opt_value(args, "history"), &told));
    o.answers = told.answers;
    o.answer_count = told.count;
    o.questions = questions->data;
    o.question_count = questions->len;
    session_state(s, &state);
    if (state.len)
        str_add(&state, "; ");
    o.settings = str_cstr(&state);
    s->source_path = opt_value(args, "source-path");
    if (s->source_path)
        HQ_TRY(session_options(s));
    return write_report(s, &o, output);
}

static int run(const struct opt_args *args)
{
    struct session s;
    texts questions = {0};

    if (opt_flag(args, "quiet", false))
        log_set_level(LEVEL_QUIET);
    if (!args->operands.len)
        return command_usage("report", "the database is missing");
    session_init(&s);
    struct hq_error *error = report(&s, args, &questions);
    int status = s.status;

    session_deinit(&s);
    vec_deinit(&questions);
    return error ? command_fail("report", error) : status;
}

const struct command cmd_report = {
    .cmd =
        {
            .name = "report",
            .usage = "DB [STATEMENT]... [-o FILE]",
            .summary = "write a database as a page for a browser",
            .description =
                "Writes one file of HTML that any browser opens by a double click, without a server and without a "
                "network: the calling context tree, callers, flat profile, flame graph, trace, ranks and source, all "
                "of "
                "one selection, with every number as hq prints it and the query that prints it.\n\n"
                "STATEMENT is a setting, such as \"set inline off\": the page shows the database so; or a question, "
                "such "
                "as \"fold of step points 20\": its answer, and its picture, is on the page under Answers.",
            .examples = "  hq report my.hq\n  hq report my.hq --with-source -o my.html\n  hq report new.hq --compare "
                        "old.hq\n",
            .options = options,
            .foreign = foreign,
        },
    .run = run,
};
