/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what `hq record` says when the program has ended: one line about the data, and notes where the user has to
 * know something. */
#include "repl/record/record.h"
#include "repl/record/perf.h"

#include "common/file.h"
#include "common/log.h"
#include "common/mem.h"
#include "db/cpu_clock.h"
#include "db/generated.h"
#include "db/unmeasured.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

enum { NAMED = 3 }; /* programs without the collector that are named */

static void add_count(struct str *line, uint64_t count, const char *one, const char *many)
{
    str_addf(line, "%llu %s", (unsigned long long)count, count == 1 ? one : many);
}

/* Exact events have the period 0. */
static bool has_sampled(const char *events)
{
    for (const char *at = events; (at = strchr(at, '@')); at++)
        if (at[1] != '0')
            return true;
    return false;
}

/* Adds the clock that sampled CPUTIME and, where not all processes had the same one, in how many. A process that
 * executes another program may have another clock from then on. `continued`: so many do, whose files are not processes.
 */
static void add_clock(struct str *line, const struct record_sum *sum, uint64_t continued)
{
    const char *next = ", CPUTIME by ", *what = continued ? "executed programs and forked processes" : "processes";

    for (enum hqm_clock clock = HQM_CLOCKS - 1; clock > HQM_CLOCK_UNKNOWN; clock--) {
        if (!sum->clock[clock])
            continue;
        str_addf(line, "%s%s", next, clock_name(clock));
        if (sum->clock[clock] < sum->files) {
            str_addf(line, " in %llu", (unsigned long long)sum->clock[clock]);
            if (what)
                str_addf(line, " of %llu %s", (unsigned long long)sum->files, what);
            what = NULL;
        }
        next = ", by ";
    }
    if (sum->timer_threads)
        str_addf(line, ", by timers in %llu of the threads", (unsigned long long)sum->timer_threads);
    if (sum->slowed_threads)
        str_addf(line, ", less often in %llu of the threads", (unsigned long long)sum->slowed_threads);
}

static void add_commands(struct str *line, const char *before, uint64_t count, const char *behind)
{
    str_add(line, before);
    add_count(line, count, "command of devices", "commands of devices");
    str_add(line, behind);
}

/* The place of an event, which begins with `name`, in the list of events; -1: it is not there. */
static int place_of(const char *events, const char *name)
{
    const char *at = strstr(events, name);
    int place = 0;

    for (const char *c = events; at && c < at; c++)
        place += *c == ',';
    return at && place < RECORD_EVENTS ? place : -1;
}

/* Tells how much was measured, and where it is. */
static void add_measured(struct str *line, const struct record_place *place, const struct record_sum *sum,
                         const char *events)
{
    /* Who executes a program goes on in another file; a number that is used again makes one, too. */
    uint64_t continued = sum->execed < sum->executed ? sum->execed : sum->executed;

    if (place->rank >= 0)
        str_addf(line, "rank %d: ", place->rank);
    if (!sum->files) {
        str_add(line, "nothing was measured");
        return;
    }
    if (sum->samples || (!sum->counted && has_sampled(events)))
        add_count(line, sum->samples, "sample", "samples");
    else
        add_count(line, sum->counted, "count of exact events", "counts of exact events");
    str_add(line, ", ");
    if (sum->commands)
        add_commands(line, "", sum->commands, ", ");
    add_count(line, sum->threads - continued, "thread", "threads");
    str_add(line, ", ");
    add_count(line, sum->files - continued, "process", "processes");
    str_addf(line, " in %s", place->database);
    if (sum->samples && strstr(events, "CPUTIME@"))
        add_clock(line, sum, continued);
}

