/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a trace in order: sorted in memory or in runs that are merged, the result is the same. */
#include "tests/unit/test.h"

#include "db/import/slices.h"

static struct slice slice_at(uint32_t thread, double ts, uint32_t phase, double dur, uint32_t name)
{
    return (struct slice){.thread = thread, .ts = ts, .phase = phase, .dur = dur, .name = name};
}

/* The names of the slices in order, as they come out when `run` of them are held in memory. */
static void sorted_names(const struct slice *slices, size_t count, size_t run, uint32_t *names, size_t *got)
{
    struct slices s;
    struct slice next;
    bool more = true;

    slices_init(&s, run, "/tmp");
    for (size_t i = 0; i < count; i++)
        CHECK_OK(slices_add(&s, &slices[i]));
    CHECK_OK(slices_sort(&s));
    for (*got = 0; more && *got <= count;) {
        CHECK_OK(slices_next(&s, &next, &more));
        if (more)
            names[(*got)++] = next.name;
    }
    slices_deinit(&s);
}

TEST(equal_times)
{
    const struct slice slices[] = {
        slice_at(1, 5, 'X', 1, 6), slice_at(0, 7, 'E', 0, 5), slice_at(0, 5, 'B', 0, 3),
        slice_at(0, 5, 'X', 2, 2), slice_at(0, 5, 'X', 9, 1), slice_at(0, 5, 'E', 0, 4),
    };
    uint32_t names[6];
    size_t got;

    for (size_t run = 1; run <= 7; run++) {
        sorted_names(slices, 6, run, names, &got);
        CHECK_EQ_INT(got, 6);
        for (uint32_t i = 0; i < 6; i++)
            CHECK_EQ_INT(names[i], i + 1);
    }
    sorted_names(slices, 0, 3, names, &got);
    CHECK_EQ_INT(got, 0);
}

/* More than a run reads ahead, and runs of all lengths. */
TEST(runs_are_merged)
{
    enum { COUNT = 20000 };
    static struct slice slices[COUNT];
    static uint32_t want[COUNT], names[COUNT];
    static const size_t runs[] = {COUNT / 2, COUNT / 2 - 1, 5000, 4999, 700, 97};
    uint32_t x = 1;
    size_t got;

    for (uint32_t i = 0; i < COUNT; i++) {
        x = x * 1664525 + 1013904223;
        slices[i] = slice_at(x >> 30, (x >> 8) % 5000, "XBE"[(x >> 4) % 3], x % 7, i);
    }
    sorted_names(slices, COUNT, COUNT + 1, want, &got);
    CHECK_EQ_INT(got, COUNT);
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        sorted_names(slices, COUNT, runs[r], names, &got);
        CHECK_EQ_INT(got, COUNT);
        CHECK(memcmp(names, want, sizeof want) == 0);
    }
}

TEST_MAIN
