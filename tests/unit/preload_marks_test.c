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
    struct turns turns = {.count = 7};

    fresh();
    marks_wait(9, &turns, 7);
    CHECK(marks.count == 1 && marks.mark[0].kind == HQM_NODE_WAIT && marks.mark[0].region == 9);
    CHECK(marks_region() == 0); /* it is in none itself */
    marks_settle();
    CHECK(marks.count == 1);
    marks_enter(inside(500, 10)); /* a region of a task that it runs meanwhile */
    marks_leave(500);
    CHECK(marks.count == 1);
    turns.count = 8;
    marks.changed = 0;
    marks_settle();
    CHECK(marks.count == 0 && marks.changed == MARK_BASE);
}

TEST(the_next_region_of_a_waiting_thread)
{
    struct turns turns = {.count = 1}, other = {.count = 5};

    fresh();
    marks_wait(9, &turns, 1);
    marks_wait(12, &other, 5); /* before anything has settled */
    CHECK(marks.count == 1 && marks.mark[0].region == 12);
    other.count = 6;
    marks_enter(inside(500, 13));
    CHECK(marks.count == 1 && marks_region() == 13);
}

/* A sample that fired before the region was left, and is taken afterwards, is of it: also where the next has begun, but
 * not where so many have that the time is no longer that of this one. */
TEST(a_sample_is_of_when_it_fired)
{
    struct turns turns = {.count = 7};
    uint64_t when;

    fresh();
    marks_wait(9, &turns, 7);
    *turns_left(&turns, 7) = 5000;
    turns.count = 9;
    *turns_left(&turns, 9) = 8000;
    CHECK(marks_left(&when) && when == 5000);
    marks.as_of_ns = 4999;
    marks_settle();
    CHECK(marks.count == 1 && marks.mark[0].region == 9);
    turns.count = 10;
    marks_settle();
    CHECK(marks.count == 1);
    marks.as_of_ns = 6000;
    marks_settle();
    CHECK(marks.count == 0);

    marks_wait(9, &turns, 7);
    turns.count = 11;
    marks.as_of_ns = 4999;
    marks_settle();
    CHECK(marks.count == 0);

    turns = (struct turns){.count = 7};
    marks_wait(9, &turns, 7);
    CHECK(!marks_left(&when) && when == 0); /* it has not been left */
    turns.count = 8;                        /* when is not known */
    CHECK(marks_left(&when) && when == 0);
    marks_settle();
    CHECK(marks.count == 0);
}

/* The kernel's count grows by two a change. Each is of the region that the thread was in then; one while it waited at
 * the end of a region that has been left is half that region's. */
TEST(changes_of_threads_are_of_a_region)
{
    static volatile int known = 1;
    uint32_t counter = 100, of_region = 0, of_other = 0, of_none = 0;
    struct turns turns = {.count = 1};

    fresh();
    process_page = &known;
    changes_watch(&counter);
    CHECK(marks_changing() == 0);
    marks_enter(inside(1000, 1));
    CHECK(marks_changing() == 0); /* nothing has changed */
    counter += CHANGES_STEP;
    CHECK(marks_changing() == 1 && marks_changing() == 0);
    for (int i = 0; i < 3000; i++) {
        counter += 3 * CHANGES_STEP; /* in region 1 */
        marks_enter(inside(500, 2));
        counter += CHANGES_STEP;
        marks_leave(500);
        marks_leave(1000);
        marks_wait(3, &turns, turns.count);
        counter += 2 * CHANGES_STEP;
        marks_look();
        counter += 2 * CHANGES_STEP; /* half of it in region 3 */
        turns.count++;
        marks_look();
        counter += CHANGES_STEP; /* between regions */
        marks_enter(inside(1000, 1));
        uint64_t drawn = marks_changing();
        of_region += drawn == 1;
        of_other += drawn == 3;
        of_none += drawn == 0;
    }
    /* 3, 3 and 2 of 9: 1000, 1000 and 667 of 3000, within six times what chance makes of that (26 and 23) */
    CHECK(of_region > 845 && of_region < 1155 && of_other > 845 && of_other < 1155 && of_none > 529 && of_none < 805);
    changes_watch(NULL);
    counter += CHANGES_STEP;
    CHECK(marks_changing() == 0);
    changes_watch(&counter);
    known = 0; /* a child that was forked behind the C library's back: there is no such memory */
    counter += CHANGES_STEP;
    CHECK(marks_changing() == 0);
    changes_watch(NULL);
    process_page = NULL;
}

/* What lasts from one sample to the next: a walk takes notice of changes before the handler asks, and after it. */
TEST(marks_that_held)
{
    uint64_t sp = 0;

    fresh();
    CHECK(marks_held(&sp) == 0 && sp == 0);
    marks_enter(inside(1000, 1));
    marks_enter(inside(500, 2));
    CHECK(marks_held(&sp) == 0 && sp == 500); /* since when is not known */
    marks.changed = 0;                        /* as a walk does */
    marks_held_seen();
    CHECK(marks_held(&sp) == 2 && sp == 500);
    marks_leave(500);
    marks_enter(inside(500, 2)); /* once more */
    CHECK(marks_held(&sp) == 1 && sp == 1000);
    marks.changed = 0;
    marks_held_seen();
    CHECK(marks_held(&sp) == 1 && sp == 1000); /* not the inner one, which came later */
    marks_leave(1000);
    marks_enter(inside(1000, 1));
    marks.gone = marks.changed, marks.changed = 0; /* a walk while a region is opened */
    CHECK(marks_held(&sp) == 0 && sp == 1000);
    marks_held_seen();
    CHECK(marks_held(&sp) == 1);
}

TEST(a_worker_that_waits_is_held)
{
    struct turns turns = {.count = 7};
    uint64_t sp = 0;

    fresh();
    marks_wait(9, &turns, 7);
    CHECK(marks_held(&sp) == 0 && sp == MARK_BASE);
    marks.changed = 0;
    marks_enter(inside(500, 10));
    marks_leave(500);
    CHECK(marks_held(&sp) == 9 && sp == MARK_BASE);
    turns.count = 8;
    marks_settle();
    CHECK(marks_held(&sp) == 0 && sp == 0);
}

TEST_MAIN