/* Why what was measured holds no sample and no count, and what to do about it. */
static void add_why_none(struct str *line, const char *events, int status, bool elsewhere, const char *window)
{
    enum { MANY_PERIODS = 100 }; /* and what the processes took before they were measured */
    const char *clock = strstr(events, "CPUTIME@");
    double asked_ns = clock ? strtod(clock + strlen("CPUTIME@"), NULL) : 0;
    bool failed = WIFEXITED(status) && WEXITSTATUS(status);

    if (failed)
        str_addf(line, "; the program ended with status %d", WEXITSTATUS(status));
    if (window)
        str_addf(line, "; %s", window);
    else if (failed)
        str_add(line, ": record it anew with --force");
    else if (elsewhere)
        str_add(line, "; what used CPU time was not measured");
    else if (clock && record_cpu_time() * 1e9 > MANY_PERIODS * asked_ns)
        str_addf(line, "; no sample came in %.2f s of CPU time", record_cpu_time());
    else if (clock)
        str_addf(
            line,
            "; it used too little CPU time for one: run it longer, ask for %sthe time that it waits too (-e REALTIME)",
            asked_ns > 1e6 ? "more (-e CPUTIME@1000/s), or for " : "");
}

/* Tells what is missing in it, and why. */
static void add_unmeasured(struct str *line, const struct record_sum *sum, const char *events)
{
    int allocations = place_of(events, "ALLOC_CALLS");

    if (sum->unended_commands)
        add_commands(line, "; ", sum->unended_commands, " had not ended");
    if (sum->failed_commands)
        add_commands(line, "; ", sum->failed_commands, " failed");
    if (sum->files && !sum->running && allocations >= 0 && !sum->event_sum[allocations])
        str_add(line, "; no allocation was seen: the program made none, or has a malloc of its own, as with "
                      "clang's sanitizers, which is not measured");
    for (int i = 0; record_device_runtimes[i]; i++)
        if (sum->unmeasured_devices >> i & 1)
            str_addf(line, "; what %s does on devices is not measured", record_device_runtimes[i]);
    if (sum->opencl && !sum->queues && strstr(events, "GPU"))
        str_add(line,
                "; OpenCL was loaded, but no queue of it was seen (of programs that open libOpenCL.so themselves it "
                "is with a loader that has layers: ocl-icd 2.3)");
    if (sum->lost)
        str_addf(line, "; %llu samples were lost%s", (unsigned long long)sum->lost,
                 sum->lost_space ? ", for want of space" : "");
    if (sum->running)
        str_addf(line, "; %u still running", sum->running);
}

/* `elsewhere`: that much CPU time, or a program that is known by name, was without the collector. `window`: of
 * record_close. */
static void tell_data(const struct record_place *place, const struct record_sum *sum, const char *events, int status,
                      bool elsewhere, const char *window)
{
    AUTO_STR struct str line = {0};

    add_measured(&line, place, sum, events);
    if (sum->files && !sum->samples && !sum->counted && !sum->running)
        add_why_none(&line, events, status, elsewhere, window);
    add_unmeasured(&line, sum, events);
    fprintf(stderr, "hq: %s\n", str_cstr(&line));
    if (sum->samples && !sum->running && isatty(STDERR_FILENO))
        fprintf(stderr, "hq: %s: hq %s summary\n", record_only ? "a first look, by a whole hq" : "a first look",
                place->database);
}

/* Programs that the collector was not loaded into, and what measures them if nothing else was. */
static void tell_programs(const struct unmeasured_list *list, bool nothing)
{
    AUTO_STR struct str line = {0};

    for (size_t i = 0; i < list->len && i < NAMED; i++) {
        str_addf(&line, "%s%s", i ? ", " : "", list->data[i].text);
        if (list->data[i].times > 1)
            str_addf(&line, " %llu times", (unsigned long long)list->data[i].times);
    }
    if (list->len > NAMED)
        str_addf(&line, ", and %zu more that `info` names", list->len - NAMED);
    if (list->len)
        fprintf(stderr, "hq: not measured: %s%s\n", str_cstr(&line),
                nothing && record_perf_may() ? "; hq record --by=perf needs no collector" : "");
}

/* CPU time of processes that were not measured, in seconds. */
static double time_elsewhere(const struct record_sum *sum, int event)
{
    return record_cpu_time() - (double)(sum->loading_ns + sum->measured_ns + sum->unended_sum[event]) / 1e9;
}

/*
 * The kernel knows how much CPU time the program and all its children took that have been waited for. What of it is in
 * no sample was spent before the collector was loaded, between samples, or in processes without the collector. Parts
 * that make little of it are not named.
 */
