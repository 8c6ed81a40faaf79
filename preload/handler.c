/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens at a sample. This file, and all that it calls (unwind, recipe, cfi, expression, modules_find, lane, file,
 * heap), runs in a signal handler at any instruction of the program: no locks, no malloc, no libc beyond memcpy, strlen
 * and their like, clock_gettime (the vDSO) and _dl_find_object, which the C library documents as safe. The rare system
 * calls (more space for the file, a page of a coroutine's stack) are made directly. errno is not touched.
 */
#include "preload/handler.h"

#include "preload/file.h"
#include "preload/sources/source.h"
#include "preload/thread.h"

static void count_partial(struct hqm_header *header, uint32_t reason)
{
    __atomic_fetch_add(&header->partial, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&header->partial_by_reason[reason], 1, __ATOMIC_RELAXED);
}

static void record(int event, uint64_t weight, const ucontext_t *context)
{
    struct lane *lane = thread_lane();
    struct hqm_header *header = file_header();
    uint64_t reg[CFI_REGISTERS], now = file_now_us();
    uint32_t partial, node = NO_NODE;

    if (!header)
        return;
    if (lane) {
        unwind_registers(context, reg);
        node = unwind(lane, reg, self.stack_low, self.stack_high, &partial);
    }
    if (node == NO_NODE || !lane_add(lane, node, (uint32_t)event, self.number, weight * options.event[event].period, 1)) {
        file_lost(HQM_LOSS_NO_SPACE, 1);
        return;
    }
    if (options.trace && !lane_trace(lane, node, (uint32_t)event, weight, now))
        file_lost(HQM_LOSS_TRACE, 1);
    if (lane->thread)
        lane->thread->samples++;
    __atomic_fetch_add(&header->samples, 1, __ATOMIC_RELAXED);
    if (partial)
        count_partial(header, partial);
    header->end_us = now;
}

void sample(int event, uint64_t weight, const ucontext_t *context)
{
    if (guard_enter()) {
        record(event, weight, context);
        guard_leave();
    } else if (self.alive) {
        file_lost(HQM_LOSS_REENTRY, 1);
    }
}
