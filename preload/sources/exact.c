/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/sources/exact.h"

#include "preload/counts.h"
#include "preload/export.h"
#include "preload/handler.h"
#include "preload/hot.h"
#include "preload/file/image.h"
#include "preload/raw.h"
#include "preload/sources/entries.h"
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
        if (!strcmp(options.name[i], name))
            return i;
    return -1;
}

static COLD struct place new_entry(struct place caller, const void *function, struct entry **entry)
{
    struct entry *kept = *entry;
    struct code code;

    *entry = NULL;
    if (!modules_find((uint64_t)function, &code))
        return caller;
    uint32_t kind = (uint32_t)HQM_NODE_FRAME << HQM_MODULE_BITS | code.module, path;
    uint64_t offset = (uint64_t)function - modules_base(code.module);
    path = lane_path(caller.path, kind, offset);
    struct place place = {lane_child(self.lane, caller.node, path, kind, offset), path};
    if (place.node != NO_NODE) {
        entry_keep(self.lane, caller.node, function, place, kept);
        *entry = kept;
    }
    return place;
}

/* The function itself, below its caller; `entry`: where that is kept, NULL if it is not. */
static inline struct place enter_function(struct place caller, const void *function, struct entry **entry)
{
    *entry = NULL;
    if (caller.node == NO_NODE)
        return caller;
    return entry_find(self.lane, caller.node, function, entry) ? (*entry)->place : new_entry(caller, function, entry);
}

/* The cell of the amount with this number of a call. */
static inline struct hqm_cell *cell_of(struct place place, int event, struct entry *entry, int number)
{
    struct hqm_cell *cell = entry && number < ENTRY_CELLS ? entry->cells[number] : NULL;

    if (cell && cell->event == (uint32_t)event && cell->thread == self.number)
        return cell;
    cell = lane_cell(self.lane, place, (uint32_t)event, self.number);
    if (entry && number < ENTRY_CELLS)
        entry->cells[number] = cell;
    return cell;
}

/* Other threads may take back from a shared sum meanwhile. */
static inline void add(struct hqm_cell *cell, const struct exact_amount *amount)
{
    if (amount->shared)
        __atomic_fetch_add(&cell->sum, amount->amount, __ATOMIC_RELAXED);
    else
        cell->sum += amount->amount;
    cell->count += amount->count;
    counts_add(amount->event, amount->amount);
}

static void add_message(struct place place, const struct exact_message *m)
{
    struct hqm_message *record = lane_message(self.lane, place, m->peer, m->group, self.number);

    if (!record)
        return;
    record->count += m->count;
    record->bytes += m->bytes;
    record->time_ns += m->time_ns;
    record->received += m->received;
    record->received_bytes += m->received_bytes;
}

/* `frame`: frame pointer of the wrapper, or NULL. */
static inline __attribute__((always_inline)) void call(const uint64_t *frame, const void *function,
                                                       struct exact_amount *amounts, int count,
                                                       const struct exact_message *messages, int message_count)
{
    int before = errno;
    struct entry *entry = NULL;

    if (!guard_enter())
        return;
    bool wanted = file_ready() && window_is_open_now();
    struct place place = {NO_NODE, 0};
    if (wanted)
        place = enter_function(frame ? thread_caller(frame) : thread_here(), function, &entry);
    for (int i = 0; i < count; i++)
        if (amounts[i].event >= 0 && place.node != NO_NODE &&
            (amounts[i].cell = cell_of(place, amounts[i].event, entry, i)))
            add(amounts[i].cell, &amounts[i]);
    for (int i = 0; i < message_count && place.node != NO_NODE; i++)
        add_message(place, &messages[i]);
    if (wanted && place.node == NO_NODE)
        file_lost(HQM_LOSS_NO_SPACE, 1);
    guard_leave_at(place);
    errno = before;
}

EXPORT void hq_exact_call(const void *function, struct exact_amount *amounts, int count,
                          const struct exact_message *messages, int message_count)
{
    call(NULL, function, amounts, count, messages, message_count);
}

EXPORT void hq_exact_add_from(const void *frame, const void *function, struct exact_amount *amounts, int count)
{
    call(frame, function, amounts, count, NULL, 0);
}

static void begin(const void *function, struct exact_visit *v, struct place here)
{
    struct hqm_region *record = lane_region(self.lane, here, (uint64_t)function, self.number);

    if (!record)
        return;
    record->runtime = HQM_RUNTIME_PROCEDURE;
    record->entries++;
    *v = (struct exact_visit){record, file_now_us(), here.node, here.path, process_epoch()};
    thread_mark(record->node, HQM_MARK_ENTER, v->start_us);
}

EXPORT void hq_exact_enter(const void *function, struct exact_visit *visit)
{
    struct place here = {NO_NODE, 0};
    struct entry *entry;
    int before = errno;

    *visit = (struct exact_visit){0};
    if (!options.trace || !guard_enter())
        return;
    if (file_ready() && window_is_open_now())
        here = enter_function(thread_here(), function, &entry);
    if (here.node != NO_NODE)
        begin(function, visit, here);
    guard_leave_at(here);
    errno = before;
}

EXPORT void hq_exact_leave(struct exact_visit *visit)
{
    int before = errno;
    uint64_t now;

    if (!visit->record || visit->epoch != process_epoch() || !guard_enter())
        return;
    now = file_now_us();
    visit->record->elapsed_ns += (now - visit->start_us) * 1000;
    visit->record->left++;
    thread_mark(visit->record->node, HQM_MARK_LEAVE, now);
    visit->record = NULL;
    guard_leave_at((struct place){visit->node, visit->path});
    errno = before;
}

EXPORT void hq_exact_add(const void *function, struct exact_amount *amounts, int count)
{
    hq_exact_call(function, amounts, count, NULL, 0);
}

EXPORT uint32_t hq_exact_text(const char *text)
{
    uint32_t offset = 0;

    if (!guard_enter())
        return 0;
    if (file_ready())
        offset = file_string(text);
    guard_leave();
    return offset;
}

EXPORT void hq_exact_rank(int rank)
{
    if (options.rank >= 0 || !guard_enter())
        return;
    options.rank = rank; /* children have it, too */
    if (file_ready())
        file_header()->rank = rank;
    guard_leave();
}

EXPORT void hq_exact_warn(const char *text)
{
    if (!guard_enter())
        return;
    if (file_ready())
        image_warn_at_end(text);
    guard_leave();
}

EXPORT void hq_exact_take_back(struct hqm_cell *cell, uint64_t amount)
{
    bool opened = self.blocks_bus && cut_open();

    __atomic_fetch_sub(&cell->sum, amount, __ATOMIC_RELAXED);
    cut_close(opened);
}

EXPORT int hq_exact_frozen(void)
{
    return raw_frozen;
}

EXPORT unsigned hq_exact_epoch(void)
{
    return process_epoch();
}
