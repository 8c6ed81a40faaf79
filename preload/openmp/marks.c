/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/openmp/marks.h"

#include "preload/hot.h"

#include <stddef.h>

enum { TURNS_KNOWN = 3 }; /* the third region after it is the first that may have its place in turns_left */

__thread struct marks marks __attribute__((tls_model("initial-exec")));

/* Where a change of the number of marks begins to matter: at the outermost that comes or goes. */
static void cut(uint32_t count)
{
    if (count >= marks.count)
        return;
    marks_count(count, marks.mark[count].sp);
    if (!count)
        marks.waiting = NULL;
}

/* How many marks lie outside of a place of the stack. */
static uint32_t outside(uint64_t sp)
{
    uint32_t count = marks.count;

    while (count && marks.mark[count - 1].sp <= sp)
        count--;
    return count;
}

void marks_enter_any(const struct mark *mark)
{
    uint32_t before;

    marks_settle();
    before = outside(mark->sp);
    cut(before);
    if (before == MARKS_MAX)
        return;
    marks.mark[before] = *mark;
    marks_count(before + 1, mark->sp);
}

void marks_leave_any(uint64_t sp)
{
    cut(outside(sp));
}

void marks_wait(uint64_t region, struct turns *turns, uint64_t value)
{
    marks_settle();
    if (marks.count > 1 || (marks.count && marks.mark[0].sp != MARK_BASE))
        return;
    changes_note(marks_innermost());
    marks.mark[0] = (struct mark){MARK_BASE, region, HQM_NODE_WAIT, MARK_ANY};
    marks.waiting_since = value;
    marks.waiting = turns;
    marks_count(1, MARK_BASE);
}

/* Of the region at whose end the thread waits, which has been left: when that was, 0 not known any more. */
static uint64_t left_ns(struct turns *turns)
{
    uint64_t left = __atomic_load_n(turns_left(turns, marks.waiting_since), __ATOMIC_ACQUIRE);
    uint64_t count = __atomic_load_n(&turns->count, __ATOMIC_RELAXED);

    return count - marks.waiting_since <= TURNS_KNOWN ? left : 0;
}

/* Turns of the region at whose end the thread waits, if that one has been left; NULL otherwise. */
static struct turns *turns_over(void)
{
    struct turns *turns = __atomic_load_n(&marks.waiting, __ATOMIC_RELAXED); /* a sample may come and settle it */

    if (marks.count != 1 || !turns || __atomic_load_n(&turns->count, __ATOMIC_ACQUIRE) == marks.waiting_since)
        return NULL;
    return turns;
}

bool marks_left(uint64_t *when_ns)
{
    struct turns *turns = turns_over();

    *when_ns = turns ? left_ns(turns) : 0;
    return turns != NULL;
}

uint32_t marks_lift(void)
{
    uint32_t count = marks.count;

    marks.count = 0;
    marks_changed(MARK_BASE);
    return count;
}

void marks_put_back(uint32_t count)
{
    marks.count = count;
    marks_changed(MARK_BASE);
}

/* The thread was changed while it waited at the end of a region that has been left meanwhile: it went within, as like
 * as not, and came back between regions. */
static void note_waited(uint64_t region)
{
    uint32_t count = changes.counter ? changes_since() : 0;

    if (!count)
        return;
    changes_passed(count - count / 2, region);
    changes_passed(count / 2, 0);
}

void marks_settle(void)
{
    struct turns *turns = turns_over();

    if (!turns || (marks.as_of_ns && marks.as_of_ns < left_ns(turns)))
        return;
    note_waited(marks.mark[0].region);
    marks.count = 0;
    marks.waiting = NULL;
    marks.changed = MARK_BASE;
}

uint64_t marks_changing(void)
{
    marks_settle();
    changes_note(marks_innermost());
    return changes_draw();
}

uint64_t marks_region(void)
{
    return marks.count && marks.mark[marks.count - 1].sp != MARK_BASE ? marks.mark[marks.count - 1].region : 0;
}

uint64_t marks_held(uint64_t *sp)
{
    uint64_t changed = marks.gone > marks.changed ? marks.gone : marks.changed;
    uint32_t n = *sp ? marks.count : 0;

    while (n && (marks.mark[n - 1].sp <= changed || marks.mark[n - 1].sp < *sp))
        n--;
    if (n) {
        *sp = marks.mark[n - 1].sp;
        return marks.mark[n - 1].region;
    }
    *sp = marks.count ? marks.mark[marks.count - 1].sp : 0;
    return 0;
}
