/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled without vector registers (Makefile): these are still the program's here. So it calls nothing. */
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
    thread = reach_find((int)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0));
    return !thread || atomic_load_explicit(&thread->base, memory_order_acquire) != base;
}

static inline void *vectors(void)
{
    if (!visits.vectors) {
        long at = raw_syscall(SYS_mmap, 0, JUMP_VECTORS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        visits.vectors = at > 0 ? (void *)at : NULL;
    }
    return visits.vectors;
}

static inline void lose(enum hqm_loss reason)
{
    struct hqm_header *header = process_is_known() ? file_header() : NULL;

    if (header)
        __atomic_fetch_add(&header->loss[reason], 1, __ATOMIC_RELAXED);
}

void *jump_enter(const struct saved *s)
{
    bool enters = slot_of_call(s->back)->place->flags & HQP_ENTRY;

    if (!options.active || jump_over || raw_frozen || is_strange((uint64_t)s) || !self.alive)
        return NULL;
    if (!self.busy && vectors())
        return visits.vectors;
    if (enters)
        lose(self.busy ? HQM_LOSS_REENTRY : HQM_LOSS_NO_SPACE);
    return NULL;
}
