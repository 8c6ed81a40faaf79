/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/window.h"

#include "preload/export.h"
#include "preload/file.h"
#include "preload/hot.h"
#include "preload/options.h"

#include <stdatomic.h>

void hq_collector_start(void);
void hq_collector_stop(void);

HOT bool window_is_open(uint64_t now_us)
{
    if (atomic_load_explicit(&options.stopped, memory_order_relaxed))
        return false;
    if (!options.from_us && !options.until_us)
        return true;
    uint64_t now = file_header()->start_realtime_ns / 1000 + now_us;
    return now >= options.from_us && (!options.until_us || now < options.until_us);
}

EXPORT void hq_collector_start(void)
{
    atomic_store(&options.stopped, false);
}

EXPORT void hq_collector_stop(void)
{
    atomic_store(&options.stopped, true);
}
