/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/openmp/region.h"

#include "preload/hot.h"
#include "preload/walk/modules.h"
#include "preload/openmp/tasks.h"
#include "preload/raw.h"
#include "preload/start.h"
#include "preload/thread.h"
#include "preload/walk/vdso.h"
#include "preload/window.h"

#include <string.h>

static __thread uint32_t depth __attribute__((tls_model("initial-exec"))); /* regions that this thread has open */
__thread bool region_is_opening_ __attribute__((tls_model("initial-exec")));

static uint32_t locate(uint64_t address, uint64_t *offset)
{
    struct code code;

    if (!address || !modules_find(address, &code))
        return 0;
    *offset = address - modules_base(code.module);
    return code.module;
}

/* Returns what tells the regions of one call apart: the address of the body, or, since something was unloaded whose
 * place another library may have taken, its module and place there. */
static uint64_t name_of(const void *body)
{
    uint64_t offset;
    uint32_t module = modules_unloading.times ? locate((uint64_t)body, &offset) : 0;

    return module ? (uint64_t)module << 34 | offset : (uint64_t)body;
}

/* Returns the target of the call instruction before this address, by itself or by a word in memory (a jump table of the
 * linker's, or a pointer to a procedure); 0 if it is no such one. */
static uint64_t called_before(const uint8_t *address)
{
    uint64_t at;
    int32_t distance;

    if (!raw_readable((uint64_t)address - 6) || !raw_readable((uint64_t)address - 1))
        return 0;
    memcpy(&distance, address - 4, sizeof distance);
    at = (uint64_t)address + (uint64_t)(int64_t)distance;
    if (address[-5] == 0xe8)
        return at;
    if (address[-6] != 0xff || address[-5] != 0x15 || !raw_readable(at) || !raw_readable(at + 7))
        return 0;
    memcpy(&at, (const void *)at, sizeof at);
    return at;
}

static COLD void describe(struct hqm_region *record, const void *body, const void *call, uint32_t runtime)
{
    record->runtime = runtime;
    record->body_module = locate((uint64_t)body, &record->body);
    record->callee_module = locate(called_before(call), &record->callee);
}

static void find(struct region *r, struct place here, const void *body, const void *call, uint32_t runtime)
{
    struct lane *lane = self.lane;

    r->record = lane_region(lane, here, name_of(body), self.number);
    if (!r->record)
        return;
    if (!r->record->runtime)
        describe(r->record, body, call, runtime);
    r->id = (uint64_t)lane->number << 32 | r->record->node;
    r->turns = NULL;
    if (depth < LANE_REGIONS) {
        r->turns = &lane->opened[depth];
        r->value = ++lane->opened[depth].count;
    }
    depth++;
}

/* Returns the frame that called the runtime, from a walk that began deep inside of it. */
static struct place call_in_walk(struct region *r, struct place here, uint64_t call)
{
    const struct memo *memo = &self.lane->memo;

    for (uint32_t i = memo->depth; i-- > 0;)
        if (memo->frames[i].pc == call) {
            r->frame = memo->frames[i].sp - 8;
            return (struct place){memo->frames[i].node, memo->paths[i]};
        }
    return here;
}

static struct place opened_at(struct region *r, const void *call, uint32_t runtime)
{
    struct lane *lane = self.lane ? self.lane : thread_lane();
    struct place here = {NO_NODE, 0};
    uint64_t low, high;
    uint32_t partial;

    if (!lane)
        return here;
    if (r->frame) {
        thread_stack(r->frame, &low, &high);
        here = unwind_caller(lane, (const uint64_t *)r->frame, low, high, &partial);
    }
    if (here.node != NO_NODE)
        return here;
    if (hqm_seen_by(runtime) == HQM_RUNTIME_OMPT)
        r->frame = 0; /* it is the runtime's */
    here = thread_here();
    return r->frame || here.node == NO_NODE ? here : call_in_walk(r, here, (uint64_t)call);
}

static uint64_t trace_time(uint64_t ns)
{
    return (ns - file_header()->start_monotonic_ns) / 1000;
}

static void count_entry(struct region *r, struct place here)
{
    r->at = here;
    r->record->entries++;
    thread_mark(r->record->node, HQM_MARK_ENTER, trace_time(r->start_ns));
}

bool region_open(struct region *r, const void *body, const void *call, uint32_t runtime)
{
    struct place here;

    r->id = 0;
    if (!options.active)
        start_once(); /* a library's constructor opens it */
    thread_runs();
    if (!options.active || !guard_enter())
        return false;
    here = self.lane || file_ready() ? opened_at(r, call, runtime) : (struct place){NO_NODE, 0};
    if (here.node != NO_NODE)
        find(r, here, body, call, runtime);
    if (r->id) {
        r->home = &marks;
        r->epoch = process_epoch();
        r->start_ns = vdso_clock_ns(CLOCK_MONOTONIC);
        if (window_is_open(trace_time(r->start_ns)))
            count_entry(r, here);
        else
            r->record = NULL;
    }
    guard_leave_at(here);
    return r->id != 0;
}

uint64_t region_of_tasks(uint64_t frame, const void *call, const void *body)
{
    struct region r = {.frame = frame};
    struct hqm_region *record = NULL;
    struct place here;

    if (!options.active || !guard_enter())
        return 0;
    here = self.lane || file_ready() ? opened_at(&r, call, HQM_RUNTIME_TASK) : (struct place){NO_NODE, 0};
    if (here.node != NO_NODE && r.frame)
        record = lane_region(self.lane, here, name_of(body), self.number);
    if (record && !record->runtime) {
        record->runtime = HQM_RUNTIME_TASK;
        record->body_module = locate((uint64_t)body, &record->body);
    }
    guard_leave_at(here);
    return record ? (uint64_t)self.lane->number << 32 | record->node : 0;
}

/* The next opening of a region at that depth comes from this thread. */
static void tell_left(struct region *r, uint64_t now)
{
    if (!r->turns)
        return;
    __atomic_store_n(turns_left(r->turns, r->value), now, __ATOMIC_RELAXED);
    __atomic_store_n(&r->turns->count, r->value + 1, __ATOMIC_RELEASE);
}

void region_close(struct region *r)
{
    if (r->epoch != process_epoch() || !self.lane || !self.lane->number)
        return; /* this is another process now: it has nothing of the region */
    if (depth)
        depth--;
    if (!r->record) {
        tell_left(r, 0);
    } else {
        bool marked = options.trace && guard_enter(); /* before the clock is read: no sample of later comes before it */
        uint64_t now = vdso_clock_ns(CLOCK_MONOTONIC);

        tell_left(r, now);
        r->record->elapsed_ns += now - r->start_ns;
        r->record->left++;
        if (marked) {
            thread_mark(r->record->node, HQM_MARK_LEAVE, trace_time(now));
            guard_leave_at(r->at);
        }
    }
}

void regions_forget(void)
{
    depth = 0;
    marks.count = 0;
    marks.waiting = NULL;
    marks.changed = 0;
    tasks_forget();
}
