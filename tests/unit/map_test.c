/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/hash.h"
#include "common/intern.h"
#include "common/map.h"
#include "tests/unit/test.h"

TEST(hashes_never_change)
{
    char text[64];

    for (int i = 0; i < 64; i++)
        text[i] = (char)i;
    /* Stored on disk: a change of these values breaks every database. */
    CHECK_EQ_INT(hash_u64(0), (long long)0xe220a8397b1dcdafull);
    CHECK_EQ_INT(hash_bytes(NULL, 0, 0), (long long)0xa75f361ffa8bd7bdull);
    CHECK_EQ_INT(hash_bytes("main", 4, 0), (long long)0xfa10862b2573b9bfull);
    CHECK_EQ_INT(hash_bytes(text, 64, 7), (long long)0xde5f357fbc191d09ull);
    CHECK_EQ_INT(hash_combine(1, 2), (long long)0x71d51ff977088c07ull);
}

TEST(hash_sees_every_byte)
{
    unsigned char data[40] = {0};

    for (size_t n = 0; n <= sizeof data; n++) {
        uint64_t h = hash_bytes(data, n, 0);

        CHECK(n == sizeof data || hash_bytes(data, n + 1, 0) != h);
        CHECK(hash_bytes(data, n, 1) != h);
        for (size_t i = 0; i < n; i++) {
            data[i] = 1;
            CHECK(hash_bytes(data, n, 0) != h);
            data[i] = 0;
        }
    }
    CHECK(hash_combine(1, 2) != hash_combine(2, 1));
}

/* 64k similar keys in 2^16 buckets of the low bits: the number of free buckets is binomial with mean 2^16/e = 24109 and
 * a standard deviation below 100; the bound is ten of these. */
TEST(hash_spreads)
{
    enum { N = 1 << 16 };
    unsigned char *seen = calloc(N, 1);
    int empty = 0;

    for (uint64_t i = 0; i < N; i++) {
        uint64_t key[3] = {i << 20, 0, 0x400000};

        seen[hash_bytes(key, sizeof key, 0) % N] = 1;
    }
    for (int i = 0; i < N; i++)
        empty += !seen[i];
    CHECK(empty > 23109 && empty < 25109);
    free(seen);
}

TEST(map_keeps_entries)
{
    struct map m = {0};
    bool is_new;

    CHECK(map_find(&m, 0) == NULL && map_find(&m, 5) == NULL);
    for (uint64_t i = 0; i < 10000; i++)
        map_put(&m, i * 4096, i);
    map_put(&m, UINT64_MAX, 1);
    CHECK_EQ_INT(m.len, 10001);
    for (uint64_t i = 0; i < 10000; i++)
        CHECK_EQ_INT(map_get(&m, i * 4096, 99), i);
    CHECK_EQ_INT(map_get(&m, 1, 99), 99);
    *map_insert(&m, 0, 50, &is_new) += 7;
    CHECK(!is_new);
    CHECK_EQ_INT(map_get(&m, 0, 99), 7);
    CHECK_EQ_INT(*map_insert(&m, 1, 50, &is_new), 50);
    CHECK(is_new);
    map_clear(&m);
    CHECK_EQ_INT(map_get(&m, 0, 99), 99);
    CHECK_EQ_INT(map_get(&m, 4096, 99), 99);
    map_deinit(&m);
}

TEST(map_iterates)
{
    struct map m = {0};
    uint64_t key, value, keys = 0, values = 0;
    size_t pos = 0, n = 0;

    CHECK(!map_next(&m, &pos, &key, &value));
    for (uint64_t i = 0; i < 100; i++)
        map_put(&m, i, 2 * i);
    for (pos = 0; map_next(&m, &pos, &key, &value); n++) {
        keys += key;
        values += value;
    }
    CHECK_EQ_INT(n, 100);
    CHECK_EQ_INT(keys, 4950);
    CHECK_EQ_INT(values, 9900);
    map_deinit(&m);
}

TEST(keymap_numbers_keys)
{
    struct keymap m;
    bool is_new;

    keymap_init(&m, 12);
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t key[3] = {i, 7, i / 2};

        CHECK(keymap_find(&m, key) == KEYMAP_NONE);
        CHECK_EQ_INT(keymap_add(&m, key, &is_new), i);
        CHECK(is_new);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t key[3] = {i, 7, i / 2};

        CHECK_EQ_INT(keymap_add(&m, key, &is_new), i);
        CHECK(!is_new);
        CHECK(memcmp(keymap_key(&m, i), key, 12) == 0);
    }
    CHECK_EQ_INT(m.len, 5000);
    keymap_deinit(&m);
}

TEST(intern_is_dense)
{
    struct intern in = {0};
    char text[16];

    CHECK_EQ_INT(intern_find(&in, "a"), INTERN_NONE);
    CHECK_EQ_INT(intern_add(&in, ""), 0);
    CHECK_EQ_INT(intern_add(&in, NULL), 0);
    for (int i = 1; i <= 3000; i++) {
        snprintf(text, sizeof text, "f%d", i);
        CHECK_EQ_INT(intern_add(&in, text), i);
    }
    CHECK_EQ_INT(intern_addn(&in, "f17xyz", 3), 17);
    CHECK_EQ_INT(intern_find(&in, "f2999"), 2999);
    CHECK_EQ_STR(intern_str(&in, 3000), "f3000");
    CHECK_EQ_INT(intern_strlen(&in, 3000), 5);
    CHECK_EQ_STR(intern_str(&in, 0), "");
    CHECK_EQ_STR(intern_str(&in, 3001), "");
    CHECK_EQ_INT(intern_count(&in), 3001);
    intern_deinit(&in);
}

TEST_MAIN
