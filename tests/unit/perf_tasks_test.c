/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/mem.h"
#include "common/vec.h"
#include "db/perf/image.h"
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

/* As lld lays out programs: a page of the file holds the end of what is read and the beginning of the code. */
TEST(a_mapping_of_a_page_of_two_segments_is_of_the_code)
{
    struct perf_image image = {0};

    vec_push(&image.loads, (struct perf_load){0, 0x143d4, 0, false});
    vec_push(&image.loads, (struct perf_load){0x143e0, 0x41bd0, 0x153e0, true});
    vec_push(&image.loads, (struct perf_load){0x55fb0, 0x2a98, 0x57fb0, false});
    CHECK(perf_image_bias(&image, 0x559f3fb31000, 0x14000) == 0x559f3fb1c000);
    CHECK(perf_image_bias(&image, 0x559f3fb41000, 0x24000) == 0x559f3fb1c000);
    CHECK(perf_image_bias(&image, 0x559f3fb1c000, 0) == 0x559f3fb1c000);
    vec_deinit(&image.loads);
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
