/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a thread, in thread-local storage of the initial-exec kind: reading it in a signal handler calls
 * nothing.
 *
 * The guard: `busy` is up while the collector works in a thread, so what the thread owns needs no lock against its own
 * handler. A sample that comes then is only remembered; the wrapper that put the guard up records it where it was
 * called from.
 */
#ifndef HQ_PRELOAD_THREAD_H
#define HQ_PRELOAD_THREAD_H

#include "preload/file/cut.h"
#include "preload/waits/idle.h"
#include "preload/file/lane.h"
#include "preload/options.h"
#include "preload/process.h"
#include "preload/walk/stacks.h"

#include <stdatomic.h>
#include <stdbool.h>

/*
 * A call that waits with a signal mask of its own, sigsuspend and its like. When our signal ends it the mask is what it
 * was before, and until the call is made again a signal that it blocks could be delivered: so meanwhile both masks
 * hold.
 */
struct wait {
    volatile bool masked;  /* it is under way, and blocks `blocked` */
    volatile bool widened; /* the mask is `before` and `blocked`, and has to become `before` */
    uint64_t blocked, before;
};

/* Where a breakpoint of ours has sent the thread on, and since when it was at it: what fired meanwhile is delivered
 * there, once the kernel has left the handler. */
struct resumed {
    uint64_t pc, sp, us;
    bool in_slot; /* where nobody comes but by a breakpoint */
};

/* A system call that our signal alone has ended early: with EINTR, or with a part of what it should move, so that its
 * wrapper goes on with the rest (waits/whole.h). A handler of the program ends that, SA_RESTART or not. */
enum { CALL_ENDED = 1, CALL_CUT = 2, CALL_GOES_ON = 4 };

struct thread {
    bool alive; /* measured: from its begin to thread_end */
    bool alone; /* no other thread is measured */
    volatile int busy;
    bool blocks_bus;            /* the program has blocked SIGBUS here, perhaps: file/cut.h */
    volatile bool opened;       /* we have unblocked it */
    bool clockless;             /* a look at a clock would end it: strict seccomp */
    volatile uint8_t call;      /* CALL_*: what has become of the system call that a wrapper makes */
    volatile uint32_t theirs;   /* handlers of the program that were entered (signals/entry.h) */
    volatile uint64_t repeated; /* where our signal has come to a system call that the kernel makes again; 0 nowhere */
    struct wait wait;
    struct idle idle;
    struct resumed resumed;
    struct place stored; /* where the last sample was; NO_NODE: it was not taken */
    uint32_t late_ns;    /* how long ago a sample fired that is about to be taken, where the clock tells; else 0 */
    uint32_t number, creator, creator_lane, creator_node;
    uint64_t start_us, samples;
    uint64_t stack_low, stack_high;
    uint32_t stack;              /* in walk/stacks.h */
    struct lane *lane;           /* from the first sample on */
    int timer[EVENTS_MAX];       /* kernel timer number + 1 */
    int64_t owed[EVENTS_MAX];    /* CPU time in no sample yet, less the reading of the clock: sources/timer.c */
    uint32_t extra[EVENTS_MAX];  /* periods that the next sample stands for beside its own */
    uint64_t missed[EVENTS_MAX]; /* weight of samples that came while the guard was up */
    volatile bool missed_any;
    uint64_t rest_until;            /* microseconds: a long walk was made, and no other is before; 0 never */
    uint64_t postponed[EVENTS_MAX]; /* weight of samples that came since */
};

extern __thread struct thread self __attribute__((tls_model("initial-exec")));

static inline bool guard_enter(void)
{
    if (!self.alive || self.busy || !(self.lane ? self.lane->number != 0 : process_is_known()))
        return false;
    self.busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(self.blocks_bus, 0))
        cut_open();
    return true;
}

static inline void guard_leave(void)
{
    if (__builtin_expect(self.opened, 0))
        cut_close(true);
    atomic_signal_fence(memory_order_seq_cst);
    self.busy = 0;
}

/* Where the thread stands in its tree: samples that came meanwhile are taken to be there. */
void guard_leave_at(struct place place);

/* The lane of this thread, taken if need be; NULL if there is no space. With the guard up. */
struct lane *thread_lane(void);

/* The initial thread, or the only one after a fork, begins. */
void thread_begin_first(void);

/* Where a thread is created: by whom, and the place in that thread's tree (0: not known). */
struct origin {
    uint32_t creator, lane, node;
};

/* A function of the C library is about to make one for a routine of the program's. True: the guard is up, for
 * guard_leave_at(*here). False: the thread is not to be measured. */
bool thread_creates(struct origin *origin, struct place *here);

/* The calling thread is one of these, and begins. */
void thread_begin(const struct origin *origin);

/* The C library sets up its handler of the reserved signal when it makes the first thread, and ours may not be able to
 * take its place then: so it is asked for a thread that cannot be had, of a stack larger than all memory. Not for
 * signal handlers. */
void thread_have_handlers_set_up(void);

/* Returns the calling context of a wrapper's caller as a place in this thread's tree; NO_NODE if it cannot be found.
 * Call it with the guard up. */
struct place thread_here(void);

/* Likewise of the function with this frame pointer (__builtin_frame_address(0)): the frames inside of it, which are
 * ours, need no walk. */
struct place thread_caller(const uint64_t *frame_pointer);

/* It goes on where a wait is over, if it was in one: what that had under REALTIME is counted (waits/idle.h). */
static inline void thread_runs(void)
{
    if (self.idle.rests)
        idle_end(true);
}

/* The part of the thread's own stack that can be read without asking, for a walk from stack pointer `sp`. */
static inline void thread_stack(uint64_t sp, uint64_t *low, uint64_t *high)
{
    *low = self.stack_low;
    *high = self.stack_high;
    if (stacks_doubted)
        stacks_restrict(self.stack, sp, low, high);
}

/* Notes in the trace, if there is one, that the thread enters or leaves (HQM_MARK_*) the region or phase of a node of
 * its lane. With the guard up. */
void thread_mark(uint32_t node, unsigned mark, uint64_t now_us);

/* Numbers given out so far. */
uint32_t thread_count(void);

#endif
