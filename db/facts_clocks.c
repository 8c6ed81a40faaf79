/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells how CPU time was measured, and how much of it there was. */
#include "db/facts.h"

#include "common/mem.h"
#include "common/str.h"
#include "db/cpu_clock.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Each `hq record` of a run, as of each rank, has noted that of its own command. */
void facts_add_cpu_time(struct model *m, const struct process *p, size_t count)
{
    double seconds = 0, loading = 0;
    char text[64];

    for (size_t i = 0; i < count; i++) {
        const struct hqm_header *h = &p[i].header;

        seconds += (double)h->command_cpu_ns / 1e9;
        loading += h->cpu_start_ns > h->cpu_image_ns ? (double)(h->cpu_start_ns - h->cpu_image_ns) / 1e9 : 0;
    }
    if (!(seconds > 0))
        return;
    snprintf(text, sizeof text, "%.3f s", seconds);
    model_info(m, FACT_CPU, text);
    if (loading < 0.01 * seconds)
        return;
    snprintf(text, sizeof text, "%.3f s", loading);
    model_info(m, FACT_CPU_LOADING, text);
}

static uint64_t cputime_period(const struct process *p)
{
    for (size_t i = 0; i < p->event_count; i++)
        if (p->events[i].name && !strcmp(p->events[i].name, "CPUTIME"))
            return p->events[i].period;
    return 0;
}

static void add_weight(struct model *m, double us)
{
    AUTO_STR struct str text = {0};

    str_addf(&text, "%.0f us", us);
    model_info(m, FACT_WEIGHT, str_cstr(&text));
}

void facts_add_clocks(struct model *m, const struct process *p, size_t count)
{
    uint64_t by_timer = 0, slowed = 0, period = 0;
    double weights = 0, squares = 0;
    bool differ = false;
    struct clock_use use = {0};
    AUTO_STR struct str clocks = {0};

    for (size_t i = 0; i < count; i++) {
        if (cputime_period(&p[i]))
            clock_use_add(&use, &p[i].header);
        differ |= period && cputime_period(&p[i]) && cputime_period(&p[i]) != period;
        period = cputime_period(&p[i]) ? cputime_period(&p[i]) : period;
        by_timer += p[i].header.timer_threads;
        slowed += p[i].header.slowed_threads;
        weights += (double)p[i].header.weights * (double)cputime_period(&p[i]);
        squares += (double)p[i].header.weight_squares * pow((double)cputime_period(&p[i]), 2);
    }
    clock_describe(&use, &clocks);
    if (clocks.len)
        model_info(m, "clock of CPUTIME", str_cstr(&clocks));
    if (by_timer)
        facts_add_number(m, "threads that had to take a timer for CPUTIME", by_timer);
    if (slowed)
        facts_add_number(m, "threads sampled less often, with more weight, since they change often", slowed);
    if ((slowed || differ) && weights > 0)
        add_weight(m, squares / weights * 1e-3);
}
