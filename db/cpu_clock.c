/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/cpu_clock.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *name, *manner;
} clocks[] = {
    [HQM_CLOCK_UNKNOWN] = {"an unknown clock", ""},
    [HQM_CLOCK_TIMER] = {"timers",
                         "timers, which fire at the kernel's tick: what waits for a tick, or is woken near one, "
                         "is counted too often, and what gives way there too seldom"},
    [HQM_CLOCK_PERF] = {"the software clock", "the kernel's software clock"},
    [HQM_CLOCK_PERF_USER] = {"the software clock in user mode",
                             "the kernel's software clock in user mode; what is spent in the kernel has no place"},
};

const char *clock_name(enum hqm_clock clock)
{
    return clocks[clock < HQM_CLOCKS ? clock : HQM_CLOCK_UNKNOWN].name;
}

static const char *reason(int error)
{
    switch (error) {
    case EACCES:
    case EPERM: return "a better clock is not permitted: it takes kernel.perf_event_paranoid <= 1 or CAP_PERFMON";
    case EBUSY: return "a debugger takes a better clock's signal for its own";
    case EOPNOTSUPP: return "a better clock takes Linux 6.11, and no program in Go";
    default: return strerror(error);
    }
}

static void add_reason(struct clock_use *use, int error)
{
    for (unsigned i = 0; i < use->reason_count; i++)
        if (use->reasons[i] == error || !strcmp(reason(use->reasons[i]), reason(error)))
            return;
    if (use->reason_count < CLOCK_REASONS)
        use->reasons[use->reason_count++] = error;
}

/* Files of minor versions before 2 were written when there were timers only. */
void clock_use_add(struct clock_use *use, const struct hqm_header *header)
{
    enum hqm_clock clock = header->minor < 2                ? HQM_CLOCK_TIMER
                           : header->cpu_clock < HQM_CLOCKS ? header->cpu_clock
                                                            : HQM_CLOCK_UNKNOWN;

    use->used[clock] = true;
    if (header->minor < 2)
        return;
    if (clock != HQM_CLOCK_TIMER && header->timer_threads)
        use->timer_threads = true;
    if (clock == HQM_CLOCK_TIMER && header->cpu_clock_error)
        add_reason(use, (int)header->cpu_clock_error);
}

void clock_describe(const struct clock_use *use, struct str *out)
{
    static const enum hqm_clock best_first[] = {HQM_CLOCK_PERF, HQM_CLOCK_PERF_USER, HQM_CLOCK_TIMER};

    for (unsigned i = 0; i < sizeof best_first / sizeof *best_first; i++) {
        bool processes = use->used[best_first[i]];
        bool threads = best_first[i] == HQM_CLOCK_TIMER && use->timer_threads;

        if (!processes && !threads)
            continue;
        if (out->len)
            str_addf(out, "; in some %s ", !processes ? "threads" : threads ? "processes and threads" : "processes");
        str_add(out, clocks[best_first[i]].manner);
    }
    for (unsigned i = 0; i < use->reason_count; i++)
        str_addf(out, "%s%s", i ? "; elsewhere " : " (", reason(use->reasons[i]));
    if (use->reason_count)
        str_add(out, ")");
}
