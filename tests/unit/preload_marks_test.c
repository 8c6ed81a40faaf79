/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks of parallel regions: which hold, and from where on the previous walk does not. */
#include "preload/openmp/marks.h"
#include "tests/unit/test.h"

static void fresh(void)
{
    marks = (struct marks){0};
}

static struct mark inside(uint64_t sp, uint64_t region)
{
    return (struct mark){sp, region, HQM_NODE_INSIDE, MARK_OURS};
}

TEST(regions_nest)
{
    fresh();
    CHECK(marks_region() == 0);
    marks_enter(inside(1000, 1));
    CHECK(marks.changed == 1000);
    marks.changed = 0;
    marks_enter(inside(500, 2));
    CHECK(marks.count == 2 && marks_region() == 2 && marks.changed == 500);
    marks_leave(500);
    CHECK(marks.count == 1 && marks_region() == 1);
    marks.changed = 0;
    marks_leave(1000);
    CHECK(marks.count == 0 && marks_region() == 0 && marks.changed == 1000);
}

/* A jump out of regions leaves their marks; the next one outside of them, or beside them, is the first that counts. */
TEST(marks_that_were_left_behind_go)
{
    fresh();
    marks_enter(inside(1000, 1));
    marks_enter(inside(500, 2));
    marks_enter(inside(700, 3));
    CHECK(marks.count == 2 && marks.mark[1].region == 3);
    marks_enter(inside(2000, 4));
    CHECK(marks.count == 1 && marks_region() == 4 && marks.changed == 2000);
}

TEST(more_than_there_is_room_for)
{
    fresh();
    for (uint64_t i = 0; i < MARKS_MAX + 5; i++)
        marks_enter(inside(100000 - i, i + 1));
    CHECK(marks.count == MARKS_MAX && marks_region() == MARKS_MAX);
    for (uint64_t i = MARKS_MAX + 5; i-- > 0;)
        marks_leave(100000 - i);
    CHECK(marks.count == 0);
}

/* A thread of the runtime waits until the one that opened the region has left it. */
TEST(waiting_ends_with_the_region)
{
    uint64_t counter = 7;

    fresh();
    marks_wait(9, &counter, 7);
    CHECK(marks.count == 1 && marks.mark[0].kind == HQM_NODE_WAIT && marks.mark[0].region == 9);
    CHECK(marks_region() == 0); /* it is in none itself */
    marks_settle();
    CHECK(marks.count == 1);
    marks_enter(inside(500, 10)); /* a region of a task that it runs meanwhile */
    marks_leave(500);
    CHECK(marks.count == 1);
    counter = 8;
    marks.changed = 0;
    marks_settle();
    CHECK(marks.count == 0 && marks.changed == MARK_BASE);
}

TEST(the_next_region_of_a_waiting_thread)
{
    uint64_t counter = 1, other = 5;

    fresh();
    marks_wait(9, &counter, 1);
    marks_wait(12, &other, 5); /* before anything has settled */
    CHECK(marks.count == 1 && marks.mark[0].region == 12);
    other = 6;
    marks_enter(inside(500, 13));
    CHECK(marks.count == 1 && marks_region() == 13);
}

TEST_MAIN
