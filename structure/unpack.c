/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/unpack.h"
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

/* Deflate cannot do better than 1032:1; zstd can, but no debug information does. 4 GiB bounds what a liar can cost. */
#define MAX_RATIO_ZLIB 1040u
#define MAX_RATIO_ZSTD 65536u
#define MAX_SIZE (4ull << 30)

/* zlib counts in unsigned int, so long input and output go in pieces. */
static bool unpack_zlib(const uint8_t *from, size_t from_size, uint8_t *to, size_t size)
{
    z_stream z = {0};
    int rc = Z_OK;

    if (inflateInit(&z) != Z_OK)
        return false;
    z.next_in = (Bytef *)from;
    z.next_out = to;
    while (rc == Z_OK) {
        size_t in_left = from_size - (size_t)(z.next_in - from), out_left = size - (size_t)(z.next_out - to);

        z.avail_in = in_left < (1u << 30) ? (uInt)in_left : 1u << 30;
        z.avail_out = out_left < (1u << 30) ? (uInt)out_left : 1u << 30;
        rc = inflate(&z, Z_NO_FLUSH);
    }
    bool whole = rc == Z_STREAM_END && (size_t)(z.next_out - to) == size;
    inflateEnd(&z);
    return whole;
}

uint8_t *unpack(enum unpack_method method, const uint8_t *packed, size_t packed_size, uint64_t size)
{
    uint64_t ratio = method == UNPACK_ZSTD ? MAX_RATIO_ZSTD : MAX_RATIO_ZLIB;

    if (!size || size > MAX_SIZE || size / ratio > packed_size)
        return NULL;
    uint8_t *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
        return NULL;
    bool whole = method == UNPACK_ZSTD ? ZSTD_decompress(data, size, packed, packed_size) == size
                                       : unpack_zlib(packed, packed_size, data, size);
    if (whole)
        return data;
    munmap(data, size);
    return NULL;
}

void unpack_free(uint8_t *data, size_t size)
{
    if (data)
        munmap(data, size);
}