static void tell_missing_time(const struct record_sum *sum, const char *events)
{
    int event = place_of(events, "CPUTIME@");
    AUTO_STR struct str parts = {0};

    if (event < 0)
        return;
    double total = record_cpu_time(), sampled = (double)sum->event_sum[event] / 1e9, rest = total - sampled;
    double loading = (double)sum->loading_ns / 1e9, elsewhere = time_elsewhere(sum, event);
    if (rest < 0.1 || rest < 0.25 * total)
        return;
    /* Samples in some of many short processes stand for those without one, which have no file. */
    double between = total - loading - elsewhere - sampled;
    elsewhere += between < 0 ? between : 0;
    struct {
        double seconds;
        const char *where;
    } part[] = {
        {elsewhere, "in processes that could not be measured or were too short"},
        {between, "in threads and processes that ended before a sample was due, had no clock, or were made past hq "
                  "(RTLD_DEEPBIND)"},
        {loading, "while programs were loaded, linked and initialised"},
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (part[i].seconds > 0.1 * rest)
            str_addf(&parts, "%s%.2f s %s", parts.len ? ", " : ": ", part[i].seconds, part[i].where);
    fprintf(stderr, "hq: of %.2f s of CPU time %.2f s are in no sample%s\n", total, rest, str_cstr(&parts));
}

static void tell_left(const struct record_place *place, unsigned left)
{
    if (left)
        log_warn("processes still run, so %u of the files stay in %s; the next use of %s on this host fetches them",
                 left, place->buffer, place->database);
}

static void tell_failure(const struct record_place *place, struct hq_error *error)
{
    if (!file_is_dir(place->measurements))
        log_warn("%s was removed while the program ran, and the measurements with it", place->measurements);
    else
        log_warn("%s", error->message);
    hq_error_free(error);
}

/* Explains an end by SIGTRAP, which hq cannot prevent: a new program gets a signal of the clock that was under way when
 * the old one executed it. */
static void tell_trap(const struct record_sum *sum, int status)
{
    bool by_trap = WIFSIGNALED(status) ? WTERMSIG(status) == SIGTRAP
                                       : WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTRAP;

    if (by_trap && (sum->clock[HQM_CLOCK_PERF] || sum->clock[HQM_CLOCK_PERF_USER]))
        fprintf(stderr,
                "hq: the program ended by SIGTRAP, which is the software clock's signal, too: if it does not end so "
                "without hq, it executes another one past the C library; record it with --clock=timer\n");
}

/* Sentences of the processes, each once. */
static void tell_told(const struct record_sum *sum)
{
    vec_foreach(t, &sum->told) {
        if (t->processes > 1)
            fprintf(stderr, "hq: in %llu processes: %s\n", (unsigned long long)t->processes, t->text);
        else
            fprintf(stderr, "hq: %s\n", t->text);
    }
}

bool record_close(const struct record_place *place, const char *events, pid_t pid, int status, bool all,
                  const char *window)
{
    AUTO(unmeasured_deinit) struct unmeasured_list list = {0};
    AUTO(record_sum_deinit) struct record_sum sum = {0};
    AUTO_STR struct str note = {0};
    unsigned left = 0;
    int event = place_of(events, "CPUTIME@");
    struct hq_error *error = record_sum(place, pid, WIFSIGNALED(status) ? WTERMSIG(status) : 0, &sum);

    if (!error)
        error = record_buffer_collect(place, &left);
    if (error) {
        tell_failure(place, error);
        return false;
    }
    tell_left(place, left);
    generated_keep(place->measurements, place->launch, place->rank);
    bool measured = sum.samples || sum.counted;

    if (place->rank > 0 && !sum.lost)
        return measured;
    error = unmeasured_read(place->measurements, &list);
    if (error)
        log_warn("%s", error->message);
    hq_error_free(error);
    tell_data(place, &sum, events, status,
              list.len || (event >= 0 && event < RECORD_EVENTS && time_elsewhere(&sum, event) >= 0.1), window);
    tell_told(&sum);
    tell_trap(&sum, status);
    tell_programs(&list, !measured);
    if (all && sum.files && !sum.lost)
        tell_missing_time(&sum, events);
    if (sum.clock[HQM_CLOCK_TIMER] || sum.timer_threads)
        record_note_tick(events, &note);
    if (note.len)
        fprintf(stderr, "hq: %s\n", str_cstr(&note));
    return measured;
}
