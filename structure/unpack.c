/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/unpack.h"
#include "common/mem.h"
#include <lzma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* Deflate cannot do better than 1032:1; zstd and xz can, but no debug information does. 4 GiB bounds what a liar can
 * cost. */
#define MAX_RATIO_ZLIB 1040u
#define MAX_RATIO      65536u
#define SMALL_SIZE     (64u << 20) /* what is larger has a ratio as of deflate */
#define MAX_SIZE       (4ull << 30)
#define FREE_SIZE      (1ull << 30) /* of all files; beyond it all together keep below a ratio: */
#define MAX_RATIO_ALL  64u          /* a small file can be named by many units, and real ones have 3 to 10 */

static atomic_ullong all, all_packed; /* bytes since the process began */

/* zlib counts in unsigned int, so long input and output go in pieces. */
static bool unpack_zlib(const uint8_t *from, size_t from_size, uint8_t *to, size_t size)
{
    z_stream z = {0};
    int rc = Z_OK;

    rc = inflateInit(&z);
    if (rc == Z_MEM_ERROR)
        mem_exhausted();
    if (rc != Z_OK)
        return false;
    z.next_in = (Bytef *)from;
    z.next_out = to;
    while (rc == Z_OK) {
        size_t in_left = from_size - (size_t)(z.next_in - from), out_left = size - (size_t)(z.next_out - to);

        z.avail_in = in_left < (1u << 30) ? (uInt)in_left : 1u << 30;
        z.avail_out = out_left < (1u << 30) ? (uInt)out_left : 1u << 30;
        rc = inflate(&z, Z_NO_FLUSH);
    }
    if (rc == Z_MEM_ERROR)
        mem_exhausted();
    bool whole = rc == Z_STREAM_END && (size_t)(z.next_out - to) == size;
    inflateEnd(&z);
    return whole;
}

static bool unpack_lzma(const uint8_t *from, size_t from_size, uint8_t *to, size_t size)
{
    uint64_t most_memory = MAX_SIZE;
    size_t in = 0, out = 0;
    lzma_ret rc = lzma_stream_buffer_decode(&most_memory, 0, NULL, from, &in, from_size, to, &out, size);

    if (rc == LZMA_MEM_ERROR)
        mem_exhausted();
    return rc == LZMA_OK && out == size;
}

static size_t zstd_size(size_t result)
{
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        mem_exhausted();
    return result;
}

static bool unpack_zstd(const uint8_t *from, size_t from_size, uint8_t *to, size_t size)
{
    return zstd_size(ZSTD_decompress(to, size, from, from_size)) == size;
}

uint8_t *unpack(enum unpack_method method, const uint8_t *packed, size_t packed_size, uint64_t size)
{
    uint64_t ratio = method == UNPACK_ZLIB || size > SMALL_SIZE ? MAX_RATIO_ZLIB : MAX_RATIO;
    bool whole = false;

    if (!size || size > MAX_SIZE || size / ratio > packed_size)
        return NULL;
    uint64_t together = atomic_fetch_add(&all, size) + size;
    uint64_t packed_together = atomic_fetch_add(&all_packed, packed_size) + packed_size;
    if (together > FREE_SIZE && together / MAX_RATIO_ALL > packed_together) {
        atomic_fetch_sub(&all, size);
        atomic_fetch_sub(&all_packed, packed_size);
        return NULL;
    }
    uint8_t *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        mem_end_if_refused();
        return NULL;
    }
    switch (method) {
    case UNPACK_ZLIB: whole = unpack_zlib(packed, packed_size, data, size); break;
    case UNPACK_ZSTD: whole = unpack_zstd(packed, packed_size, data, size); break;
    case UNPACK_XZ: whole = unpack_lzma(packed, packed_size, data, size); break;
    }
    if (whole)
        return data;
    unpack_free(data, size);
    return NULL;
}

/* From the index at the end of the file: .xz format, section 2.1. */
static uint64_t xz_size(const uint8_t *packed, size_t packed_size)
{
    uint64_t most_memory = MAX_SIZE, size;
    lzma_stream_flags footer;
    lzma_index *index = NULL;

    if (packed_size < 2 * LZMA_STREAM_HEADER_SIZE)
        return 0;
    size_t end = packed_size - LZMA_STREAM_HEADER_SIZE;
    if (lzma_stream_footer_decode(&footer, packed + end) != LZMA_OK || footer.backward_size > end)
        return 0;
    size_t at = end - footer.backward_size;
    lzma_ret rc = lzma_index_buffer_decode(&index, &most_memory, NULL, packed, &at, end);
    if (rc == LZMA_MEM_ERROR)
        mem_exhausted();
    if (rc != LZMA_OK)
        return 0;
    size = lzma_index_uncompressed_size(index);
    lzma_index_end(index, NULL);
    return size;
}

uint8_t *unpack_xz(const uint8_t *packed, size_t packed_size, size_t *size)
{
    *size = xz_size(packed, packed_size);
    return unpack(UNPACK_XZ, packed, packed_size, *size);
}

uint8_t *pack(const void *data, size_t size, size_t *packed_size)
{
    size_t bound = ZSTD_compressBound(size);
    uint8_t *out = xmalloc(bound + 1);

    *packed_size = zstd_size(ZSTD_compress(out, bound, size ? data : "", size, 3));
    if (!ZSTD_isError(*packed_size))
        return out;
    free(out);
    return NULL;
}

void unpack_free(uint8_t *data, size_t size)
{
    if (data)
        munmap(data, size);
}
