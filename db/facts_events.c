/* SPDX-License-Identifier: BSD-3-Clause */
/* Names what the processes of a run have measured, and in how many of them. */
#include "db/facts.h"

#include "common/mem.h"
#include "common/str.h"
#include "common/vec.h"
#include "format/measurement.h"
#include <stdlib.h>
#include <string.h>

static void event_text(const struct process_event *e, struct str *out)
{
    static const char *const units[] = {
        [HQM_DIM_SECONDS] = "s", [HQM_DIM_EVENTS] = "events", [HQM_DIM_BYTES] = "bytes"};

    str_add(out, e->name);
    if (e->period && e->dimension == HQM_DIM_SECONDS && e->scale > 0)
        str_addf(out, " (every %.6g ms)", (double)e->period * e->scale * 1e3);
    else if (e->period)
        str_addf(out, " (every %.6g %s)", (double)e->period * e->scale, e->dimension ? units[e->dimension] : "");
}

struct event_use {
    char *text;
    size_t count; /* of processes */
};

struct event_uses {
    VEC(struct event_use) all;
};

/* Takes the text over. */
static void use_event(struct event_uses *u, char *text)
{
    vec_foreach(old, &u->all)
        if (!strcmp(old->text, text)) {
            old->count++;
            free(text);
            return;
        }
    vec_push(&u->all, (struct event_use){text, 1});
}

static void use_events(struct event_uses *texts, struct event_uses *names, const struct process *p)
{
    for (size_t i = 0; i < p->event_count; i++) {
        AUTO_STR struct str text = {0};

        if (!p->events[i].name)
            continue;
        event_text(&p->events[i], &text);
        use_event(texts, str_steal(&text));
        use_event(names, xstrdup(p->events[i].name));
    }
}

static void end_uses(struct event_uses *u)
{
    vec_foreach(use, &u->all)
        free(use->text);
    vec_deinit(&u->all);
}

/* Processes that were started one by one, or recordings that were put together, may have measured different things. */
void facts_add_events(struct model *m, const struct process *p, size_t count, const struct process *first)
{
    struct event_uses texts = {0}, names = {0};
    AUTO_STR struct str all = {0}, some = {0};

    use_events(&texts, &names, first);
    for (size_t i = 0; i < count; i++)
        if (&p[i] != first)
            use_events(&texts, &names, &p[i]);
    vec_foreach(use, &texts.all) {
        str_addf(&all, "%s%s", all.len ? ", " : "", use->text);
        if (use->count < count)
            str_addf(&all, " in %zu of %zu processes", use->count, count);
    }
    vec_foreach(use, &names.all)
        if (use->count < count)
            str_addf(&some, "%s%s: %zu of %zu", some.len ? ", " : "", use->text, use->count, count);
    if (all.len)
        model_info(m, "events", str_cstr(&all));
    if (some.len)
        model_info(m, FACT_PARTLY, str_cstr(&some));
    end_uses(&texts);
    end_uses(&names);
}
