/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq record`: runs a program with the collector and says where the data is. */
#include "repl/command.h"
#include "repl/gate/repeat.h"
#include "repl/gate/runs.h"
#include "repl/record/record.h"
#include "repl/record/perf.h"

#include "common/file.h"
#include "common/log.h"
#include "common/units.h"
#include "db/binaries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const clocks[] = {"auto", "perf", "timer", NULL}, *const ways[] = {"collector", "perf", NULL};

enum { NOTHING_MEASURED = 125 }; /* the status of --require; as env and timeout have it for a failure of their own */
#define NOT_RUN          "nothing is run, since --require asks for a measurement"
#define RUN_ALL_THE_SAME "it is run all the same"
#define UNMEASURED       "the program runs unmeasured"

static const struct opt options[] = {
    {.name = "event",
     .letter = 'e',
     .value = "EVENT[@RATE]",
     .repeats = true,
     .help = "what to measure; may be given several times. CPUTIME (the default, at 200/s) and REALTIME with a rate "
             "such as 200/s or a period such "
             "as 5ms; PAPI events with a count, such as PAPI_TOT_CYC@1000000; ALLOC, IO, LOCK, MPI"},
    {.name = "clock",
     .value = "CLOCK",
     .choices = clocks,
     .help = "what samples CPUTIME: perf, the kernel's software clock; timer, timers that fire at the kernel's tick; "
             "auto (the default), the first where time in the kernel may be counted too, else the second"},
    {.name = "by",
     .value = "WAY",
     .choices = ways,
     .help =
         "collector (the default): a library that is loaded into the program; perf: the kernel's perf_event, with a "
         "copy of the stack at each sample, for programs that nothing can be loaded into (static ones, other C "
         "libraries, Go) and for those that run already"},
    {.name = "pid",
     .letter = 'p',
     .value = "PID",
     .help =
         "with --by=perf: sample this process, its threads and what it starts from now on, until it ends, --duration "
         "is over, or Ctrl-C"},
    {.name = "stack",
     .value = "SIZE",
     .help = "with --by=perf: bytes of the stack that each sample copies, a multiple of 8, at most 65528 (16KiB if "
             "nothing is said); or fp: the kernel follows frame pointers and copies nothing"},
    {.name = "require",
     .help = "when nothing can be measured the program is not run, and the status is 125; likewise when nothing was"},
    {.name = "list", .letter = 'l', .help = "show the events that there are on this machine, and end"},
    {.name = "output", .letter = 'o', .value = "DB", .help = "the directory that gets the data; without it COMMAND.hq"},
    {.name = "force", .letter = 'f', .help = "replace the recording that DB holds"},
    {.name = "trace", .negatable = true, .help = "keep the time of every sample (the default)"},
    {.name = "buffer",
     .value = "DIR",
     .help = "write to this directory while the program runs, and move the data to DB when it has ended; where files "
             "of DB cannot be mapped this happens by itself"},
    {.name = "max-size",
     .value = "SIZE",
     .help =
         "let the trace of a process make its file no larger than SIZE, such as 500MiB: costs by call path stay "
         "complete, the trace keeps the newest samples, and answers say from when on. With --by=perf: of all copies "
         "of stacks together (2GiB if nothing is said); beyond it stacks are unwound at once and call paths kept"},
    {.name = "with-binaries",
     .help = "keep copies of the program and its libraries in DB, to ask on another machine, where they are others"},
    {.name = "ranks", .value = "LIST", .help = "measure only these ranks, such as 0-3,7"},
    {.name = "delay", .value = "TIME", .help = "measure nothing before the program has run so long"},
    {.name = "duration", .value = "TIME", .help = "and nothing after so long a time from then"},
    {.name = "runs",
     .value = "N",
     .help = "run the program N times; DB becomes a set of runs, which hq check and questions take like a database"},
    {.name = "mark",
     .value = "PROCEDURE",
     .repeats = true,
     .help =
         "count and time every visit to this procedure of the program or its libraries, by name or with * and ?; may "
         "be given several times. A visit costs some microseconds, so mark what does more than that"},
    {.name = "mark-in",
     .value = "FILE",
     .repeats = true,
     .help = "look for these procedures in this library, which the program opens itself, or program, which a script "
             "starts, too"},
    {.name = "stopped", .help = "measure nothing until the program calls hq_start of hq.h"},
    {.name = NULL},
};

static const char rate[] = "the rate stands behind the event: -e CPUTIME@99/s, or a count: -e PAPI_TOT_CYC@1000000",
                  call_paths[] = "call paths are always recorded, and it needs no frame pointers",
                  from_start[] = "a program is measured from its start, with all that it starts: hq record -o DB -- "
                                 "PROGRAM; or one process that runs already: hq record --by=perf -p PID";

/* Options of perf record, hpcrun and others. */
static const struct opt_foreign foreign[] = {
    {"F", rate},
    {"freq", rate},
    {"frequency", rate},
    {"c", rate},
    {"count", rate},
    {"i", rate},
    {"interval", rate},
    {"g", call_paths},
    {"call-graph", call_paths},
    {"callgraph", call_paths},
    {"collect", "-e says what is measured; `hq record --list` shows what there is"},
    {"a", from_start},
    {"all-cpus", from_start},
    {"C", from_start},
    {"t", "the time of every sample is kept anyway"},
    {"L", "it is -l"},
    {"metric", "it is -e, --event"},
    {"quiet", "the program's output stays as it is; hq adds one line at the end, on standard error"},
    {"q", "the program's output stays as it is; hq adds one line at the end, on standard error"},
    {NULL, NULL},
};

/* The numbers from HQM_TRACE_MARK on mean something else in a trace. */
static struct hq_error *check_count(const char *events)
{
    unsigned count = 1;

    for (const char *at = events; (at = strchr(at, ',')); at++)
        count++;
    if (count <= HQM_TRACE_MARK)
        return NULL;
    return hq_error_new(HQ_USAGE, "these events are %u metrics, and a recording has room for %u: leave some away",
                        count, HQM_TRACE_MARK);
}

static struct hq_error *collect_events(const struct opt_args *args, struct str *events)
{
    for (size_t i = 0; i < opt_count(args, "event"); i++)
        HQ_TRY(record_add_event(opt_value_at(args, "event", i), events));
    if (!events->len)
        HQ_TRY(record_add_event("CPUTIME", events));
    if (opt_value(args, "clock") && !strstr(str_cstr(events), "CPUTIME@"))
        return hq_error_new(HQ_USAGE, "--clock chooses what samples CPUTIME, which is not asked for: add -e CPUTIME");
    return check_count(str_cstr(events));
}

/* Is every process measured from its start to its end? */
static bool measures_all(const struct opt_args *args)
{
    return !opt_value(args, "ranks") && !opt_value(args, "delay") && !opt_value(args, "duration") &&
           !opt_flag(args, "stopped", false);
}

/* Why there may be no sample where measuring was to begin or end in between; NULL: it was not. */
static const char *window_of(const struct opt_args *args)
{
    if (opt_flag(args, "stopped", false))
        return "no sample came while the program had measuring on, which it begins by hq_start (--stopped)";
    return opt_value(args, "delay") || opt_value(args, "duration")
               ? "no sample came in the time that --delay and --duration leave"
               : NULL;
}

static void keep_binaries(const struct record_place *place)
{
    struct binaries_kept kept;
    char size[UNITS_TEXT];
    struct hq_error *error = binaries_keep(place->measurements, &kept);

    if (error) {
        fprintf(stderr, "hq: not all binaries are kept in %s: %s\n", place->database, error->message);
        hq_error_free(error);
        return;
    }
    if (place->rank > 0)
        return;
    units_format(size, (double)kept.bytes, DIM_BYTES);
    fprintf(stderr, "hq: %llu binaries, %s, are kept in %s/" BINARIES_DIRECTORY "\n", (unsigned long long)kept.files,
            size, place->database);
    if (kept.changed || kept.unread)
        fprintf(stderr, "hq: %llu others are not: %llu changed since they were loaded, %llu cannot be read\n",
                (unsigned long long)(kept.changed + kept.unread), (unsigned long long)kept.changed,
                (unsigned long long)kept.unread);
}

static struct hq_error *open_place(const struct opt_args *args, const char *command, struct record_place *place,
                                   struct str *note)
{
    const char *database = opt_value(args, "output");
    AUTO_STR struct str name = {0};

    str_addf(&name, "%s.hq", file_basename(command));
    if (database && !*database)
        return hq_error_new(HQ_USAGE, "-o needs the name of a directory");
    HQ_TRY(record_place_open(database ? database : str_cstr(&name), opt_flag(args, "force", false), place));
    return opt_value(args, "buffer") ? record_buffer_open(place, opt_value(args, "buffer"))
                                     : record_buffer_choose(place, note);
}

/* Without the collector. */
static int measure_by_perf(const struct opt_args *args, char *const *command, const char *path)
{
    AUTO_STR struct str events = {0}, note = {0}, obstacle = {0};
    struct record_place place = {.life = -1};
    struct record_perf perf;
    enum record_obstacle kind = RECORD_NO_OBSTACLE;
    struct perf_told told = {0};
    int status = 0;
    struct hq_error *error = collect_events(args, &events);

    record_survive_size_limit();
    if (!error && opt_flag(args, "with-binaries", false))
        error = hq_error_new(HQ_USAGE, "--with-binaries keeps what the collector has seen loaded: it does not go with "
                                       "--by=perf");
    if (!error)
        error = record_perf_options(args, str_cstr(&events), &perf);
    if (!error && (perf.pid != 0) == (path != NULL))
        error = hq_error_new(HQ_USAGE, path ? "-p names a process that runs already: leave the program away"
                                            : "name the program to run, or a process with -p");
    if (!error && path)
        record_find_obstacle(path, &obstacle, &kind);
    if (!error && kind == RECORD_PRIVILEGED) {
        bool require = opt_flag(args, "require", false);

        fprintf(stderr,
                "hq: %s: the kernel takes its clock away when it is executed; %s\n"
                "hq: once it runs, root may measure it: hq record --by=perf -p PID\n",
                path, require ? NOT_RUN : RUN_ALL_THE_SAME);
        if (require)
            return NOTHING_MEASURED;
    }
    if (!error)
        error = record_perf_permitted();
    if (!error)
        error = open_place(args, path ? command[0] : "process", &place, &note);
    if (!error)
        error = path ? record_perf_program(&perf, &place, path, command, &status, &told)
                     : record_perf_process(&perf, &place, &told);
    place.begun = !error;
    int result = error ? command_fail("record", error) : HQ_OK;

    record_place_deinit(&place);
    if (!result && opt_flag(args, "require", false) && !told.samples)
        return NOTHING_MEASURED;
    if (result || !path)
        return result;
    repeat_tell_ran();
    return record_end_like(status);
}

/* False: nothing will be measured, and --require does not run it then. */
static bool tell_obstacle(const struct opt_args *args, const char *path, const char *obstacle,
                          enum record_obstacle kind)
{
    bool require = opt_flag(args, "require", false);

    if (!*obstacle)
        return true;
    fprintf(stderr, "hq: %s; %s\n", obstacle, require ? NOT_RUN : RUN_ALL_THE_SAME);
    if (kind == RECORD_PRIVILEGED)
        fprintf(stderr, "hq: once it runs, root may measure it: hq record --by=perf -p PID\n");
    else if (record_perf_may())
        fprintf(stderr, "hq: hq record --by=perf -o DB -- %s measures it%s\n", path,
                kind == RECORD_OTHER_MACHINE ? ", without call paths" : "");
    return !require;
}

static int measure(const struct opt_args *args, char *const *command, const char *path)
{
    AUTO_STR struct str events = {0}, obstacle = {0}, note = {0}, marks = {0};
    struct record_place place = {.life = -1};
    char *library = NULL;
    int status = 0;
    pid_t pid = 0;
    bool measured = true;
    enum record_obstacle kind;

    if (opt_value(args, "stack"))
        return command_usage("record", "--stack is for --by=perf");
    record_survive_size_limit();
    struct hq_error *error = collect_events(args, &events);
    if (!error)
        error = record_set_limits(args);
    if (!error)
        error = record_find_library(&library);
    bool loadable = !error && record_find_obstacle(path, &obstacle, &kind);
    if (!error && !tell_obstacle(args, path, str_cstr(&obstacle), kind)) {
        free(library);
        return NOTHING_MEASURED;
    }
    if (!error)
        error = record_find_marks(args, path, &marks);
    if (!error)
        error = open_place(args, command[0], &place, &note);
    if (!error)
        error = record_set_marks(&marks, place.measurements);
    int result = error ? command_fail("record", error) : HQ_OK;
    if (!error) {
        if (loadable)
            record_set_preload(library, str_cstr(&events));
        if (note.len)
            fprintf(stderr, "hq: %s\n", str_cstr(&note));
        record_set_environment(&place, str_cstr(&events), args);
        error = record_run(path, command, NULL, &status, &pid);
        place.begun = !error;
        if (error) {
            command_fail("record", error);
            result = 126;
        } else {
            measured = record_close(&place, str_cstr(&events), pid, status, measures_all(args), window_of(args));
            if (opt_flag(args, "with-binaries", false))
                keep_binaries(&place);
        }
    }
    record_place_deinit(&place);
    free(library);
    if (!result && !measured && opt_flag(args, "require", false))
        return NOTHING_MEASURED;
    if (result)
        return result;
    repeat_tell_ran();
    return record_end_like(status);
}

/* Where a limit leaves no room for any measurements the program runs as it would without this command. */
static int run_unmeasured(const struct opt_args *args, char *const *command, const char *path, const char *limit)
{
    bool require = opt_flag(args, "require", false);

    record_survive_size_limit(); /* standard error may be a file at its limit */
    fprintf(stderr, "hq: %s; %s\n", limit, require ? NOT_RUN : UNMEASURED);
    if (require)
        return NOTHING_MEASURED;
    command_fail("record", record_become(path, command));
    return 126;
}

/* --runs: each run is a `hq record` of its own. */
static struct hq_error *repeat(const struct opt_args *args, const char *count, int *status)
{
    static const char *const not_theirs[] = {"runs", "output", "force", NULL};
    enum { RUNS_MAX = 1000 };
    AUTO(arena_deinit) struct arena arena = {0};
    AUTO(run_set_deinit) struct run_set set = {0};
    AUTO_FREE char *name = xasprintf("%s.runs", file_basename(args->operands.data[0]));
    const char *output = opt_value(args, "output");
    struct repeat_words words = {0}, command = {0};
    char *end;
    long n = strtol(count, &end, 10);

    if (!*count || *end || n < 2 || n > RUNS_MAX)
        return hq_error_new(HQ_USAGE, "--runs takes a number from 2 to %d, not `%s`", RUNS_MAX, count);
    HQ_TRY(run_set_create(output ? output : name, opt_flag(args, "force", false), &set));
    repeat_options(args, not_theirs, &arena, &words);
    vec_append(&command, args->operands.data, args->operands.len);
    struct hq_error *error = repeat_prepare_input();
    struct repeat_end end_of = {0};

    for (long i = 0; i < n && !error && !end_of.watched.status && !end_of.watched.interrupted; i++) {
        AUTO_FREE char *path = run_set_next(&set);

        error = repeat_record(&words, &command, path, NULL, 0, &end_of);
        /* A program may end well by a signal that was for all; it has not run to its end then. */
        if (!error && !end_of.watched.status && !end_of.watched.interrupted)
            run_set_add(&set, RUN_NEW, path);
    }
    vec_deinit(&words);
    vec_deinit(&command);
    run_set_end(&set);
    if (!error && end_of.watched.interrupted) {
        log_note("interrupted in run %zu; %s lists no run", set.runs.len + 1, set.directory);
        *status = record_end_like(end_of.watched.interrupted);
        return NULL;
    }
    if (!error && end_of.watched.status)
        return hq_error_new(end_of.watched.status,
                            end_of.ran ? "run %zu ended with status %d; %s lists no run"
                                       : "run %zu was not recorded: hq record itself failed, with status %d; %s lists "
                                         "no run",
                            set.runs.len + 1, end_of.watched.status, set.directory);
    if (!error)
        error = run_set_write(&set);
    return error ? error : run_set_join(&set);
}

static int list_events(void)
{
    AUTO_STR struct str text = {0};

    record_list_events(&text);
    fputs(str_cstr(&text), stdout);
    return HQ_OK;
}

static void tell_no_program(const struct opt_args *args, int status)
{
    const char *name = args->operands.data[0];
    AUTO_STR struct str why = {0};

    record_explain_command(name, status, opt_value(args, "output"), &why);
    fprintf(stderr, "hq record: %s%s%s\n", name, *name ? ": " : "", str_cstr(&why));
}

/* `hq record PROGRAM -o my.hq`: options behind the program are the program's. */
static void note_options_behind(const struct opt_args *args)
{
    for (size_t i = 1; i + 1 < args->operands.len && !opt_value(args, "output"); i++)
        if (!strcmp(args->operands.data[i], "-o") && strstr(args->operands.data[i + 1], ".hq"))
            log_hint("-o %s stands behind the program, which gets it; options of hq record stand before the program",
                     args->operands.data[i + 1]);
}

static int run(const struct opt_args *args)
{
    int status;

    repeat_begin();
    if (opt_flag(args, "list", false))
        return list_events();
    bool by_perf = opt_value(args, "by") && !strcmp(opt_value(args, "by"), "perf");

    if (opt_value(args, "pid") && !by_perf)
        return command_usage("record", "a process that runs already is measured by perf_event: --by=perf -p PID");
    if (opt_value(args, "pid") && !args->operands.len)
        return measure_by_perf(args, NULL, NULL);
    if (!args->operands.len)
        return command_usage("record", "name the program to run");
    note_options_behind(args);
    if (opt_value(args, "runs")) {
        status = 0;
        return command_fail("record", repeat(args, opt_value(args, "runs"), &status));
    }
    char **command = calloc(args->operands.len + 1, sizeof *command);
    for (size_t i = 0; command && i < args->operands.len; i++)
        command[i] = (char *)args->operands.data[i];
    char *path = command ? record_find_command(command[0], &status) : NULL;
    const char *limit = record_place_limit();
    if (!path)
        tell_no_program(args, status);
    else if (limit)
        status = run_unmeasured(args, command, path, limit);
    else
        status = by_perf ? measure_by_perf(args, command, path) : measure(args, command, path);
    free(path);
    free(command);
    return status;
}

const struct command cmd_record = {
    .cmd =
        {
            .name = "record",
            .usage = "[-e EVENT[@RATE]]... [-o DB] [--force] [--] COMMAND [ARG]...",
            .summary = "run a program and measure its call paths",
            .description = "Runs COMMAND with the collector loaded into it and into everything that it starts: all "
                           "threads, forked and executed "
                           "children, the ranks of an MPI launcher. Both `hq record -- mpirun -n 2 PROG` and `mpirun "
                           "-n 2 hq record -o DB -- PROG` work.\n\n"
                           "The program's exit status and signals are passed through; 127 means that there is no such "
                           "command, 126 that it cannot be run, 125 (with --require) that nothing was measured.\n\n"
                           "Nothing can be loaded into static programs, those of another C library, and those that "
                           "run already. --by=perf has the kernel sample them; their stacks are unwound by the first "
                           "question.",
            .examples = "  hq record -o my.hq -- ./solver input.dat\n"
                        "  hq record -o my.hq -- mpirun -n 4 ./solver\n"
                        "  hq record -e REALTIME@100/s -o my.hq -- ./server\n"
                        "  hq record -e CPUTIME -e ALLOC -o my.hq -- ./solver\n"
                        "  hq record --by=perf -o my.hq -- ./static-program\n"
                        "  hq record --by=perf -o my.hq --duration 10s -p 4711\n",
            .options = options,
            .foreign = foreign,
            .stops_at_operand = true,
        },
    .run = run,
};
