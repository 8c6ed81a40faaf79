/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of `hq record -e`: what they are called, what their rates mean, which of them there are. */
#include "repl/record/record.h"
#include "common/str.h"

#include "common/suggest.h"
#include "common/units.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_PERIOD_NS = 5000000, DEFAULT_THRESHOLD = 1000000 };

static const struct {
    const char *name;
    bool exact;
    const char *help;
} events[] = {
#define CLOCK(event, text) {#event, false, text},
#define EXACT(event, text) {#event, true, text},
#include "format/events.def"
};
enum { EVENTS = sizeof events / sizeof *events };

/* An exact event stands for several metrics. */
static const struct {
    const char *event, *name;
} metrics[] = {
#define METRIC(of_event, metric, ...) {#of_event, #metric},
#include "format/events.def"
};
enum { METRICS = sizeof metrics / sizeof *metrics };

static void add(struct str *list, const char *name, size_t length, uint64_t period)
{
    str_add(list, list->len ? "," : "");
    str_addn(list, name, length);
    str_addf(list, "@%llu", (unsigned long long)period);
}

static bool is_listed(const struct str *list, const char *name, size_t length)
{
    for (const char *at = str_cstr(list); *at; at += strcspn(at, ","), at += *at == ',')
        if (!strncasecmp(at, name, length) && at[length] == '@')
            return true;
    return false;
}

/* Two clocks of one name would be one metric, with the sum of both. */
static struct hq_error *asked_twice(const char *name, size_t length)
{
    return hq_error_new(HQ_USAGE, "%.*s is asked for twice: give it one -e", (int)length, name);
}

static struct hq_error *add_known(int i, const char *text, const char *rate, struct str *list)
{
    uint64_t period = DEFAULT_PERIOD_NS;

    if (events[i].exact && rate)
        return hq_error_new(HQ_USAGE, "%s: %s counts everything and takes no rate", text, events[i].name);
    if (rate)
        HQ_TRY(hq_error_prefix(units_parse_period(rate, &period), "%s", text));
    if (period < HQM_SHORTEST_PERIOD)
        return hq_error_new(HQ_USAGE,
                            "%s: clocks of more than %d/s can take a processor all its time; ask for fewer samples",
                            text, 1000000000 / HQM_SHORTEST_PERIOD);
    if (!events[i].exact) {
        if (is_listed(list, events[i].name, strlen(events[i].name)))
            return asked_twice(events[i].name, strlen(events[i].name));
        add(list, events[i].name, strlen(events[i].name), period);
    }
    for (int k = 0; k < METRICS; k++) {
        if (strcmp(metrics[k].event, events[i].name))
            continue;
        if (is_listed(list, metrics[k].name, strlen(metrics[k].name)))
            return asked_twice(events[i].name, strlen(events[i].name));
        add(list, metrics[k].name, strlen(metrics[k].name), 0);
    }
    return NULL;
}

/* Events as people call them, and their names here. */
static const struct {
    const char *words, *here;
} elsewhere[] = {
    {" wall walltime wallclock wall-clock real elapsed itimer ", "REALTIME"},
    {" cpu cpu-clock task-clock time user ", "CPUTIME"},
    {" cycles cpu-cycles ", "PAPI_TOT_CYC"},
    {" instructions ", "PAPI_TOT_INS"},
    {" cache-misses ", "PAPI_L3_TCM"},
    {" mem memory heap malloc ", "ALLOC"},
    {" mutex locks lock-contention contention futex ", "LOCK"},
    {" file files disk ", "IO"},
    {" cuda opencl device devices ", "GPU"},
    {" page-faults faults ", "perf::PAGE-FAULTS@10"},
    {" context-switches cs ", "perf::CONTEXT-SWITCHES@2"},
};

/* NULL: nobody calls an event so. */
static const char *here_called(const char *name)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (suggest_lists(elsewhere[i].words, name))
            return elsewhere[i].here;
    return NULL;
}

