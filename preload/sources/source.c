/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/sources/source.h"

#include "preload/raw.h"

#include <string.h>

/* Metrics of exact events need nothing started: the wrappers of preload/exact/ add to them. */
static const struct {
    const char *name;
    const struct source *source;
} table[] = {
#define CLOCK(event, ...) {#event, &source_##event},
#define METRIC(event, metric, dim, unit, text) \
    {#metric, &(const struct source){.description = text, .dimension = dim, .flags = HQM_EVENT_EXACT, .scale = unit}},
#define COUNTED_METRIC(event, metric, dim, unit, text) \
    {#metric, \
     &(const struct source){ \
         .description = text, .dimension = dim, .flags = HQM_EVENT_EXACT | HQM_EVENT_COUNTED, .scale = unit}},
#define DEVICE_METRIC(event, metric, dim, unit, text) \
    {#metric, &(const struct source){ \
                  .description = text, .dimension = dim, .flags = HQM_EVENT_EXACT | HQM_EVENT_DEVICE, .scale = unit}},
#include "format/events.def"
};

static const struct source *of_event[EVENTS_MAX];
static const struct source *reading; /* the one whose events are read; NULL: none is there */

static const struct source *find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(name, table[i].name))
            return table[i].source;
#ifdef HQ_HAVE_PAPI
    return &source_papi; /* it says what it does not know, either */
#else
    return NULL;
#endif
}

/* Tells other parts what there is. Without a trace nothing is counted in one. */
static void note_event(int event, const struct source *source)
{
    bool is_clock = source->flags & HQM_EVENT_SAMPLED && source->dimension == HQM_DIM_SECONDS;

    if (!options.trace)
        return;
    options.timed |= (uint32_t)is_clock << event;
    if (source->flags & HQM_EVENT_COUNTED && is_clock)
        options.clock = event + 1;
    else if (source->flags & HQM_EVENT_COUNTED)
        options.counted |= 1u << event;
    if (source->read)
        reading = source;
}

bool sources_prepare(void)
{
    int kept = 0;

    for (int i = 0; i < options.events; i++) {
        const struct source *source = find(options.name[i]);

        if (!source) {
            say("there is no event ", options.name[i], "; `hq record --list` shows what there is", NULL);
            continue;
        }
        memmove(options.name[kept], options.name[i], sizeof options.name[0]);
        options.period[kept] = options.period[i];
        of_event[kept] = source;
        if (!source->prepare || source->prepare(kept))
            note_event(kept++, source);
    }
    options.events = kept;
    return kept > 0;
}

const struct source *sources_of_event(int event)
{
    return of_event[event];
}

void sources_start(void)
{
    for (int i = 0; i < options.events && !raw_frozen; i++)
        if (of_event[i]->start)
            of_event[i]->start(i);
}

void sources_stop(void)
{
    for (int i = 0; i < options.events; i++)
        if (of_event[i]->stop)
            of_event[i]->stop(i);
}

void sources_forget(void)
{
    for (int i = 0; i < options.events; i++)
        if (of_event[i]->forget)
            of_event[i]->forget();
}

void sources_read(uint64_t *values)
{
    if (reading)
        reading->read(values);
}
