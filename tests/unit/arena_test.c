/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/arena.h"
#include "tests/unit/test.h"
#include <stdint.h>

TEST(aligned_and_zeroed)
{
    struct arena a = {0};

    for (size_t size = 0; size < 300; size++)
        for (size_t align = 1; align <= 64; align *= 4) {
            unsigned char *p = arena_alloc_aligned(&a, size, align);

            CHECK_EQ_INT((uintptr_t)p % align, 0);
            for (size_t i = 0; i < size; i++)
                CHECK_EQ_INT(p[i], 0);
            memset(p, 0xff, size);
        }
    CHECK_EQ_INT((uintptr_t)arena_alloc_aligned(&a, 1, 4096) % 4096, 0);
    arena_deinit(&a);
}

TEST(objects_do_not_overlap)
{
    enum { N = 5000 };
    struct arena a;
    static unsigned *p[N];

    arena_init(&a);
    for (unsigned i = 0; i < N; i++) {
        p[i] = arena_array(&a, 1 + i % 37, sizeof **p);
        for (unsigned j = 0; j < 1 + i % 37; j++)
            p[i][j] = i;
    }
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = 0; j < 1 + i % 37; j++)
            CHECK_EQ_INT(p[i][j], i);
    arena_deinit(&a);
}

TEST(texts)
{
    struct arena a = {0};
    char *huge = malloc(3000001);

    memset(huge, 'x', 3000000);
    huge[3000000] = '\0';
    CHECK_EQ_STR(arena_strdup(&a, "abc"), "abc");
    CHECK_EQ_STR(arena_strndup(&a, "abc", 2), "ab");
    CHECK_EQ_STR(arena_strndup(&a, NULL, 0), "");
    CHECK_EQ_STR(arena_printf(&a, "%s-%d", "x", 5), "x-5");
    CHECK(!strcmp(arena_strdup(&a, huge), huge));
    CHECK(!strcmp(arena_printf(&a, "%s", huge), huge));
    free(huge);
    arena_deinit(&a);
}

TEST(reset_keeps_working)
{
    struct arena a = {0};

    arena_reset(&a);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++) {
            unsigned char *p = arena_alloc(&a, 100);

            CHECK_EQ_INT(p[0] | p[99], 0); /* zeroed when memory is used again, too */
            memset(p, 1, 100);
        }
        CHECK(a.bytes >= 100000);
        arena_reset(&a);
        CHECK_EQ_INT(a.bytes, 0);
    }
    arena_deinit(&a);
    arena_deinit(&a);
}

TEST_MAIN