/* Tells what to write for an event that there is not; false: nothing better than the list is known. */
static bool tell_elsewhere(const char *name, struct str *out)
{
    struct suggest near;

    if (strchr(name, ',')) {
        str_add(out, "each event has an -e of its own, as in");
        for (const char *s = name; *s; s += strcspn(s, ",") + (s[strcspn(s, ",")] == ','))
            str_addf(out, " -e %.*s", (int)strcspn(s, ","), s);
        return true;
    }
    const char *here = here_called(name);

    if (here) {
        str_addf(out, "here it is called %s", here);
        return true;
    }
    suggest_init(&near, name, 1);
    for (int i = 0; i < EVENTS; i++)
        suggest_add(&near, events[i].name);
    if (near.count)
        str_addf(out, "did you mean %s?", near.best[0]);
    return near.count;
}

/* Anything else is an event of the processor, by its PAPI name: a preset, or a native event. */
static struct hq_error *add_counter(const char *text, size_t length, const char *rate, struct str *list)
{
    AUTO_STR struct str name = {0}, why = {0}, here = {0};
    uint64_t threshold = DEFAULT_THRESHOLD;

    str_addn(&name, text, length);
    if (rate)
        HQ_TRY(hq_error_prefix(units_parse_count(rate, &threshold), "%s", text));
    /* The page in which glibc 2.41 keeps random numbers is gone again after each signal: the program would not get on.
     */
    if (threshold == 1 && strcasestr(str_cstr(&name), "FAULTS"))
        return hq_error_new(HQ_USAGE,
                            "%s: a signal at every page fault may keep a program from ever getting on; take every "
                            "second: %s@2",
                            text, str_cstr(&name));
    record_counter_problem(str_cstr(&name), &why);
    const char *counter = why.len ? here_called(str_cstr(&name)) : NULL;

    if (counter && str_begins(counter, "PAPI_")) {
        str_clear(&why);
        record_counter_problem(counter, &why);
        if (why.len)
            return hq_error_new(HQ_USAGE, "%s (%s) cannot be measured here: %s; `hq record --list` shows what can",
                                str_cstr(&name), counter, str_cstr(&why));
        str_clear(&name);
        str_add(&name, counter);
    }
    if (why.len && tell_elsewhere(str_cstr(&name), &here))
        return hq_error_new(HQ_USAGE, "%s is no event: %s", str_cstr(&name), str_cstr(&here));
    if (why.len)
        return hq_error_new(HQ_USAGE, "%s cannot be measured: %s; `hq record --list` shows what can", str_cstr(&name),
                            str_cstr(&why));
    if (is_listed(list, str_cstr(&name), name.len))
        return asked_twice(str_cstr(&name), name.len);
    add(list, str_cstr(&name), name.len, threshold);
    return NULL;
}

struct hq_error *record_add_event(const char *text, struct str *list)
{
    size_t length = strcspn(text, "@");
    const char *rate = text[length] ? text + length + 1 : NULL;

    if (!length || length >= 64)
        return hq_error_new(HQ_USAGE, "`%s` names no event; write for example CPUTIME@200/s", text);
    for (int i = 0; i < EVENTS; i++)
        if (strlen(events[i].name) == length && !strncasecmp(text, events[i].name, length))
            return add_known(i, text, rate, list);
    return add_counter(text, length, rate, list);
}

void record_note_tick(const char *list, struct str *note)
{
    const char *event = strstr(list, "CPUTIME@");
    double period = event ? strtod(event + strlen("CPUTIME@"), NULL) : 0;
    struct timespec tick;

    if (!event || clock_getres(CLOCK_REALTIME_COARSE, &tick) != 0)
        return;
    double tick_ns = (double)tick.tv_sec * 1e9 + (double)tick.tv_nsec;
    if (period > 0 && period < tick_ns)
        str_addf(note, "CPUTIME: asked for %.0f/s, at most %.0f/s arrive; samples carry weights, so times are right",
                 1e9 / period, 1e9 / tick_ns);
}

struct record_libraries record_libraries(const char *list)
{
    struct record_libraries needed = {0};

    for (int k = 0; k < METRICS; k++) {
        const char *event = metrics[k].event;

        if (strstr(list, metrics[k].name))
            *(!strcmp(event, "MPI") ? &needed.mpi : !strcmp(event, "GPU") ? &needed.gpu : &needed.exact) = true;
    }
    return needed;
}

void record_list_events(struct str *out)
{
    for (int i = 0; i < EVENTS; i++) {
        str_pad(out, events[i].name, 12);
        str_addf(out, "%s\n", events[i].help);
    }
    record_list_counters(out);
    record_list_devices(out);
}
