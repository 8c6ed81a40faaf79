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

/* Files of minor versions before 2 were written when there were timers only. */
void clock_describe(const struct hqm_header *header, struct str *out)
{
    enum hqm_clock clock = header->minor < 2                ? HQM_CLOCK_TIMER
                           : header->cpu_clock < HQM_CLOCKS ? header->cpu_clock
                                                            : HQM_CLOCK_UNKNOWN;

    str_add(out, clocks[clock].manner);
    if (clock != HQM_CLOCK_TIMER && header->minor >= 2 && header->timer_threads)
        str_addf(out, "; in some threads %s", clocks[HQM_CLOCK_TIMER].manner);
    if (clock == HQM_CLOCK_TIMER && header->cpu_clock_error && header->minor >= 2)
        str_addf(out, " (%s)", reason((int)header->cpu_clock_error));
}
