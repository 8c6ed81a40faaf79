/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled without vector registers (Makefile): these are still the program's here. So it calls nothing but what is
 * inlined. */
#include "preload/signals/entry.h"
#include "preload/patch/jump.h"
#include "preload/patch/slots.h"
#include "preload/patch/visits.h"
#include "preload/reach.h"
#include "preload/thread.h"

/* A thread that has made another one's storage its own is on another stack than that one's. */
static inline bool is_strange(uint64_t sp)
{
    const struct reach_thread *thread;
    uint64_t base;

    if (!options.gives_base)
        return false;
    base = arch_base();
    if (!reach_has_base(base))
        return true;
    if (sp >= self.stack_low && sp < self.stack_high)
        return false;
    thread = reach_find(raw_gettid());
    return !thread || atomic_load_explicit(&thread->base, memory_order_acquire) != base;
}

static inline bool has_room(void)
{
    if (!visits.room)
        visits.room = raw_memory(JUMP_ROOM);
    return visits.room != NULL;
}

static inline void lose(enum hqm_loss reason)
{
    struct hqm_header *header = process_is_known() ? file_header() : NULL;

    if (header)
        __atomic_fetch_add(&header->loss[reason], 1, __ATOMIC_RELAXED);
}

/* A handler of the program that came while the guard is up might visit what is marked, too, or jump away. Signals of
 * ours and faults do not wait. */
static inline void hold_signals(void)
{
    uint64_t held = ~(jump_signals | ENTRY_FAULTS | 1 << (SIGTRAP - 1)), before;

    raw_sigmask(SIG_BLOCK, &held, &before);
    visits.mask = before;
    visits.held = true;
}

static inline void let_signals(void)
{
    uint64_t before = visits.mask;

    visits.held = false;
    raw_sigmask(SIG_SETMASK, &before, NULL);
}

void *jump_enter(const struct saved *s)
{
    bool enters = slot_of_call(s->back)->place->flags & HQP_ENTRY;

    if (!options.active || jump_over || raw_frozen || is_strange((uint64_t)s) || !self.alive ||
        !(self.lane ? self.lane->number != 0 : process_is_known()))
        return NULL;
    if (self.busy || !has_room()) {
        if (enters)
            lose(self.busy ? HQM_LOSS_REENTRY : HQM_LOSS_NO_SPACE);
        return NULL;
    }
    if (options.handles)
        hold_signals();
    self.busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    return (char *)visits.room + JUMP_ROOM - JUMP_VECTORS;
}

void jump_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    self.busy = 0;
    if (visits.held)
        let_signals();
}
