/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/perf/tasks.h"
#include "tests/unit/test.h"
#include <linux/perf_event.h>

static void map(struct perf_tasks *t, uint32_t pid, uint64_t start)
{
    struct perf_event e = {.type = PERF_RECORD_MMAP, .pid = pid, .tid = pid, .start = start, .length = 4096};

    e.executable = true;
    e.path = "/usr/lib/none.so";
    perf_tasks_note(t, &e);
}

static void fork_of(struct perf_tasks *t, uint32_t pid, uint32_t parent)
{
    struct perf_event e = {
        .type = PERF_RECORD_FORK, .pid = pid, .tid = pid, .parent_pid = parent, .parent_tid = parent};

    perf_tasks_note(t, &e);
}

TEST(children_have_what_their_parents_had)
{
    struct perf_tasks t;

    perf_tasks_init(&t);
    map(&t, 1, 0x1000);
    fork_of(&t, 2, 1);
    map(&t, 1, 0x9000);
    map(&t, 2, 0x5000);
    CHECK_EQ_INT(perf_tasks_process(&t, 1)->mappings.len, 2);
    CHECK_EQ_INT(perf_tasks_process(&t, 2)->mappings.len, 2);
    CHECK_EQ_INT(perf_tasks_process(&t, 2)->mappings.data[0].start, 0x1000);
    CHECK_EQ_INT(perf_tasks_process(&t, 2)->mappings.data[1].start, 0x5000);
    CHECK(!t.crowded);
    perf_tasks_deinit(&t);
}

/* Records of a few bytes, each of which would copy all that a process has. */
TEST(inheritance_has_an_end)
{
    struct perf_tasks t;
    uint32_t pid = 2;

    perf_tasks_init(&t);
    CHECK(t.inherited_max >= 1000000);
    t.inherited_max = 1000;
    for (uint64_t i = 1; i <= 100; i++)
        map(&t, 1, i * 4096);
    for (; pid < 12; pid++)
        fork_of(&t, pid, 1);
    CHECK(!t.crowded);
    fork_of(&t, pid, 1);
    CHECK(t.crowded);
    CHECK_EQ_INT(perf_tasks_process(&t, pid)->mappings.len, 0);
    CHECK_EQ_INT(t.inherited, 1000);
    perf_tasks_deinit(&t);
}

TEST_MAIN
