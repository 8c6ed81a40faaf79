/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq race`: runs an old and a new program in turns until it is known whether the new one is slower. */
#include "common/clock.h"
#include "common/file.h"
#include "common/log.h"
#include "common/progress.h"
#include "common/units.h"
#include "repl/command.h"
#include "repl/gate/gate.h"
#include "repl/gate/looks.h"
#include "repl/gate/repeat.h"
#include "repl/record/record.h"
#include <string.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Seconds, unless -n or --at-most says otherwise: until it should be decided, and where runs are long. */
#define TIME_DEFAULT  120.0
#define TIME_PATIENCE 300.0

static const struct opt options[] = {
    {.name = "old", .value = "CMD", .help = "the command of the old program, as for a shell"},
    {.name = "new", .value = "CMD", .help = "that of the new one"},
    {.name = "runs",
     .letter = 'n',
     .value = "N",
     .help = "run each program N times, and judge at the end; without it they run until it is decided"},
    {.name = "at-most",
     .value = "TIME",
     .help = "end within this time, decided or not (default: 120s, and up to 300s of runs that are so "
             "long that 16 pairs do not fit into that); with it no pair begins that, as long as those before it, would "
             "not end in time"},
    {.name = "output", .letter = 'o', .value = "SET", .help = "the directory that gets the runs; without it race.runs"},
    {.name = "force", .letter = 'f', .help = "replace the runs that SET holds"},
    {.name = "tolerance",
     .value = "P%",
     .help = "the rise that has to be found, in percent of a row; half of it may pass (default: 10%, and 0.5% of "
             "exact events, of which all up to it passes)"},
    {.name = "event",
     .letter = 'e',
     .value = "EVENT[@RATE]",
     .repeats = true,
     .help = "what to measure, as for hq record (default: CPUTIME@1000/s)"},
    {.name = "define",
     .letter = 'D',
     .value = "NAME=VALUE",
     .repeats = true,
     .help = "the value of {{NAME}} in queries"},
    {.name = "quiet", .help = "print the verdict alone"},
    {.name = "bisect", .help = "exit with 0 (ok), 1 (slower) or 125 (could not tell), as `git bisect run` wants"},
    {0}};

struct race {
    const struct opt_args *args;
    struct arena arena;
    struct run_set set;
    struct gate gate;
    struct repeat_words options, command[RUN_SIDES];
    struct gate_tolerance tolerance;
    struct gate_looks looks;
    double start;
    bool strict;  /* --at-most: all of the race is to end in time, also the runs that do not count */
    double first; /* when the first pair began */
    size_t pairs;
    enum check_outcome outcome; /* of the last look */
    struct check_lines lines;   /* and why */
    enum output_names names;    /* as the query has them that failed */
    size_t wanted;
    size_t told_next;         /* pairs at which a log is told again that the race goes on */
    bool judged_time, slower; /* it had rows of time, and some of them rose */
    bool longer;              /* more runs do not tell what is left open: why it takes longer */
    size_t behind;            /* new runs that left processes behind which still ran */
    double longest;           /* seconds of the longest run so far, by the clock */
    int interrupted;          /* the signal that came for the race while it ran a program; 0 none */
};

/* ---- the command line ---- */

static struct hq_error *take_count(struct race *r)
{
    const char *text = opt_value(r->args, "runs");
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;

    if (text && (!*text || *end || n < 2 || n > LOOKS_PAIRS_MAX))
        return hq_error_new(HQ_USAGE, "-n takes a number of runs from 2 to %d, not `%s`", LOOKS_PAIRS_MAX, text);
    r->looks.fixed = (size_t)n;
    return NULL;
}

static struct hq_error *take_budget(struct race *r)
{
    const char *text = opt_value(r->args, "at-most");

    r->looks.budget = r->looks.fixed ? 0 : TIME_DEFAULT;
    r->looks.patience = r->looks.fixed || text ? 0 : TIME_PATIENCE;
    r->strict = text;
    if (!text)
        return NULL;
    HQ_TRY(hq_error_prefix(units_parse_seconds(text, &r->looks.budget), "--at-most"));
    return r->looks.budget > 0 ? NULL : hq_error_new(HQ_USAGE, "--at-most takes a time such as 5min, not `%s`", text);
}

static struct hq_error *take_tolerance(struct race *r)
{
    const char *text = opt_value(r->args, "tolerance");
    struct quantity q;

    r->tolerance = gate_tolerance_of(GATE_TOLERANCE);
    if (!text)
        return NULL;
    HQ_TRY(hq_error_prefix(units_parse(text, &q), "--tolerance"));
    if (!q.percent || !(q.value > 0) || q.value > 10)
        return hq_error_new(HQ_USAGE, "--tolerance takes a percentage such as 5%%, not `%s`", text);
    r->tolerance = gate_tolerance_of(q.value);
    r->tolerance.exact = q.value;
    return NULL;
}

static struct hq_error *take_command(struct race *r, enum run_side side, const char *option)
{
    const char *text = opt_value(r->args, option);

    if (!text || !text[strspn(text, " \t\n")])
        return hq_error_new(HQ_USAGE, "--old 'CMD' and --new 'CMD' name the two programs; --%s is missing", option);
    repeat_command(text, &r->arena, &r->command[side]);
    return NULL;
}

static struct hq_error *take_options(struct race *r)
{
    static const char *const ours[] = {"old",       "new",    "runs",  "at-most", "output", "force",
                                       "tolerance", "define", "quiet", "bisect",  NULL};

    HQ_TRY(take_count(r));
    HQ_TRY(take_budget(r));
    HQ_TRY(take_tolerance(r));
    HQ_TRY(take_command(r, RUN_OLD, "old"));
    HQ_TRY(take_command(r, RUN_NEW, "new"));
    for (size_t i = 0; i < r->args->operands.len; i++)
        if (file_is_absent(r->args->operands.data[i]))
            return hq_error_new(HQ_USAGE, "there is no file %s; the operands are files of queries",
                                r->args->operands.data[i]);
    /* Short programs need more samples than `hq record` takes: sampling is to add little to how runs differ. */
    if (!opt_count(r->args, "event"))
        vec_push(&r->options, "--event=CPUTIME@1000/s");
    repeat_options(r->args, ours, &r->arena, &r->options);
    return NULL;
}

/* ---- runs ---- */

/* hq itself has failed, and not the program: its last sentence says why. */
static struct hq_error *not_recorded(enum run_side side, int status, const char *log)
{
    AUTO_FREE char *line = repeat_last_line(log);

    return hq_error_new(HQ_DATA,
                        "hq record failed, and not the %s program: %s (status %d; all that was printed is in %s)",
                        side == RUN_OLD ? "old" : "new", *line ? line : "it said nothing", status, log);
}

/* How long the next run may take: a program that hangs is given up when the time is over, and it took many times as
 * long as any run before. 0: nothing is known yet. */
static double longest_run(const struct race *r)
{
    static const double many = 10;
    double all = r->looks.fixed ? TIME_PATIENCE : fmax(r->looks.budget, r->looks.patience);
    double left = r->start > 0 && !r->looks.fixed ? all - (clock_seconds() - r->start) : all;

    return r->longest > 0 ? fmax(left, many * r->longest) : 0;
}

/* A run during which the race was interrupted is none: r->interrupted. */
static struct hq_error *run_once(struct race *r, enum run_side side, const char *path)
{
    static const char *const program[RUN_SIDES] = {"the old", "the new"};
    AUTO_FREE char *log = xasprintf("%s.out", path);
    struct repeat_end end;
    double start = clock_seconds();
    char took[UNITS_TEXT], before[UNITS_TEXT];

    HQ_TRY(repeat_record(&r->options, &r->command[side], path, log, longest_run(r), &end));
    int status = end.watched.status;

    r->interrupted = end.watched.interrupted;
    if (r->interrupted)
        return NULL;
    if (end.watched.given_up)
        return hq_error_new(HQ_DATA,
                            "%s program had not ended after %s, where no run took more than %s: it was ended; what it "
                            "printed is in %s",
                            program[side], units_format(took, clock_seconds() - start, DIM_SECONDS),
                            units_format(before, r->longest, DIM_SECONDS), log);
    if (status != 0 && !end.ran)
        return not_recorded(side, status, log);
    if (status > 128)
        return hq_error_new(HQ_DATA, "%s program ended with status %d, as by signal %d (%s); what it printed is in %s",
                            program[side], status, status - 128, strsignal(status - 128), log);
    if (status != 0)
        return hq_error_new(HQ_DATA, "%s program ended with status %d; what it printed is in %s", program[side], status,
                            log);
    r->longest = fmax(r->longest, clock_seconds() - start);
    unlink(log);
    return NULL;
}

/* The first run of a program reads its files from the disk, and warms the processor: it is not counted. */
static struct hq_error *warm_up(struct race *r)
{
    AUTO_FREE char *path = file_join(r->set.directory, "warm-up.hq");
    double end = r->strict ? r->start + r->looks.budget : INFINITY;

    for (enum run_side side = RUN_OLD; side < RUN_SIDES && !r->interrupted && clock_seconds() < end; side++) {
        HQ_TRY(run_once(r, side, path));
        HQ_TRY(file_remove_tree(path));
    }
    return NULL;
}

/* A file without a query that has costs would let every program pass. */
static struct hq_error *all_compare(const struct race *r)
{
    for (size_t i = 0; i < r->args->operands.len; i++) {
        const char *file = r->args->operands.data[i];
        bool compares = false;

        vec_foreach(q, &r->gate.queries)
            compares |= !strcmp((*q)->file, file);
        if (!compares)
            return hq_error_new(HQ_USAGE,
                                "%s has no query whose values can be compared between two programs, such as "
                                "`procedures` or `tree depth 8`",
                                file);
    }
    return NULL;
}

static struct hq_error *run_pair(struct race *r)
{
    for (int turn = 0; turn < 2; turn++) {
        /* A B B A A B B A ... */
        enum run_side side = (r->pairs % 2 == 0) == (turn == 0) ? RUN_OLD : RUN_NEW;
        AUTO_FREE char *path = run_set_next(&r->set);

        HQ_TRY(run_once(r, side, path));
        if (r->interrupted)
            return NULL;
        run_set_add(&r->set, side, path);
        r->behind += side == RUN_NEW && repeat_leaves_behind(path);
        HQ_TRY(gate_ask(&r->gate, path, side, r->pairs, r->args->operands.data, r->args->operands.len));
    }
    HQ_TRY(all_compare(r));
    r->pairs++;
    return run_set_write(&r->set);
}

/* ---- looks ---- */

static void look(struct race *r, double family)
{
    vec_clear(&r->lines);
    r->outcome = CHECK_PASS;
    r->wanted = 0;
    r->judged_time = r->slower = r->longer = false;
    vec_foreach(q, &r->gate.queries) {
        size_t wanted;
        enum check_outcome one = gate_judge_query(*q, r->pairs, &r->tolerance, family / (double)r->gate.queries.len,
                                                  &r->arena, &r->lines, &wanted);

        r->wanted = wanted > r->wanted ? wanted : r->wanted;
        r->judged_time |= (*q)->values.judged_time;
        r->slower |= (*q)->values.slower;
        if (one == CHECK_PASS) {
            one = gate_judge_elapsed(&r->gate, *q, r->pairs, &r->tolerance, &r->arena, &r->lines);
            r->longer |= one != CHECK_PASS;
        }
        if (one == CHECK_FAIL)
            r->names = (*q)->values.shown;
        if (one == CHECK_FAIL || (one == CHECK_INCONCLUSIVE && r->outcome == CHECK_PASS))
            r->outcome = one;
    }
}

/* Of a program that goes on behind its end nobody knows how slow it is. */
static void look_behind(struct race *r)
{
    if (r->outcome != CHECK_PASS || !r->behind)
        return;
    r->outcome = CHECK_INCONCLUSIVE;
    r->longer = true;
    vec_push(&r->lines,
             arena_printf(&r->arena,
                          "%zu of the new runs left processes behind that still ran: what these do then is in "
                          "no run; let the command wait for them",
                          r->behind));
}

/* Where all of the race has to end in time: the next pair is expected to take as long as those so far, the first one as
 * long as the two runs that do not count. */
static void expect_pair(struct race *r)
{
    double now = clock_seconds();

    if (r->strict)
        r->looks.pair = r->pairs ? (now - r->first) / (double)r->pairs : now - r->start;
}

static bool decided(struct race *r)
{
    double family;

    expect_pair(r);
    if (!gate_look(&r->looks, r->pairs, clock_seconds() - r->start, &family))
        return false;
    look(r, family);
    look_behind(r);
    r->set.family = family;
    return r->looks.last || r->outcome != CHECK_INCONCLUSIVE || (r->longer && !r->wanted);
}

/* Without a terminal there is no progress line: a sentence now and then tells a log, and whoever reads it, that the
 * race goes on. */
static void tell_progress(struct race *r)
{
    if (isatty(STDERR_FILENO) || r->pairs < r->told_next)
        return;
    r->told_next = 2 * (size_t)ceil(0.7 * (double)r->pairs);
    const char *wanted = r->wanted ? arena_printf(&r->arena, ", about %zu would decide", r->wanted) : "";

    log_note("%zu pairs of runs in %.0f s%s", r->pairs, clock_seconds() - r->start,
             r->looks.fixed ? arena_printf(&r->arena, ", of %zu", r->looks.fixed) : wanted);
}

/* A race whose time is too short for its runs is going to be open: better that is known before. */
static void tell_short(struct race *r)
{
    double pair = r->looks.pair, pairs = fmax(0, floor(r->looks.budget / pair - 1));
    char took[UNITS_TEXT];

    if (r->looks.fixed || !r->strict || pairs >= LOOKS_PAIRS_MIN)
        return;
    units_format(took, r->longest, DIM_SECONDS);
    log_note(
        "a run takes up to %s, so %s pair%s fit%s into --at-most, behind the two runs that do not count; of what is "
        "sampled fewer than %d pairs rarely decide, and one never does: --at-most %.0fs",
        took, pairs > 0 ? arena_printf(&r->arena, "about %.0f", pairs) : "no", pairs > 1 ? "s" : "",
        pairs > 1 ? "" : "s", LOOKS_PAIRS_MIN, 10 * ceil((LOOKS_PAIRS_MIN + 1.5) * pair / 10));
}

/* Whether there is time for the first pair. */
static bool begin_pairs(struct race *r)
{
    expect_pair(r);
    tell_short(r);
    r->first = clock_seconds();
    r->start = r->strict ? r->start : r->first;
    if (gate_pair_fits(&r->looks, r->first - r->start))
        return true;
    r->outcome = CHECK_INCONCLUSIVE;
    vec_push(&r->lines, "no pair of runs fits into --at-most, behind the two runs that do not count");
    return false;
}

static struct hq_error *run_all(struct race *r)
{
    struct progress progress;

    progress_start(&progress, "racing: pairs of runs", r->looks.fixed, true);
    r->start = clock_seconds();
    struct hq_error *error = warm_up(r);
    bool more = !error && !r->interrupted && begin_pairs(r);

    while (more) {
        error = run_pair(r);
        progress_add(&progress, 1);
        more = !error && !r->interrupted && !decided(r);
        if (more)
            tell_progress(r);
    }
    progress_finish(&progress);
    return error;
}

/* ---- the verdict ---- */

/* Tells how a race that is not decided would be. */
static void tell_wanted(const struct race *r, double took)
{
    char text[UNITS_TEXT];
    unsigned often = gate_often_enough(&r->gate, r->pairs);

    if (r->wanted > LOOKS_PAIRS_MAX)
        printf("  more than %d runs of each would be needed: let the programs run longer, on a machine that does less "
               "beside, or allow more by --tolerance\n",
               LOOKS_PAIRS_MAX);
    else
        printf("  to decide it: -n %zu (about %s)\n", r->wanted,
               units_format(text, took / (double)r->pairs * (double)r->wanted, DIM_SECONDS));
    if (often > 1)
        printf("  or fewer runs that are longer: --old 'for i in $(seq %u); do CMD; done', and so --new\n", often);
}

static int tell(struct race *r, double took)
{
    /* Of time that was not measured nothing is said. */
    const char *words[] = {r->judged_time ? "ok: the new program is not slower"
                                          : "ok: nothing rose of what was measured, which is no time",
                           r->slower ? "FAIL: the new program is slower" : "FAIL: the new program costs more",
                           "inconclusive"};

    if (r->outcome == CHECK_FAIL)
        gate_explain(r->set.directory, r->names, &r->arena, &r->lines);
    printf("%s (%zu pairs of runs, %.0f s)\n", words[r->outcome], r->pairs, took);
    vec_foreach(line, &r->lines)
        printf("  %s\n", *line);
    if (r->outcome == CHECK_INCONCLUSIVE && r->wanted)
        tell_wanted(r, took);
    if (r->pairs && !opt_flag(r->args, "quiet", false))
        log_hint("hq %s, compare with %s/old.hq: the runs of each side, joined; hq check %s FILE judges other queries",
                 r->set.directory, r->set.directory, r->set.directory);
    return r->outcome == CHECK_FAIL ? HQ_FAILED : r->outcome == CHECK_PASS ? HQ_OK : HQ_INCONCLUSIVE;
}

static struct hq_error *race(struct race *r, int *status)
{
    const char *output = opt_value(r->args, "output");

    HQ_TRY(take_options(r));
    HQ_TRY(run_set_create(output ? output : "race.runs", opt_flag(r->args, "force", false), &r->set));
    r->told_next = LOOKS_PAIRS_MIN;
    if (opt_flag(r->args, "quiet", false))
        log_set_level(LEVEL_QUIET);
    gate_init(&r->gate, r->args, r->looks.fixed ? r->looks.fixed : LOOKS_PAIRS_MAX);
    double start = clock_seconds();

    HQ_TRY(repeat_prepare_input());
    HQ_TRY(run_all(r));
    if (r->interrupted) {
        log_note("interrupted: %zu pairs of runs are in %s, not judged (hq check %s FILE judges them)", r->pairs,
                 r->set.directory, r->set.directory);
        return NULL;
    }
    HQ_TRY(run_set_write(&r->set));
    HQ_TRY(run_set_join(&r->set));
    *status = tell(r, clock_seconds() - start);
    return NULL;
}

static int run(const struct opt_args *args)
{
    struct race r = {.args = args};
    int status = HQ_OK;
    struct hq_error *error = race(&r, &status);

    run_set_end(&r.set);
    gate_deinit(&r.gate);
    run_set_deinit(&r.set);
    vec_deinit(&r.options);
    vec_deinit(&r.command[RUN_OLD]);
    vec_deinit(&r.command[RUN_NEW]);
    vec_deinit(&r.lines);
    arena_deinit(&r.arena);
    if (!error && r.interrupted)
        return record_end_like(r.interrupted);
    status = error ? command_fail("race", error) : status;
    return opt_flag(args, "bisect", false) && status != HQ_OK && status != HQ_FAILED ? BISECT_SKIP : status;
}

const struct command cmd_race = {
    .cmd =
        {
            .name = "race",
            .usage = "--old CMD --new CMD [-n N] [--at-most TIME] [-o SET] [FILE]...",
            .summary = "run two programs in turns and tell whether the new one is slower",
            .description =
                "Records the old and the new program in turns (old, new, new, old, ...), after one run of each that "
                "does not count, and judges every procedure, or the rows of the queries in FILE, by the differences "
                "of neighbouring runs. It ends when each row is decided, or after --at-most.\n\n"
                "A row fails if it rose by more than half its tolerance and by more than chance explains: at most one "
                "race in a hundred of two equal programs fails. It is ok if a rise as large as the tolerance is "
                "ruled out: such a row is called ok in one race of twenty at most. Everything else is inconclusive. "
                "The tolerance is 10 % of the row, "
                "at least 2 % of the total (for ok 4 %); 0.5 % for exact events such as ALLOC. From 20 pairs on "
                "single disturbed runs do not count.\n\n"
                "Exit status: 0 not slower, 1 slower, 2 wrong usage, 3 a program failed or its data could not be "
                "read, 4 inconclusive.",
            .examples = "  hq race --old ./app.main --new ./app -o race.runs\n"
                        "  hq race --old './app.main -n 9' --new './app -n 9' --at-most 5min -o race.runs\n"
                        "  hq check race.runs perf/*.hq --junit perf.xml\n"
                        "  hq race.runs 'explain 80% of delta compare with race.runs/old.hq'\n"
                        "  git bisect run sh -c 'make -s app || exit 125\n"
                        "      hq race --bisect --force --old /tmp/app.good --new ./app -o /tmp/b.runs'\n",
            .options = options,
        },
    .run = run,
};
