/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/patch/visits.h"

#include "preload/counts.h"
#include "preload/handler.h"
#include "preload/hot.h"
#include "preload/patch/jump.h"
#include "preload/patch/patch.h"
#include "preload/raw.h"
#include "preload/thread.h"
#include "preload/window.h"

#include <string.h>

__thread struct visits visits __attribute__((tls_model("initial-exec")));

static inline bool on_own_stack(uint64_t sp)
{
    return sp >= self.stack_low && sp < self.stack_high;
}

static HOT void end_visit(const struct visit *v, uint64_t now_us)
{
    if (!v->record)
        return;
    v->record->elapsed_ns += (now_us - v->start_us) * 1000;
    v->record->left++;
    thread_mark(v->record->node, HQM_MARK_LEAVE, now_us);
    counts_clock(now_us);
}

static HOT bool is_over(const struct visit *v, uint64_t below, uint64_t at)
{
    return v->sp == at || (v->sp < below && on_own_stack(v->sp));
}

static COLD void end_among_foreign(uint64_t below, uint64_t at, uint64_t now_us)
{
    uint32_t kept = 0;

    for (uint32_t i = visits.count; i-- > 0;) /* inner ones end first */
        if (is_over(&visits.open[i], below, at))
            end_visit(&visits.open[i], now_us);
    for (uint32_t i = 0; i < visits.count; i++) {
        const struct visit v = visits.open[i];

        if (!is_over(&v, below, at))
            visits.open[kept++] = v;
        else
            visits.foreign -= !on_own_stack(v.sp);
    }
    visits.count = kept;
}

/* Ends what lies below a place of the thread's own stack, and what is at one of any. On the own stack alone inner
 * visits lie below outer ones. */
static HOT void end_those(uint64_t below, uint64_t at, uint64_t now_us)
{
    if (visits.foreign) {
        end_among_foreign(below, at, now_us);
        return;
    }
    while (visits.count && is_over(&visits.open[visits.count - 1], below, at))
        end_visit(&visits.open[--visits.count], now_us);
}

HOT void visits_settle_at(uint64_t sp, uint64_t now_us)
{
    if (on_own_stack(sp))
        end_those(sp, 0, now_us);
}

static COLD bool make_room(void)
{
    enum { FIRST = 170 }; /* a page of them */
    uint32_t room = visits.places ? visits.places * 2 : FIRST;
    struct visit *more = room <= VISITS_MAX ? raw_memory(room * sizeof *more) : NULL;

    if (!more)
        return false;
    if (visits.open) {
        memcpy(more, visits.open, visits.count * sizeof *more);
        raw_munmap(visits.open, visits.places * sizeof *more);
    }
    visits.open = more;
    visits.places = room;
    return true;
}

/* Where the procedure has been called, as a place in the thread's tree: at its first instruction. */
static HOT struct place place_of(const uint64_t reg[CFI_REGISTERS])
{
    uint64_t low, high;
    uint32_t partial;

    thread_stack(reg[CFI_SP], &low, &high);
    return unwind(self.lane, reg, low, high, &partial);
}

static HOT void begin_visit(uint64_t sp, struct place here, uint64_t entry)
{
    struct hqm_region *record = here.node == NO_NODE ? NULL : lane_region(self.lane, here, entry, self.number);

    if ((visits.count == visits.places && !make_room()) || !record) {
        file_lost(HQM_LOSS_NO_SPACE, 1);
        return;
    }
    record->runtime = HQM_RUNTIME_PROCEDURE;
    record->entries++;
    uint64_t now = file_now_us();
    visits.open[visits.count++] = (struct visit){sp, record, now};
    visits.foreign += !on_own_stack(sp);
    thread_mark(record->node, HQM_MARK_ENTER, now);
    counts_clock(now);
}

static HOT struct place enter(const uint64_t reg[CFI_REGISTERS])
{
    uint64_t sp = reg[CFI_SP], now = file_now_us();
    struct place here = {NO_NODE, 0};

    end_those(on_own_stack(sp) ? sp : 0, sp, now);
    if (!window_is_open(now) || !thread_lane())
        return here;
    here = place_of(reg);
    begin_visit(sp, here, reg[CFI_PC]);
    return here;
}

static HOT void leave(uint64_t sp)
{
    if (visits.count)
        end_those(on_own_stack(sp) ? sp : 0, sp, file_now_us());
}

/* An exception is being handled by whoever has called this. */
static COLD void land(uint64_t sp)
{
    if (visits.count)
        visits_settle_at(sp + 8, file_now_us());
}

/* longjmp: where it goes stands in its argument, of which glibc keeps the stack pointer as its pointer guard has it
 * (sysdeps/x86_64/jmpbuf-offsets.h). What is no place further out is none of ours. */
static COLD void jump(const uint64_t reg[CFI_REGISTERS])
{
    enum { ARGUMENT = 5, STACK_POINTER = 6 };
    uint64_t sp = reg[CFI_SP], to, guard;

    if (!visits.count)
        return;
    to = ((const uint64_t *)reg[ARGUMENT])[STACK_POINTER];
    __asm__("movq %%fs:0x30, %0" : "=r"(guard));
    to = (to >> 17 | to << 47) ^ guard;
    if (to > sp && to < self.stack_high && on_own_stack(sp))
        visits_settle_at(to, file_now_us());
}

HOT void visits_count(const struct hqp_place *p, const uint64_t reg[CFI_REGISTERS], bool leaves)
{
    struct place here = {NO_NODE, 0};

    if (p->flags & HQP_LANDING)
        land(reg[CFI_SP]);
    if (p->flags & HQP_JUMPING)
        jump(reg);
    if (file_ready() && p->flags & HQP_ENTRY)
        here = enter(reg);
    if (leaves)
        leave(reg[CFI_SP]);
    if (__builtin_expect(!self.missed_any, 1) || !self.lane)
        return;
    sample_missed(here.node == NO_NODE ? place_of(reg) : here);
}

static HOT void count(const struct patch *patch, const ucontext_t *context)
{
    const struct hqp_place *p = patch->place;
    uint64_t reg[CFI_REGISTERS];

    if (!guard_enter()) {
        if (self.busy && process_is_known() && p->flags & HQP_ENTRY)
            file_lost(HQM_LOSS_REENTRY, 1);
        return;
    }
    arch_registers(context, reg);
    reg[CFI_PC] = patch->address;
    visits_count(p, reg, patch_leaves(patch, context));
    guard_leave();
}

HOT bool patch_trap(const siginfo_t *info, ucontext_t *context, bool strange)
{
    greg_t *reg = context->uc_mcontext.gregs;
    const struct patch *patch = info->si_code == SI_KERNEL ? patch_find((uint64_t)reg[REG_RIP] - 1) : NULL;
    bool measured = !strange && options.active && self.alive;
    uint64_t now = patch && measured ? file_now_us() : 0;

    if (!patch)
        return false;
    if (patch_is_loader(patch))
        patch_loader_changed();
    else if (measured)
        count(patch, context);
    patch_go_on(patch, context);
    if (measured)
        self.resumed = (struct resumed){(uint64_t)reg[REG_RIP], (uint64_t)reg[REG_RSP], now,
                                        (uint64_t)reg[REG_RIP] == patch->slot};
    return true;
}

void visits_forget(void)
{
    if (visits.open)
        raw_munmap(visits.open, visits.places * sizeof *visits.open);
    if (visits.room)
        raw_munmap(visits.room, JUMP_ROOM);
    visits = (struct visits){0};
}
