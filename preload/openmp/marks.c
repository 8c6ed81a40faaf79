/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/openmp/marks.h"

#include "preload/hot.h"

#include <stddef.h>

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

void marks_wait(uint64_t region, const uint64_t *counter, uint64_t value)
{
    marks_settle();
    if (marks.count > 1 || (marks.count && marks.mark[0].sp != MARK_BASE))
        return;
    marks.mark[0] = (struct mark){MARK_BASE, region, HQM_NODE_WAIT, MARK_ANY};
    marks.waiting_since = value;
    marks.waiting = counter;
    marks_count(1, MARK_BASE);
}

void marks_settle(void)
{
    if (marks.count != 1 || !marks.waiting || __atomic_load_n(marks.waiting, __ATOMIC_ACQUIRE) == marks.waiting_since)
        return;
    marks.count = 0;
    marks.waiting = NULL;
    marks.changed = MARK_BASE;
}

uint64_t marks_region(void)
{
    return marks.count && marks.mark[marks.count - 1].sp != MARK_BASE ? marks.mark[marks.count - 1].region : 0;
}
