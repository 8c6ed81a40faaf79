/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/sources/exact.h"

#include "preload/export.h"
#include "preload/handler.h"
#include "preload/raw.h"
#include "preload/sources/source.h"
#include "preload/thread.h"
#include "preload/window.h"

#include <errno.h>
#include <string.h>

EXPORT int hq_exact_event(const char *name)
{
    if (!options.active)
        return EXACT_EARLY;
    for (int i = 0; i < options.events; i++)
        if (strcmp(options.name[i], name) == 0)
            return i;
    return -1;
}

/* The function itself, below its caller. */
static struct place enter_function(struct place caller, const void *function)
{
    struct code code;

    if (caller.node == NO_NODE || !modules_find((uint64_t)function, &code))
        return caller;
    uint32_t kind = (uint32_t)HQM_NODE_FRAME << HQM_MODULE_BITS | code.module, path;
    uint64_t offset = (uint64_t)function - modules_base(code.module);
    path = lane_path(caller.path, kind, offset);
    return (struct place){lane_child(self.lane, caller.node, path, kind, offset), path};
}

/* Other threads may take back from the sum meanwhile. */
static struct hqm_cell *add(struct place place, const struct exact_amount *amount)
{
    struct hqm_cell *cell = lane_cell(self.lane, place, (uint32_t)amount->event, self.number);

    if (cell) {
        __atomic_fetch_add(&cell->sum, amount->amount, __ATOMIC_RELAXED);
        cell->count += amount->count;
    }
    return cell;
}

EXPORT void hq_exact_add(const void *function, struct exact_amount *amounts, int count)
{
    int before = errno;

    if (!guard_enter())
        return;
    bool wanted = file_ready() && window_is_open(file_now_us());
    struct place place = {NO_NODE, 0};
    if (wanted)
        place = enter_function(thread_here(), function);
    for (int i = 0; i < count; i++)
        if (amounts[i].event >= 0 && place.node != NO_NODE)
            amounts[i].cell = add(place, &amounts[i]);
    if (wanted && place.node == NO_NODE)
        file_lost(HQM_LOSS_NO_SPACE, 1);
    guard_leave_at(place);
    errno = before;
}

EXPORT void hq_exact_take_back(struct hqm_cell *cell, uint64_t amount)
{
    __atomic_fetch_sub(&cell->sum, amount, __ATOMIC_RELAXED);
}

EXPORT int hq_exact_frozen(void)
{
    return raw_frozen;
}

EXPORT unsigned hq_exact_epoch(void)
{
    return process_epoch();
}
