/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/signals/entry.h"

#include "preload/signals/altstack.h"
#include "preload/file/cut.h"
#include "preload/waits/interruption.h"
#include "preload/raw.h"
#include "preload/reach.h"
#include "preload/thread.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

/* KIND entries of each kind for any signals, and behind them TURNS for each signal and kind. */
enum { RESTARTS = 1, ON_STACK = 2, KINDS = 4, KIND = 128, SIGNALS = 64, TURNS = 2, SHARED = KINDS * KIND };
static_assert(SHARED + SIGNALS * TURNS * KINDS == ENTRIES, "the processor's file has as many");
enum { NO_HANDLER = 4096 }; /* SIG_DFL and its like are small numbers */

static _Atomic(sighandler_t) behind[ENTRIES];
static atomic_bool stays;

extern const char section_start[] __asm__("__start_hq_entry") __attribute__((visibility("hidden")));
extern const char section_end[] __asm__("__stop_hq_entry") __attribute__((visibility("hidden")));

static inline __attribute__((always_inline)) bool within(uint64_t address, uint64_t start, uint64_t bytes)
{
    return address - start < bytes;
}

ENTRY bool entry_is_at(uint64_t pc)
{
    return within(pc, (uint64_t)section_start, (uint64_t)(section_end - section_start));
}

ENTRY bool entry_stays(void)
{
    return atomic_load_explicit(&stays, memory_order_relaxed);
}

/* From the kernel's alternate stack, which is ours, to the program's, or, where it has none, to where it is. What was
 * interrupted may stand on the program's already. What has no room there stays, and so does a handler that was called
 * while another one was about to be moved. */
static ENTRY void move(struct entered *e, bool on_stack)
{
    if (on_stack && entry_stays())
        return;

    uint64_t frame = (uint64_t)e->frame, sp = arch_sp(e->context);
    uint64_t low = (uint64_t)altstack.asked.ss_sp, bytes = altstack.asked.ss_size, ours = (uint64_t)altstack.memory;
    bool none = !on_stack || altstack.asked.ss_flags & SS_DISABLE;
    uint64_t end = ours + ALTSTACK_BYTES, to = none || within(sp, low, bytes) ? sp - ARCH_RED_ZONE : low + bytes;

    if (!ours || !altstack.replaced || !within(frame, ours, ALTSTACK_BYTES) || within(sp, ours, ALTSTACK_BYTES))
        return;
    uint64_t distance = (to - end) & ~63ull; /* the registers of the processor are saved at multiples of 64 */
    if (!none && !within(frame + distance, low, bytes))
        return;
    __builtin_memcpy((void *)(frame + distance), e->frame, end - frame);
    e->frame += distance;
    e->context = (ucontext_t *)((char *)e->context + distance);
    e->info = (siginfo_t *)((char *)e->info + distance);
    entry_moved(e, distance);
}

static ENTRY void note(struct entered *e, unsigned kind)
{
    uint64_t pc = arch_pc(e->context);

    self.theirs++;
    if (self.wait.widened && !entry_is_at(pc)) {
        __builtin_memcpy(&e->context->uc_sigmask, &self.wait.before, sizeof self.wait.before);
        self.wait.widened = false;
    }
    self.wait.masked = false;
    if (self.call & CALL_GOES_ON || (!(kind & RESTARTS) && self.repeated == pc))
        interruption_end_repetition(e->context);
    self.call &= ~CALL_GOES_ON; /* it may never come back to the call */
    bool inside = self.idle.inside;
    self.idle.inside = false; /* likewise */
    if (self.idle.rests)
        idle_end(!inside);
    if (kind & ON_STACK)
        move(e, true);
}

static ENTRY void only_return(int number)
{
    (void)number;
}

/*
 * Called by the entries, in the program's signal handler: the handler to jump to. A second handler may be entered at
 * any instruction of this; what it was called from is then not the program, so it leaves the mask to the first. That is
 * why this is in the section of the entries, and calls nothing outside before the mask is right.
 */
