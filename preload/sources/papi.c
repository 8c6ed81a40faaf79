/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of the processor, through PAPI: presets and native events by name, each sampled when it has overflowed its
 * threshold. All that are asked for share one event set per thread. The library is opened only when such an event is
 * asked for, after the program has started; PAPI chooses its signal, which is then kept from the program like our own.
 */
#include "preload/handler.h"
#include "preload/waits/interruption.h"
#include "preload/libc.h"
#include "preload/process.h"
#include "preload/signals/signals.h"
#include "preload/sources/source.h"
#include "preload/thread.h"

#include <dlfcn.h>
#include <papi.h>
#include <pthread.h>
#include <string.h>

static struct {
    void *handle; /* of dlopen */
    unsigned epoch;
    int code[EVENTS_MAX];
    bool wanted[EVENTS_MAX], last_failed;
    __typeof__(&PAPI_library_init) library_init;
    __typeof__(&PAPI_thread_init) thread_init;
    __typeof__(&PAPI_shutdown) shutdown;
    __typeof__(&PAPI_event_name_to_code) event_name_to_code;
    __typeof__(&PAPI_create_eventset) create_eventset;
    __typeof__(&PAPI_add_event) add_event;
    __typeof__(&PAPI_overflow) overflow;
    __typeof__(&PAPI_get_overflow_event_index) get_overflow_event_index;
    __typeof__(&PAPI_start) start;
    __typeof__(&PAPI_stop) stop;
    __typeof__(&PAPI_read) read;
    __typeof__(&PAPI_cleanup_eventset) cleanup_eventset;
    __typeof__(&PAPI_destroy_eventset) destroy_eventset;
    __typeof__(&PAPI_unregister_thread) unregister_thread;
    __typeof__(&PAPI_strerror) strerror;
} papi;

/* The thread's event set, and which of our events stands at which place of it. Thread-local, so that the handler finds
 * it. */
static __thread struct {
    int set; /* + 1; 0 none */
    int places;
    int event[EVENTS_MAX];
} counting __attribute__((tls_model("initial-exec")));

#define FIND(name) ((papi.name = (__typeof__(papi.name))libc_symbol(papi.handle, "PAPI_" #name)) != NULL)

static bool open_library(void)
{
    static const char *const names[] = {"libpapi.so.7.0", "libpapi.so.6.0", "libpapi.so.7.1", "libpapi.so"};

    for (size_t i = 0; i < sizeof names / sizeof *names && !papi.handle; i++)
        papi.handle = libc_open(names[i], RTLD_NOW);
    return papi.handle && FIND(library_init) && FIND(thread_init) && FIND(shutdown) && FIND(event_name_to_code) &&
           FIND(create_eventset) && FIND(add_event) && FIND(overflow) && FIND(get_overflow_event_index) &&
           FIND(start) && FIND(stop) && FIND(read) && FIND(cleanup_eventset) && FIND(destroy_eventset) &&
           FIND(unregister_thread) && FIND(strerror);
}

static unsigned long thread_number(void)
{
    return (unsigned long)&self; /* gcc 10 does not give the thread pointer of x86-64 */
}

static bool start_library(void)
{
    papi.epoch = process_epoch();
    return papi.library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT && papi.thread_init(thread_number) == PAPI_OK;
}

static bool complain(const char *event, const char *why)
{
    say("event ", event, " is not measured: ", why, NULL);
    return false;
}

static bool prepare(int event)
{
    int error;

    if (!papi.handle && (!open_library() || !start_library()))
        return complain(options.name[event], "PAPI cannot be used");
    error = papi.event_name_to_code((char *)options.name[event], &papi.code[event]);
    if (error != PAPI_OK)
        return complain(options.name[event], papi.strerror(error));
    papi.wanted[event] = true;
    signal_interrupts();
    return true;
}

/* Runs in PAPI's signal handler, with the context of what was interrupted. */
static void on_overflow(int set, void *address, long long which, void *context)
{
    int places[EVENTS_MAX], count = EVENTS_MAX;

    (void)address;
    if (papi.get_overflow_event_index(set, which, places, &count) != PAPI_OK)
        return;
    for (int i = 0; i < count; i++)
        if (places[i] >= 0 && places[i] < counting.places)
            sample(counting.event[places[i]], 1, context);
    interruption_note(context);
}

static void add_events(int set)
{
    counting.places = 0;
    for (int i = 0; i < options.events; i++) {
        if (!papi.wanted[i])
            continue;
        int error = papi.add_event(set, papi.code[i]);
        if (error == PAPI_OK)
            error = papi.overflow(set, papi.code[i], (int)options.period[i], 0, on_overflow);
        if (error == PAPI_OK)
            counting.event[counting.places++] = i;
        else if (!papi.last_failed)
            papi.last_failed = !complain(options.name[i], papi.strerror(error));
    }
}

/* The first of our events starts the thread's set for all of them. */
static bool start(int event)
{
    int set = PAPI_NULL, error;

    (void)event;
    if (counting.set)
        return true;
    if (papi.epoch != process_epoch()) {
        papi.shutdown();
        if (!start_library())
            return false;
    }
    signal_adopt(true);
    error = papi.create_eventset(&set);
    if (error == PAPI_OK) {
        add_events(set);
        error = counting.places ? papi.start(set) : PAPI_ENOEVNT;
    }
    signal_adopt(false);
    signal_unblock();
    if (error != PAPI_OK) {
        if (counting.places && !papi.last_failed)
            papi.last_failed = !complain(options.name[counting.event[0]], papi.strerror(error));
        return false;
    }
    counting.set = set + 1;
    return true;
}

static void stop(int event)
{
    int set = counting.set - 1;
    long long values[EVENTS_MAX];

    (void)event;
    if (!counting.set)
        return;
    counting.set = 0;
    signal_adopt(true);
    papi.stop(set, values);
    papi.cleanup_eventset(set);
    papi.destroy_eventset(&set);
    papi.unregister_thread();
    signal_adopt(false);
}

/* PAPI reads a set that runs without taking a lock. */
static void read_counts(uint64_t *values)
{
    long long counts[EVENTS_MAX];

    if (!counting.set || papi.read(counting.set - 1, counts) != PAPI_OK)
        return;
    for (int i = 0; i < counting.places; i++)
        values[counting.event[i]] = (uint64_t)counts[i];
}

/* In a forked child the set is the parent's. */
static void forget(void)
{
    counting.set = counting.places = 0;
}

const struct source source_papi = {
    .description = "event of the processor",
    .dimension = HQM_DIM_EVENTS,
    .flags = HQM_EVENT_SAMPLED | HQM_EVENT_COUNTED,
    .scale = 1,
    .prepare = prepare,
    .start = start,
    .stop = stop,
    .forget = forget,
    .read = read_counts,
};
