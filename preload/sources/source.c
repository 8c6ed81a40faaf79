/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/sources/source.h"

#include "preload/raw.h"

#include <string.h>

static const struct source *const table[] = {
    &source_cputime,
    &source_realtime,
#ifdef HQ_HAVE_PAPI
    &source_papi,       /* whatever the others are not */
#endif
};

static const struct source *of_event[EVENTS_MAX];

static const struct source *find(const char *name)
{
    for (const struct source *source = sources_exact; source < sources_exact_end; source++)
        if (strcmp(name, source->name) == 0)
            return source;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t length = strlen(table[i]->name);
        bool prefix = table[i]->name[length - 1] == '*';

        if (prefix ? strncmp(name, table[i]->name, length - 1) == 0 : strcmp(name, table[i]->name) == 0)
            return table[i];
    }
    return NULL;
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
            kept++;
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