ENTRY __attribute__((used, noinline)) sighandler_t entry_note(struct entered *e)
{
    if (e->number == SIGBUS && cut_takes(e->info, e->context))
        return only_return;
    struct reach outside = reach_enter_any();

    if (!outside.strange)
        note(e, (unsigned)(e->entry < SHARED ? e->entry / KIND : e->entry % KINDS));
    reach_leave(&outside);
    return atomic_load_explicit(&behind[e->entry], memory_order_acquire);
}

void entry_hand_over(int number, siginfo_t *info, void *context, const struct sigaction *action, uint64_t never_masked)
{
    struct entered e = {.context = context, .info = info, .number = (uint64_t)number};
    unsigned restarts = action->sa_flags & SA_RESTART ? RESTARTS : 0;
    uint64_t mask, asked;

    entry_begin(&e);
    struct reach outside = reach_enter_any();
    if (!outside.strange) {
        note(&e, restarts);
        move(&e, action->sa_flags & SA_ONSTACK);
    }
    reach_leave(&outside);
    __builtin_memcpy(&mask, &e.context->uc_sigmask, sizeof mask);
    __builtin_memcpy(&asked, &action->sa_mask, sizeof asked);
    mask |= asked | (action->sa_flags & SA_NODEFER ? 0 : 1ull << (number - 1));
    mask &= ~never_masked;
    sighandler_t handler = action->sa_handler;
    raw_sigmask(SIG_SETMASK, &mask, NULL);
    entry_go(&e, handler);
}

void entry_stay(void)
{
    atomic_store(&stays, true);
}

static bool is_handler(sighandler_t handler)
{
    return (uint64_t)handler >= NO_HANDLER && handler != SIG_ERR;
}

static bool is_fault(int number)
{
    return number >= 1 && number <= SIGSEGV && ENTRY_FAULTS >> (number - 1) & 1;
}

static sighandler_t address_of(unsigned entry)
{
    return (sighandler_t)(uintptr_t)(entry_first + (uint64_t)entry * ENTRY_BYTES);
}

/* ENTRIES: it is none. */
static unsigned number_of(sighandler_t address)
{
    uint64_t distance = (uint64_t)address - (uint64_t)entry_first;

    return distance < (uint64_t)ENTRIES * ENTRY_BYTES && distance % ENTRY_BYTES == 0 ? distance / ENTRY_BYTES : ENTRIES;
}

/* Of the entries that this signal has for itself the one that the kernel has not now, unless it is right already. */
static sighandler_t in_turn(int number, unsigned kind, sighandler_t handler)
{
    struct raw_action now = {0};

    if (number < 1 || number > SIGNALS)
        return handler;
    unsigned entry = SHARED + (unsigned)(number - 1) * TURNS * KINDS + kind;
    raw_sigaction(number, NULL, &now);
    unsigned has = number_of((sighandler_t)now.handler);
    if (has == entry && atomic_load(&behind[entry]) != handler)
        entry += KINDS;
    else if (has == entry + KINDS && atomic_load(&behind[has]) == handler)
        entry = has;
    atomic_store_explicit(&behind[entry], handler, memory_order_release);
    return address_of(entry);
}

sighandler_t entry_of(int number, sighandler_t handler, int flags)
{
    unsigned kind = (flags & SA_RESTART ? RESTARTS : 0) | (flags & SA_ONSTACK ? ON_STACK : 0), first = kind * KIND;

    if (is_handler(handler) && !is_fault(number))
        options.handles = true;
    if (!is_handler(handler) || !(interruption_possible || number == SIGBUS || kind & ON_STACK))
        return handler;
    for (unsigned i = first; i < first + KIND; i++) {
        sighandler_t here = NULL;
        if (atomic_compare_exchange_strong(&behind[i], &here, handler) || here == handler)
            return address_of(i);
    }
    return in_turn(number, kind, handler);
}

sighandler_t entry_behind(sighandler_t address)
{
    unsigned entry = number_of(address);

    return entry == ENTRIES ? address : atomic_load_explicit(&behind[entry], memory_order_acquire);
}
