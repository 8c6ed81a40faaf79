/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes a sample. This file, and all that it calls, runs in a signal handler at any instruction of the program: no
 * locks, no malloc, and errno is not touched. What it calls is in (tests/e2e/handler.py keeps the list true)
 *
 *     handler.c walk/unwind.c walk/walk.c walk/exception.c arch/x86_64/assembly.c arch/x86_64/switch.c walk/recipe.c
 * walk/find.c walk/loose.c walk/modules.c walk/module_file.c libc.c walk/index_memory.c walk/stacks.c own_text.c
 * openmp/marks.c openmp/changes.c patch/slots.c patch/visits.c thread.c file/lane.c file/ring.c heap.c nest.c
 * file/file.c file/file_create.c file/image.c file/deliver.c options.c window.c counts.c file/cut.c sources/source.c
 * sources/perf.c unwind/cfi.c unwind/index.c unwind/expression.c unwind/arch/x86_64/follow.c
 *     unwind/arch/x86_64/machine.c
 *
 * and of the C library __getauxval, which reads what the kernel gave, clock_gettime (the vDSO), and _dl_find_object,
 * which is documented as safe. The rare system calls (more space for the file, the file of a process that was made past
 * the C library, a page of a coroutine's stack) are made directly.
 */
#include "preload/handler.h"

#include "preload/counts.h"
#include "preload/file/file.h"
#include "preload/hot.h"
#include "preload/walk/modules.h"
#include "preload/patch/visits.h"
#include "preload/sources/source.h"
#include "preload/thread.h"
#include "preload/window.h"

static COLD void count_partial(struct hqm_header *header, uint32_t reason)
{
    __atomic_fetch_add(&header->partial, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&header->partial_by_reason[reason], 1, __ATOMIC_RELAXED);
}

/* Elapsed time that does not fit into one record is in several, each at its own time. */
static COLD bool trace_long(struct lane *lane, uint32_t node, int event, uint64_t weight, uint64_t now)
{
    uint64_t period_us = self.idle.due_ns && self.idle.event == event ? options.period[event] / 1000 : 0;

    for (; weight > HQM_WEIGHT_MAX; weight -= HQM_WEIGHT_MAX)
        if (!lane_trace(lane, node, (uint32_t)event, HQM_WEIGHT_MAX, now - (weight - HQM_WEIGHT_MAX) * period_us))
            return false;
    return lane_trace(lane, node, (uint32_t)event, weight, now);
}

static inline bool trace(struct lane *lane, uint32_t node, int event, uint64_t weight, uint64_t now)
{
    return weight > HQM_WEIGHT_MAX ? trace_long(lane, node, event, weight, now)
                                   : lane_trace(lane, node, (uint32_t)event, weight, now);
}

static inline void note_weight(struct hqm_header *header, uint64_t weight)
{
    __atomic_fetch_add(&header->weights, weight, __ATOMIC_RELAXED);
    __atomic_fetch_add(&header->weight_squares, weight * weight, __ATOMIC_RELAXED);
}

/* Adds a sample to the profile and the trace. */
static HOT bool store(struct lane *lane, struct place place, int event, uint64_t weight, uint64_t now)
{
    struct hqm_header *header = file_header();
    struct hqm_cell *cell = lane_cell(lane, place, (uint32_t)event, self.number);

    if (!cell) {
        file_lost(HQM_LOSS_NO_SPACE, 1);
        return false;
    }
    cell->sum += weight * options.period[event];
    cell->count++;
    if (options.trace && !trace(lane, place.node, event, weight, now))
        file_lost(HQM_LOSS_TRACE, 1);
    if (counts_wanted(event))
        counts_at_sample(now);
    self.samples++;
    if (self.alone)
        header->samples++; /* an atomic addition would wait for all that was stored before */
    else
        __atomic_fetch_add(&header->samples, 1, __ATOMIC_RELAXED);
    if (event + 1 == options.weighed)
        note_weight(header, weight);
    header->end_us = now;
    self.stored = place;
    return true;
}

/* A sample that no walk comes before. */
static void read_and_store(struct lane *lane, struct place place, int event, uint64_t weight, uint64_t now)
{
    if (counts_wanted(event))
        counts_read();
    store(lane, place, event, weight, now);
}

/*
 * A walk that takes longer than from one sample to the next would leave the program no time at all: after one that is
 * not short, by frames and by words that were searched for one, it rests several times as long as that took. So long
 * (us) a walk that is not long takes only where another program had the processor.
 */
enum { SHORT_WALK = 64, LONG_WALK = 1024, REST = 4, HELD_UP = 1000 };

static COLD void rest(uint64_t walked, uint64_t began)
{
    uint64_t end = file_now_us(), took = end - began;

    self.rest_until = end + REST * (walked <= LONG_WALK && took > HELD_UP ? HELD_UP : took);
}

/* Is it too early after a walk that was not short? The sample then adds to the weight of the next. */
static bool postpone(int event, uint64_t *weight, uint64_t now)
{
    *weight += self.postponed[event];
    self.postponed[event] = now < self.rest_until ? *weight : 0;
    return now < self.rest_until;
}

/*
 * The collector's own work below a place of the program, as a frame in its own load module: it is no part of what the
 * place costs. The place itself where that cannot be had.
 */
static COLD struct place own_work(struct place place)
{
    uint32_t number = place.node != NO_NODE && self.lane ? modules_collector() : 0;

    if (!number)
        return place;
    uint32_t kind = (uint32_t)HQM_NODE_FRAME << HQM_MODULE_BITS | number;
    uint32_t path = lane_path(place.path, kind, 0), node = lane_child(self.lane, place.node, path, kind, 0);

    return node == NO_NODE ? place : (struct place){node, path};
}

/* Did the sample fire while a breakpoint was seen to? Then it comes at the instruction where the thread goes on. If
 * others come there too (it is where a call returns to, in a loop) that holds shortly after alone: a thread that lost
 * the processor meanwhile is not told from one that came round. */
static inline bool is_of_breakpoint(const ucontext_t *context, uint64_t now)
{
    enum { SOON = 200 };

    return arch_pc(context) == self.resumed.pc && arch_sp(context) == self.resumed.sp &&
           (self.resumed.in_slot || now - self.resumed.us < SOON);
}

static HOT void record(int event, uint64_t weight, const ucontext_t *context)
{
    struct hqm_header *header;
    uint64_t reg[CFI_REGISTERS], low, high, now, fired_before = 0;
    struct place place = {NO_NODE, 0};
    uint32_t partial = 0;
    struct lane *lane;

    if (self.lane)
        lane_prefetch(self.lane);
    header = file_ready() ? file_header() : NULL;
    now = file_now_us();
    if (!header || !window_is_open(now) || (self.rest_until && postpone(event, &weight, now)))
        return;
    __builtin_prefetch(&header->samples, 1);
    if (!self.lane) {
        thread_lane();
        now = file_now_us(); /* not before the record that names the thread */
    }
    lane = self.lane;
    if (lane) {
        uint64_t walked = lane->memo.frames_walked + lane->memo.words_searched;
        fired_before = self.late_ns / 1000 < now ? self.late_ns / 1000 : 0; /* a forked child has just made its file */
        if (counts_wanted(event))
            counts_read();
        unwind_registers(context, reg);
        visits_settle(reg[CFI_SP], now);
        thread_stack(reg[CFI_SP], &low, &high);
        place = unwind_interrupted(lane, reg, low, high, &partial);
        if (__builtin_expect(is_of_breakpoint(context, now), 0)) {
            self.resumed.pc = 0;
            place = own_work(place);
        }
        walked = lane->memo.frames_walked + lane->memo.words_searched - walked;
        if (__builtin_expect(walked > SHORT_WALK, 0))
            rest(walked, now);
    }
    if (place.node == NO_NODE)
        file_lost(HQM_LOSS_NO_SPACE, 1);
    else if (store(lane, place, event, weight, now - fired_before) && partial)
        count_partial(header, partial);
}

HOT void sample(int event, uint64_t weight, const ucontext_t *context)
{
    code_prefetch(hot_start, hot_end);
    self.stored.node = NO_NODE;
    if (guard_enter()) {
        record(event, weight, context);
        guard_leave();
    } else if (self.alive) {
        self.missed[event] += weight;
        self.missed_any = true;
    }
}

void sample_there(struct place place, int event, uint64_t weight, uint64_t until_ns)
{
    struct hqm_header *header = file_header();

    if (!header || !self.lane || !guard_enter()) {
        self.missed[event] += self.alive ? weight : 0;
        self.missed_any = self.alive;
        return;
    }
    uint64_t until = until_ns > header->start_monotonic_ns ? (until_ns - header->start_monotonic_ns) / 1000 : 0;
    read_and_store(self.lane, place, event, weight, until);
    header->end_us = file_now_us();
    guard_leave();
}

COLD struct place sample_place_between(const ucontext_t *context)
{
    struct place place = {NO_NODE, 0};
    uint64_t reg[CFI_REGISTERS], low, high;
    uint32_t partial, marked;

    if (!self.lane || !guard_enter())
        return place;
    unwind_registers(context, reg);
    thread_stack(reg[CFI_SP], &low, &high);
    marked = marks_lift();
    place = unwind_interrupted(self.lane, reg, low, high, &partial);
    marks_put_back(marked);
    guard_leave();
    return place;
}

void sample_missed(struct place place)
{
    uint64_t now = file_now_us();

    self.missed_any = false;
    place = own_work(place);
    for (int i = 0; i < options.events; i++) {
        uint64_t weight = __atomic_exchange_n(&self.missed[i], 0, __ATOMIC_RELAXED);
        if (!weight || !file_header() || !window_is_open(now))
            continue;
        if (place.node == NO_NODE || !self.lane)
            file_lost(HQM_LOSS_REENTRY, 1);
        else
            read_and_store(self.lane, place, i, weight, now);
    }
}

static struct place child_of(struct lane *lane, struct place parent, enum hqm_node_kind node_kind, uint64_t offset)
{
    uint32_t kind = (uint32_t)node_kind << HQM_MODULE_BITS, path = lane_path(parent.path, kind, offset);

    return (struct place){parent.node != NO_NODE ? lane_child(lane, parent.node, path, kind, offset) : NO_NODE, path};
}

bool sample_in_kernel(int event, uint64_t weight, uint64_t region)
{
    if (!guard_enter())
        return false;
    if (file_ready() && window_is_open(file_now_us())) {
        struct lane *lane = thread_lane();
        struct place place = lane ? unwind_base(lane) : (struct place){NO_NODE, 0};

        if (region)
            place = child_of(lane, place, HQM_NODE_INSIDE, region);
        place = child_of(lane, place, HQM_NODE_PARTIAL, HQM_PARTIAL_KERNEL);
        if (place.node == NO_NODE)
            file_lost(HQM_LOSS_NO_SPACE, weight);
        else
            read_and_store(lane, place, event, weight, file_now_us());
    }
    guard_leave();
    return true;
}
