/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/phases.h"

#include "preload/counts.h"
#include "preload/export.h"
#include "preload/file/names.h"
#include "preload/openmp/marks.h"
#include "preload/thread.h"
#include "preload/window.h"

#include <string.h>

void hq_collector_phase_begin(const char *name);
void hq_collector_phase_end(void);

struct phase {
    uint64_t id;               /* lane << 32 | node; 0: it is not measured */
    struct hqm_region *record; /* NULL: not counted */
    struct place at;           /* of the call that began it */
    uint64_t start_us;
};

static __thread uint32_t depth __attribute__((tls_model("initial-exec")));
static __thread uint64_t measured __attribute__((tls_model("initial-exec"))); /* a bit for each depth */

_Static_assert(sizeof(struct phase) * PHASES_NESTED <= sizeof(((struct lane_room *)0)->phases) && PHASES_NESTED == 64,
               "the phases of a thread have room in its lane");

/* Returns a phase of the calling thread by its nesting; only while the thread has a lane. */
static struct phase *nested(uint32_t at)
{
    return (struct phase *)self.lane->room->phases + at;
}

/* Each name is once in the file, so that a call path that begins a phase has one node for it. */
static struct names names;

/* The present innermost one: other paths hold from now on, on all of the stack. */
static void set_phase(uint64_t id)
{
    marks_changed(MARK_BASE);
    atomic_signal_fence(memory_order_seq_cst);
    marks.phase = id;
    atomic_signal_fence(memory_order_seq_cst);
    marks_changed(MARK_BASE);
}

/* With the guard up. */
static void open_phase(struct phase *p, struct place here, const char *name)
{
    uint32_t string = names_string(&names, name);
    struct hqm_region *record = string ? lane_region(self.lane, here, string, self.number) : NULL;

    if (!record)
        return;
    record->runtime = HQM_RUNTIME_PHASE;
    record->body = string;
    p->id = (uint64_t)self.lane->number << 32 | record->node;
    p->at = here;
    p->start_us = file_now_us();
    if (!window_is_open(p->start_us))
        return;
    p->record = record;
    record->entries++;
    thread_mark(record->node, HQM_MARK_ENTER, p->start_us);
    counts_clock(p->start_us);
}

EXPORT void hq_collector_phase_begin(const char *name)
{
    struct phase phase = {0};
    struct place here = {NO_NODE, 0};
    uint32_t at = depth++;

    if (at >= PHASES_NESTED)
        return;
    measured &= ~(1ull << at);
    if (!options.active || !name || !guard_enter())
        return;
    if (file_ready())
        here = thread_here();
    if (here.node != NO_NODE)
        open_phase(&phase, here, *name ? name : "(no name)");
    if (phase.id) {
        *nested(at) = phase;
        measured |= 1ull << at;
        set_phase(phase.id);
    }
    guard_leave_at(here);
}

static void close_phase(const struct phase *p)
{
    uint64_t now = file_now_us();

    p->record->elapsed_ns += (now - p->start_us) * 1000;
    p->record->left++;
    thread_mark(p->record->node, HQM_MARK_LEAVE, now);
    counts_clock(now);
}

/* The innermost phase that is measured around the present one. */
static uint64_t outer(void)
{
    uint32_t i = depth < PHASES_NESTED ? depth : PHASES_NESTED;

    while (i && !(measured >> (i - 1) & 1))
        i--;
    return i && self.lane ? nested(i - 1)->id : 0;
}

EXPORT void hq_collector_phase_end(void)
{
    struct place at;

    if (!depth || --depth >= PHASES_NESTED || !(measured >> depth & 1))
        return;
    if (self.lane && guard_enter()) {
        at = nested(depth)->at;
        if (nested(depth)->record)
            close_phase(nested(depth));
        set_phase(outer());
        guard_leave_at(at);
    } else {
        set_phase(outer());
    }
}

void phases_forget(void)
{
    measured = 0;
    names_forget(&names);
    marks.phase = 0;
}
