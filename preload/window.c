/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/window.h"

#include "preload/export.h"
#include "preload/file/file.h"
#include "preload/hot.h"
#include "preload/options.h"
#include "preload/walk/vdso.h"

#include <stdatomic.h>

void hq_collector_start(void);
void hq_collector_stop(void);

HOT bool window_is_within(uint64_t now_us)
{
    uint64_t now = file_header()->start_realtime_ns / 1000 + now_us;
    return now >= options.from_us && (!options.until_us || now < options.until_us);
}

bool window_is_open_now(void)
{
    return window_is_open(options.from_us || options.until_us ? file_now_us() : 0);
}

/* By hq_stop: how long before it was opened last, and since when it is closed; 0: it is open, or was never. */
static _Atomic uint64_t closed_before, closed_since;

static uint64_t until_ns(const struct hqm_header *header)
{
    return options.until_us * 1000 - header->start_realtime_ns + header->start_monotonic_ns;
}

uint64_t window_closed_ns(uint64_t now_ns)
{
    uint64_t since = atomic_load(&options.stopped) ? atomic_load(&closed_since) : 0, all = atomic_load(&closed_before);
    const struct hqm_header *header = file_header();

    if (options.until_us && header && (!since || until_ns(header) < since))
        since = until_ns(header);
    return all + (since && now_ns > since ? now_ns - since : 0);
}

void window_note(struct hqm_header *header)
{
    uint64_t since = atomic_load(&options.stopped) ? atomic_load(&closed_since) : 0;

    if (options.until_us && (!since || until_ns(header) < since))
        since = until_ns(header);
    header->closed_us = atomic_load(&closed_before) / 1000;
    header->closed_since_us = since > header->start_monotonic_ns ? (since - header->start_monotonic_ns) / 1000 : 0;
}

EXPORT void hq_collector_start(void)
{
    if (!atomic_exchange(&options.stopped, false))
        return;
    uint64_t since = atomic_exchange(&closed_since, 0), now = vdso_clock_ns(CLOCK_MONOTONIC);

    if (since && now > since)
        atomic_fetch_add(&closed_before, now - since);
    if (file_header())
        window_note(file_header());
}

EXPORT void hq_collector_stop(void)
{
    if (atomic_exchange(&options.stopped, true))
        return;
    atomic_store(&closed_since, vdso_clock_ns(CLOCK_MONOTONIC));
    if (file_header())
        window_note(file_header());
}
