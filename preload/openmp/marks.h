/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks of what a thread works on, as places of its stack: below a mark it runs inside of a parallel region, or waits
 * at the end of one. A walk that comes from outside past a mark puts a node of the mark's kind into the call path
 * (walk/unwind.c), so a sample in any thread of a team names the region, and where that was opened is looked up
 * afterwards.
 *
 * A mark lies in the frame of a function of ours, or of the runtime that called us. One that a jump out of a region
 * (longjmp) has left behind lies in no such frame any more and is passed over; the next one that is set outside of it
 * removes it.
 */
#ifndef HQ_PRELOAD_OPENMP_MARKS_H
#define HQ_PRELOAD_OPENMP_MARKS_H

#include "format/measurement.h"
#include "preload/openmp/changes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MARKS_MAX = 32 }; /* regions nested deeper count for the 32nd */

#define MARK_BASE UINT64_MAX /* `sp` of a mark for all of the stack */

/* How often a thread has opened or left a region at one depth of nesting, and when it left the last two of them
 * (CLOCK_MONOTONIC; 0: not known), by what the count was within. Read by other threads. */
struct turns {
    uint64_t count, left_ns[2];
};
static inline uint64_t *turns_left(struct turns *t, uint64_t within)
{
    return &t->left_ns[within / 2 % 2];
}

struct mark {
    uint64_t sp;     /* frames whose stack pointer is not above it are inside */
    uint64_t region; /* lane << 32 | node */
    uint32_t kind;   /* HQM_NODE_INSIDE, HQM_NODE_WAIT */
    uint32_t module; /* in whose frame it lies; MARK_OURS, MARK_ANY */
};
enum { MARK_ANY = 0, MARK_OURS = UINT32_MAX };

struct marks {
    uint32_t count;
    uint64_t phase;   /* the innermost that the thread is in (preload/phases.h), 0 none: its node is above all others */
    uint64_t changed; /* at or below this place of the stack other marks hold than at the last walk; 0: nowhere */
    uint64_t gone;    /* likewise, between walks since marks_held was told of it last */
    /* A mark for all of the stack holds as long as waiting->count is what it was. */
    struct turns *waiting;
    uint64_t waiting_since;
    uint64_t as_of_ns; /* a sample is taken that fired then, and may be seen much later; 0: now counts */
    struct mark mark[MARKS_MAX];
};

/* Thread-local and of the initial-exec kind, as thread.h has it. */
extern __thread struct marks marks __attribute__((tls_model("initial-exec")));

static inline void marks_changed(uint64_t sp)
{
    if (sp > marks.changed)
        marks.changed = sp;
}

/* The region, or task, of the innermost mark; 0 none. */
static inline uint64_t marks_innermost(void)
{
    return marks.count ? marks.mark[marks.count - 1].region : 0;
}

/* A sample may come at any instruction: what is counted is there, and what is changed is told before and after. */
static inline void marks_count(uint32_t count, uint64_t sp)
{
    changes_note(marks_innermost());
    marks_changed(sp);
    atomic_signal_fence(memory_order_seq_cst);
    marks.count = count;
    atomic_signal_fence(memory_order_seq_cst);
    marks_changed(sp);
}

/* As marks_enter and marks_leave, where another number of marks goes than none or one, or the thread may wait. */
void marks_enter_any(const struct mark *mark);
void marks_leave_any(uint64_t sp);

/* Sets a mark; those at or below it are gone. */
static inline void marks_enter(struct mark mark)
{
    uint32_t count = marks.count;

    if (marks.waiting || count == MARKS_MAX || (count && marks.mark[count - 1].sp <= mark.sp)) {
        marks_enter_any(&mark);
        return;
    }
    marks.mark[count] = mark;
    marks_count(count + 1, mark.sp);
}

/* Removes the marks at or below a place of the stack. */
static inline void marks_leave(uint64_t sp)
{
    uint32_t count = marks.count;

    if (!count || marks.mark[count - 1].sp > sp)
        return;
    if (marks.waiting || (count > 1 && marks.mark[count - 2].sp <= sp))
        marks_leave_any(sp);
    else
        marks_count(count - 1, marks.mark[count - 1].sp);
}

/* The thread belongs to a region as long as turns->count is `value`, and what is not the program's code waits there.
 * For threads that do nothing else. */
void marks_wait(uint64_t region, struct turns *turns, uint64_t value);

/* Has the region been left at whose end the thread has a mark that it waits? *when_ns: 0 if that is not known any more.
 */
bool marks_left(uint64_t *when_ns);

static inline bool marks_at_end(void)
{
    return marks.waiting && marks.count == 1;
}

/* Around a walk of a thread that is there: as it would be if the region had been left. In signal handlers. */
uint32_t marks_lift(void);
void marks_put_back(uint32_t count);

/* Before a walk: the end of a region may have been reached meanwhile. Safe in signal handlers. */
void marks_settle(void);

/* A thread that may wait at a region's end is about to give its processor to others. */
static inline void marks_look(void)
{
    if (!marks.waiting)
        return;
    marks_settle();
    changes_note(marks_innermost());
}

/* The region in which the kernel changed threads, by one change since this was called last; 0: in none. Likewise. */
uint64_t marks_changing(void);

/*
 * Has the thread been inside of one mark ever since? *sp: the place of one that was there when this was called last.
 * Returns the region of the innermost mark at *sp or outside of it that has not changed since, and *sp becomes its
 * place; 0 if there is none, and *sp becomes the place of the innermost that there is now, 0 none. For the handler,
 * with marks_held_seen behind its walk; after marks_settle.
 */
uint64_t marks_held(uint64_t *sp);
static inline void marks_held_seen(void)
{
    marks.gone = 0; /* a change that no walk has seen is in `changed` */
}

/* The innermost region that the thread is in, 0 none. */
uint64_t marks_region(void);

#endif
