/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/sources/device.h"

#include "preload/file/beside.h"
#include "preload/export.h"
#include "preload/handler.h"
#include "preload/file/names.h"
#include "preload/sources/device_trace.h"
#include "preload/sources/entries.h"
#include "preload/thread.h"
#include "preload/window.h"

#include <errno.h>

static struct names names;

/* Frames of the function's module are the insides of what the program has called. */
static struct place outside_of(struct place here, uint32_t module)
{
    const struct memo *memo = &self.lane->memo;
    struct code code;

    for (uint32_t i = memo->depth; i-- > 0;) {
        if (!modules_find(memo->frames[i].pc, &code))
            return (struct place){memo->frames[i].node, memo->paths[i]};
        if (code.module != module && !modules_is_own(code.module))
            return (struct place){memo->frames[i].node, memo->paths[i]};
    }
    return here;
}

static struct place child(struct place above, uint32_t kind, uint64_t offset)
{
    uint32_t path = lane_path(above.path, kind, offset);

    return (struct place){lane_child(self.lane, above.node, path, kind, offset), path};
}

static struct place look_for_entry(struct place here, const void *function)
{
    struct code code;

    if (!modules_find((uint64_t)function, &code))
        return here;
    here = outside_of(here, code.module);
    if (here.node == NO_NODE)
        return here;
    return child(here, (uint32_t)HQM_NODE_FRAME << HQM_MODULE_BITS | code.module,
                 (uint64_t)function - modules_base(code.module));
}

static struct place entry_of(const void *function)
{
    struct place here = thread_here();
    struct entry *entry;

    if (here.node == NO_NODE || entry_find(self.lane, here.node, function, &entry))
        return here.node == NO_NODE ? here : entry->place;
    struct place place = look_for_entry(here, function);

    if (place.node != NO_NODE)
        entry_keep(self.lane, here.node, function, place, entry);
    return place;
}

static void find(const void *function, uint64_t command, struct device_call *call)
{
    struct place here = entry_of(function), place;

    if (here.node == NO_NODE)
        return file_lost(HQM_LOSS_NO_SPACE, 1);
    *call = (struct device_call){.lane = self.lane->number,
                                 .entry_node = here.node,
                                 .entry_path = here.path,
                                 .thread = self.number,
                                 .epoch = process_epoch()};
    if (!command)
        return;
    place = child(here, (uint32_t)HQM_NODE_DEVICE << HQM_MODULE_BITS, command);
    call->node = place.node == NO_NODE ? 0 : place.node;
}

EXPORT bool hq_device_here(const void *function, uint64_t command, struct device_call *call)
{
    int before = errno;

    *call = (struct device_call){0};
    if (!options.active || !guard_enter())
        return false;
    if (file_ready() && window_is_open_now())
        find(function, command, call);
    guard_leave_at((struct place){call->lane ? call->entry_node : NO_NODE, call->entry_path});
    errno = before;
    return call->lane && (call->node || !command);
}

/* A text of the file, 0: none. */
static uint32_t text_of(const char *text, const char *otherwise)
{
    uint32_t string = 0;
    int before = errno;

    if (!options.active || !guard_enter())
        return 0;
    if (file_ready())
        string = names_string(&names, text);
    if (!string && otherwise && file_ready())
        string = names_string(&names, otherwise);
    guard_leave();
    errno = before;
    return string;
}

EXPORT uint32_t hq_device_program(const char *name)
{
    return text_of(name, NULL);
}

EXPORT uint64_t hq_device_command(const char *name, uint32_t program)
{
    uint32_t string = text_of(name, "[other commands]");

    return string ? (uint64_t)program << 32 | string : 0;
}

EXPORT void hq_device_source(const char *name, const char *text, size_t bytes)
{
    int before = errno;

    if (options.active && file_ready())
        beside_keep(name, text, bytes);
    errno = before;
}

EXPORT void hq_device_spent(const struct device_call *call, int event, uint64_t ns)
{
    struct place place = {call->entry_node, call->entry_path};
    struct hqm_cell *cell;
    int before = errno;

    if (event < 0 || !call->lane || call->epoch != process_epoch() || !guard_enter())
        return;
    cell = self.lane && self.lane->number == call->lane ? lane_cell(self.lane, place, (uint32_t)event, self.number)
                                                        : NULL;
    if (cell) {
        cell->sum += ns;
        cell->count++;
    }
    guard_leave_at(place);
    errno = before;
}

EXPORT void hq_device_host(uint32_t number, uint64_t from_ns, uint64_t to_ns)
{
    int before = errno;

    if (!options.active || !guard_enter())
        return;
    if (file_ready() && self.lane && window_is_open_now())
        device_trace_host(&(struct hqm_host){self.number, number, from_ns, to_ns});
    guard_leave();
    errno = before;
}

EXPORT void hq_device_begun(const struct device_call *call)
{
    if (call->epoch == process_epoch())
        file_lost(HQM_LOSS_COMMANDS, 1);
}

EXPORT void hq_device_failed(const struct device_call *call)
{
    if (call->epoch != process_epoch())
        return;
    file_lost(HQM_LOSS_COMMANDS, UINT64_MAX);
    file_lost(HQM_LOSS_FAILED, 1);
}

EXPORT void hq_device_ended(const struct device_call *call, struct hqm_command *record)
{
    if (call->epoch != process_epoch() || !file_header())
        return;
    record->lane = call->lane;
    record->node = call->node;
    record->thread = call->thread;
    if (device_trace_command(record)) /* else it stays lost */
        file_lost(HQM_LOSS_COMMANDS, UINT64_MAX);
}

EXPORT uint32_t hq_device_queue(const char *device, struct hqm_queue queue)
{
    struct hqm_queue *to = NULL;
    struct claim claim;
    int before = errno;

    if (!options.active || !guard_enter())
        return 0;
    queue.device = file_ready() ? names_string(&names, device) : 0;
    queue.start_us = file_now_us();
    to = queue.device ? file_claim(HQM_QUEUES, 1, &claim) : NULL;
    if (to) {
        *to = queue;
        file_publish(&claim);
    }
    guard_leave();
    errno = before;
    return to ? claim_number(&claim) + 1 : 0;
}

EXPORT void hq_device_clock(uint32_t queue, uint64_t before_ns, uint64_t after_ns, uint64_t device_ns)
{
    struct hqm_pair *to = NULL;
    struct claim claim;
    int before = errno;

    if (!options.active || !guard_enter())
        return;
    if (file_ready())
        to = file_claim(HQM_PAIRS, 1, &claim);
    if (to) {
        *to = (struct hqm_pair){.queue = queue, .before_ns = before_ns, .after_ns = after_ns, .device_ns = device_ns};
        file_publish(&claim);
    }
    guard_leave();
    errno = before;
}

void device_forget(void)
{
    names_forget(&names);
    device_trace_forget();
}
