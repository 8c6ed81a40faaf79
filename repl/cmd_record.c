/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq record`: runs a program with the collector and says where the data is. */
#include "repl/command.h"
#include "repl/record.h"

#include "common/file.h"
#include "common/log.h"
#include "common/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

static const struct opt options[] = {
    { .name = "event", .letter = 'e', .value = "EVENT[@RATE]", .repeats = true,
      .help = "what to measure; may be given several times. CPUTIME (the default, at 200/s) and REALTIME with a rate such as 200/s or a period such "
              "as 5ms; PAPI events with a count, such as PAPI_TOT_CYC@1000000; ALLOC, IO, LOCK" },
    { .name = "list", .letter = 'l', .help = "show the events that there are on this machine, and end" },
    { .name = "output", .letter = 'o', .value = "DB", .help = "the directory that gets the data; without it COMMAND.hq" },
    { .name = "force", .letter = 'f', .help = "replace the recording that DB holds" },
    { .name = "trace", .negatable = true, .help = "keep the time of every sample (the default)" },
    { .name = "buffer", .value = "DIR", .help = "write to this directory while the program runs, and move the data to DB when it has ended: for network file systems" },
    { .name = "ranks", .value = "LIST", .help = "measure only these ranks, such as 0-3,7" },
    { .name = "delay", .value = "TIME", .help = "measure nothing before the program has run so long" },
    { .name = "duration", .value = "TIME", .help = "and nothing after so long a time from then" },
    { .name = "stopped", .help = "measure nothing until the program calls hq_start of hq.h" },
    { .name = NULL },
};

static struct hq_error *collect_events(const struct opt_args *args, struct str *events)
{
    for (size_t i = 0; i < opt_count(args, "event"); i++)
        HQ_TRY(record_add_event(opt_value_at(args, "event", i), events));
    return events->len ? NULL : record_add_event("CPUTIME", events);
}

/* --delay and --duration as points in time, which hold for all processes of the launch. */
static struct hq_error *set_window(const struct opt_args *args)
{
    const char *delay = opt_value(args, "delay"), *duration = opt_value(args, "duration");
    double wait = 0, length = 0;
    AUTO_STR struct str from = { 0 }, until = { 0 };
    struct timespec now;

    if (delay)
        HQ_TRY(hq_error_prefix(units_parse_seconds(delay, &wait), "--delay"));
    if (duration)
        HQ_TRY(hq_error_prefix(units_parse_seconds(duration, &length), "--duration"));
    clock_gettime(CLOCK_REALTIME, &now);
    double start = (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3 + wait * 1e6;
    str_addf(&from, "%.0f", start);
    str_addf(&until, "%.0f", start + length * 1e6);
    unsetenv("HQ_FROM_US");
    unsetenv("HQ_UNTIL_US");
    if (delay)
        setenv("HQ_FROM_US", str_cstr(&from), 1);
    if (duration)
        setenv("HQ_UNTIL_US", str_cstr(&until), 1);
    return NULL;
}

/* LIST is numbers and ranges, separated by commas. */
static struct hq_error *set_ranks(const struct opt_args *args)
{
    const char *list = opt_value(args, "ranks");

    if (!list) {
        unsetenv("HQ_RANKS");
        return NULL;
    }
    for (const char *at = list; ; ) {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        bool fine = *at >= '0' && *at <= '9';
        if (fine && *end == '-') {
            at = end + 1;
            last = strtol(at, &end, 10);
            fine = *at >= '0' && *at <= '9';
        }
        if (!fine || last < first || (*end && *end != ','))
            return hq_error_new(HQ_USAGE, "--ranks %s is no list of ranks such as 0-3,7", list);
        if (!*end)
            break;
        at = end + 1;
    }
    setenv("HQ_RANKS", list, 1);
    return NULL;
}

static void set_environment(const struct record_place *place, const char *library, const char *events, const struct opt_args *args)
{
    AUTO_STR struct str launch = { 0 }, preload = { 0 };
    const char *old = getenv("LD_PRELOAD");

    str_addf(&launch, "%llu", (unsigned long long)place->launch);
    str_add(&preload, library);
    if (record_needs_exact(events)) {
        AUTO_STR struct str exact = { 0 };
        str_addn(&exact, library, strlen(library) - strlen("libhqpreload.so"));
        str_addf(&preload, ":%slibhqexact.so", str_cstr(&exact));
    }
    if (old && *old && !strstr(old, library))
        str_addf(&preload, ":%s", old);
    setenv("LD_PRELOAD", str_cstr(&preload), 1);
    setenv("HQ_DIR", place->buffer ? place->buffer : place->measurements, 1);
    setenv("HQ_LAUNCH", str_cstr(&launch), 1);
    setenv("HQ_EVENTS", events, 1);
    setenv("HQ_TRACE", opt_flag(args, "trace", true) ? "1" : "0", 1);
    setenv("HQ_STOPPED", opt_flag(args, "stopped", false) ? "1" : "0", 1);
    unsetenv("HQ_TOLD");
}

static void print_count(struct str *line, uint64_t count, const char *one, const char *many)
{
    str_addf(line, "%llu %s", (unsigned long long)count, count == 1 ? one : many);
}

/* The line at the end, and a note if the rate was more than there is. Under a launcher only rank 0 speaks, of its own part. */
static void close_recording(const struct record_place *place, const char *events, pid_t pid, int status)
{
    struct record_sum sum;
    AUTO_STR struct str line = { 0 }, note = { 0 };
    unsigned left = 0;
    struct hq_error *error = record_buffer_collect(place, &left);

    if (!error)
        error = record_sum(place, pid, WIFSIGNALED(status) ? WTERMSIG(status) : 0, &sum);
    if (error) {
        log_warn("%s", error->message);
        hq_error_free(error);
        return;
    }
    if (left)
        log_warn("the data of %u processes that still run stays in %s; move it to %s when they have ended", left, place->buffer,
                 place->measurements);
    if (place->rank > 0 && !sum.lost)
        return;
    if (place->rank >= 0)
        str_addf(&line, "rank %d: ", place->rank);
    if (!sum.files) {
        str_add(&line, "nothing was measured");
    } else {
        if (sum.samples || !sum.counted)
            print_count(&line, sum.samples, "sample", "samples");
        else
            print_count(&line, sum.counted, "count of exact events", "counts of exact events");
        str_add(&line, ", ");
        print_count(&line, sum.threads, "thread", "threads");
        str_add(&line, ", ");
        print_count(&line, sum.files, "process", "processes");
        str_addf(&line, " in %s", place->database);
    }
    if (sum.lost)
        str_addf(&line, "; %llu samples were lost%s", (unsigned long long)sum.lost, sum.lost_space ? ", for want of space" : "");
    if (sum.running)
        str_addf(&line, "; %u still running", sum.running);
    fprintf(stderr, "hq: %s\n", str_cstr(&line));
    record_note_tick(events, &note);
    if (note.len)
        fprintf(stderr, "hq: %s\n", str_cstr(&note));
}

static struct hq_error *open_place(const struct opt_args *args, const char *command, struct record_place *place)
{
    const char *database = opt_value(args, "output");
    AUTO_STR struct str name = { 0 };

    str_addf(&name, "%s.hq", file_basename(command));
    if (database && !*database)
        return hq_error_new(HQ_USAGE, "-o needs the name of a directory");
    HQ_TRY(record_place_open(database ? database : str_cstr(&name), opt_flag(args, "force", false), place));
    return opt_value(args, "buffer") ? record_buffer_open(place, opt_value(args, "buffer")) : NULL;
}

static int measure(const struct opt_args *args, char *const *command, const char *path)
{
    AUTO_STR struct str events = { 0 }, obstacle = { 0 };
    struct record_place place = { 0 };
    char *library = NULL;
    int status = 0;
    pid_t pid = 0;

    struct hq_error *error = collect_events(args, &events);
    if (!error)
        error = set_ranks(args);
    if (!error)
        error = set_window(args);
    if (!error)
        error = record_find_library(&library);
    if (!error)
        error = open_place(args, command[0], &place);
    int result = error ? command_fail("record", error) : HQ_OK;
    if (!error) {
        record_find_obstacle(path, &obstacle);
        if (obstacle.len)
            fprintf(stderr, "hq: %s\n", str_cstr(&obstacle));
        set_environment(&place, library, str_cstr(&events), args);
        error = record_run(path, command, &status, &pid);
        if (error) {
            command_fail("record", error);
            result = 126;
        } else {
            close_recording(&place, str_cstr(&events), pid, status);
        }
    }
    record_place_deinit(&place);
    free(library);
    return result ? result : record_end_like(status);
}

static int list_events(void)
{
    AUTO_STR struct str text = { 0 };

    record_list_events(&text);
    fputs(str_cstr(&text), stdout);
    return fflush(stdout) ? HQ_DATA : HQ_OK;
}

static int run(const struct opt_args *args)
{
    int status;

    if (opt_flag(args, "list", false))
        return list_events();
    if (!args->operands.len)
        return command_usage("record", "name the program to run");
    char **command = calloc(args->operands.len + 1, sizeof *command);
    for (size_t i = 0; command && i < args->operands.len; i++)
        command[i] = (char *)args->operands.data[i];
    char *path = command ? record_find_command(command[0], &status) : NULL;
    if (!path)
        fprintf(stderr, "hq record: %s: %s\n", args->operands.data[0],
                status == 127 ? "there is no such command" : "not an executable file");
    else
        status = measure(args, command, path);
    free(path);
    free(command);
    return status;
}

const struct command cmd_record = {
    .cmd = {
        .name = "record",
        .usage = "[-e EVENT[@RATE]]... [-o DB] [--force] [--] COMMAND [ARG]...",
        .summary = "run a program and measure its call paths",
        .description =
            "Runs COMMAND with the collector loaded into it and into everything that it starts: all threads, forked and executed "
            "children, the ranks of an MPI launcher. Both `hq record -- mpirun -n 2 PROG` and `mpirun -n 2 hq record -o DB -- PROG` work.\n\n"
            "The program's exit status and signals are passed through; 127 means that there is no such command, 126 that it cannot be run.",
        .options = options,
        .stops_at_operand = true,
    },
    .run = run,
};
