/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of all procedures of a binary: this one. */
#include "structure/known.h"
#include "common/file.h"
#include "common/mem.h"
#include "structure/unpack.h"
#include "tests/unit/test.h"
#include <string.h>
#include <unistd.h>

static inline __attribute__((always_inline)) int inlined_everywhere(int x)
{
    return x * 3 + getpid();
}

static bool has(const struct known *k, const char *name)
{
    struct known_walk *w = known_open(k->packed, k->bytes, k->unpacked);
    bool found = false;
    uint32_t count = 0;

    for (const char *n; (n = known_next(w)); count++)
        found |= !strcmp(n, name);
    known_close(w);
    CHECK(count == k->count);
    return found;
}

TEST(of_this_program)
{
    const struct structure_options options = {.inlines = true};
    struct known k;

    CHECK(inlined_everywhere(1) != inlined_everywhere(2));
    known_find("/proc/self/exe", &options, false, &k);
    CHECK(k.state == KNOWN_ALL);
    CHECK(has(&k, "main"));
    CHECK(has(&k, "has"));
    CHECK(has(&k, "inlined_everywhere"));
    CHECK(!has(&k, "inlined_nowhere"));
    known_deinit(&k);
}

TEST(the_same_from_the_cache)
{
    AUTO_FREE char *cache = xasprintf("%s/known-%d", getenv("HQ_TEST_TMP") ? getenv("HQ_TEST_TMP") : "/tmp", getpid());
    const struct structure_options options = {.inlines = true, .cache_dir = cache};
    struct known first, second;

    known_find("/proc/self/exe", &options, false, &first);
    known_find("/proc/self/exe", &options, false, &second);
    CHECK(first.state == second.state && first.count == second.count && first.bytes == second.bytes);
    CHECK(!memcmp(first.packed, second.packed, first.bytes));
    known_deinit(&first);
    known_deinit(&second);
    AUTO_FREE char *remove = xasprintf("rm -rf '%s'", cache);
    CHECK(!system(remove));
}

TEST(not_there_or_another_file)
{
    struct known k;

    known_find("/nosuch", &(struct structure_options){0}, false, &k);
    CHECK(k.state == KNOWN_NOT && !k.packed);
    known_find("/proc/self/exe", &(struct structure_options){.build_id = (const uint8_t *)"abcd", .build_id_len = 4},
               false, &k);
    CHECK(k.state == KNOWN_NOT && !k.packed);
}

/* Damage may end a walk early, and does no more. */
TEST(damaged)
{
    const char text[] = "\0alpha\0\2phabet\0\0beta";
    char whole[sizeof text + 2];

    for (unsigned i = 0; i < sizeof text; i++)
        for (unsigned x = 0; x < 256; x += 17) {
            size_t bytes;

            memcpy(whole, text, sizeof text);
            whole[i] = (char)x;
            uint8_t *packed = pack(whole, sizeof text, &bytes);
            struct known_walk *w = known_open(packed, bytes, sizeof text);

            CHECK(w);
            for (const char *n; (n = known_next(w));)
                CHECK(strlen(n) < 300);
            known_close(w);
            packed[i % bytes] ^= (uint8_t)x;
            known_close(known_open(packed, bytes, sizeof text));
            free(packed);
        }
}

TEST_MAIN
