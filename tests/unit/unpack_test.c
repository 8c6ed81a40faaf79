/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed data of every method: what it says of its size is believed only as far as the method could have packed it. */
#include "tests/unit/test.h"

#include "common/mem.h"
#include "structure/unpack.h"
#include <lzma.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

enum { MIB = 1 << 20 };

struct packed {
    uint8_t *data;
    size_t bytes;
};

static struct packed pack_by(enum unpack_method method, const uint8_t *data, size_t size)
{
    struct packed p = {0};
    uLongf room = compressBound(size);

    switch (method) {
    case UNPACK_ZSTD: p.data = pack(data, size, &p.bytes); break;
    case UNPACK_ZLIB:
        p.data = xmalloc(room);
        CHECK(compress2(p.data, &room, data, size, 9) == Z_OK);
        p.bytes = room;
        break;
    case UNPACK_XZ: {
        size_t bound = lzma_stream_buffer_bound(size);

        p.data = xmalloc(bound);
        CHECK(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, data, size, p.data, &p.bytes, bound) == LZMA_OK);
        break;
    }
    }
    return p;
}

static bool gives(enum unpack_method method, struct packed p, uint64_t size, const uint8_t *wanted)
{
    uint8_t *data = unpack(method, p.data, p.bytes, size);
    bool same = data && wanted && memcmp(data, wanted, size) == 0;

    unpack_free(data, size);
    return wanted ? same : !data;
}

static const enum unpack_method methods[] = {UNPACK_ZLIB, UNPACK_ZSTD, UNPACK_XZ};

TEST(exactly_what_was_packed)
{
    enum { SIZE = 100000 };
    AUTO_FREE uint8_t *data = xmalloc(SIZE);

    for (uint32_t i = 0, x = 1; i < SIZE; i++, x = x * 1664525 + 1013904223)
        data[i] = (uint8_t)(x >> (24 + i / 1000 % 8));
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct packed p = pack_by(methods[i], data, SIZE);

        CHECK(gives(methods[i], p, SIZE, data));
        /* Another size than the data has. */
        CHECK(gives(methods[i], p, SIZE - 1, NULL));
        CHECK(gives(methods[i], p, SIZE + 1, NULL));
        CHECK(gives(methods[i], p, 0, NULL));
        /* Cut off anywhere. */
        for (size_t cut = 1; cut < p.bytes; cut += 1 + p.bytes / 50)
            CHECK(gives(methods[i], (struct packed){p.data, cut}, SIZE, NULL));
        /* Damaged: refused, or what a changed byte makes of it, but never more than was asked for. */
        for (size_t at = 0; at < p.bytes; at += 1 + p.bytes / 50) {
            p.data[at] ^= 0x5a;
            unpack_free(unpack(methods[i], p.data, p.bytes, SIZE), SIZE);
            p.data[at] ^= 0x5a;
        }
        CHECK(gives(methods[i], p, SIZE, data));
        free(p.data);
    }
}

/* Zeros pack best: 1000:1 by deflate, some 30,000:1 by zstd. Up to 64 MiB that is believed, beyond only what deflate
 * could have done. */
TEST(ratios)
{
    AUTO_FREE uint8_t *zeros = xcalloc(1, 80 * MIB);

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct packed small = pack_by(methods[i], zeros, 60 * MIB), large = pack_by(methods[i], zeros, 80 * MIB);

        CHECK(gives(methods[i], small, 60 * MIB, zeros));
        CHECK(gives(methods[i], large, 80 * MIB, methods[i] == UNPACK_ZLIB ? zeros : NULL));
        free(small.data);
        free(large.data);
    }
}

/* Sizes that a header claims, and that would cost memory if they were believed: nothing is asked of the kernel. */
TEST(liars)
{
    static const uint64_t sizes[] = {64ull << 20, 1ull << 30, 4ull << 30, (4ull << 30) + 1, 1ull << 40, UINT64_MAX};
    uint8_t byte = 0;

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct packed p = pack_by(methods[i], &byte, 1);

        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            CHECK(gives(methods[i], p, sizes[k], NULL));
        free(p.data);
    }
}

/* The size of an .xz file stands in its index. */
TEST(xz_says_its_size)
{
    AUTO_FREE uint8_t *zeros = xcalloc(1, 80 * MIB);
    struct packed p = pack_by(UNPACK_XZ, zeros, 1000), large = pack_by(UNPACK_XZ, zeros, 80 * MIB);
    size_t size = 0;
    uint8_t *data = unpack_xz(p.data, p.bytes, &size);

    CHECK(data && size == 1000);
    unpack_free(data, size);
    CHECK(!unpack_xz(large.data, large.bytes, &size));
    for (size_t at = 0; at < p.bytes; at++) {
        p.data[at] ^= 0xff;
        data = unpack_xz(p.data, p.bytes, &size);
        unpack_free(data, size);
        p.data[at] ^= 0xff;
        CHECK(!unpack_xz(p.data, at, &size));
    }
    free(p.data);
    free(large.data);
}

TEST_MAIN
