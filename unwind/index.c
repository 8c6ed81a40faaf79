/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/index.h"

#include "unwind/cfi.h"
#include "unwind/sections.h"

#include <stdatomic.h>

enum { ROWS_A_BUCKET = 4, ROWS_A_SEARCH = 256, FEW_ROWS = 1024 };
enum { ANY_TABLE = 0x3b }; /* sorted, and searchable: data-relative, four bytes, signed */

static uint32_t none;
#define NEVER (&none)

/* Fills in all but the buckets. */
static COLD bool read_header(struct index *index, const uint8_t *header, uint64_t end)
{
    struct cfi_cursor cursor = {header, (const uint8_t *)end, false};
    uint64_t version = cfi_fixed(&cursor, 1), count;
    uint8_t frame_encoding = (uint8_t)cfi_fixed(&cursor, 1), count_encoding = (uint8_t)cfi_fixed(&cursor, 1),
            table_encoding = (uint8_t)cfi_fixed(&cursor, 1);

    if (version != 1 || frame_encoding == CFI_OMITTED || count_encoding == CFI_OMITTED || table_encoding != ANY_TABLE)
        return false;
    cfi_pointer(&cursor, frame_encoding, (uint64_t)header);
    count = cfi_pointer(&cursor, count_encoding, (uint64_t)header);
    if (cursor.bad || count == 0 || count > (uint64_t)(cursor.end - cursor.at) / 8 || count > UINT32_MAX / 2 ||
        (uintptr_t)cursor.at % sizeof(int32_t))
        return false;
    index->rows = (const int32_t(*)[2])cursor.at;
    index->count = (uint32_t)count;
    index->first = index->rows[0][0];
    index->last = index->rows[count - 1][0];
    __atomic_store_n(&index->header, header, __ATOMIC_RELEASE);
    return true;
}

/* By the time that so many were searched the pages of the table have mostly been touched. Whoever loses the exchange
 * has had the work for nothing. */
static COLD void make_buckets(struct index *index)
{
    uint64_t range = (uint64_t)((int64_t)index->last - index->first), buckets, next = 0;
    uint32_t shift = 0, *made, *expected = NULL;

    while (range >> shift >= index->count / ROWS_A_BUCKET + 1)
        shift++;
    buckets = (range >> shift) + 2;
    made = index_memory(buckets * sizeof *made);
    if (!made)
        return;
    for (uint32_t row = 0; row < index->count; row++)
        for (uint64_t bucket = (uint64_t)((int64_t)index->rows[row][0] - index->first) >> shift;
             next <= bucket && next < buckets; next++)
            made[next] = row;
    for (; next < buckets; next++)
        made[next] = index->count;
    index->shift = shift;
    if (!atomic_compare_exchange_strong(&index->buckets, &expected, made))
        index_give_back(made, buckets * sizeof *made);
}

LEARN const uint8_t *index_find(struct index *index, const uint8_t *header, uint64_t end, uint64_t address)
{
    int64_t wanted = (int64_t)(address - (uint64_t)header);
    uint32_t *buckets = atomic_load_explicit(&index->buckets, memory_order_acquire);
    uint64_t low = 0, high;

    if (__atomic_load_n(&index->header, __ATOMIC_ACQUIRE) != header && !read_header(index, header, end))
        return NULL;
    if (wanted < index->first)
        return NULL;
    high = index->count - 1;
    if (wanted >= index->last) {
        low = high;
    } else if (buckets && buckets != NEVER) {
        uint64_t bucket = (uint64_t)(wanted - index->first) >> index->shift;
        low = buckets[bucket] ? buckets[bucket] - 1 : 0;
        high = buckets[bucket + 1] < high ? buckets[bucket + 1] : high;
    } else if (!buckets && index->count >= FEW_ROWS && ++index->searches > index->count / ROWS_A_SEARCH) {
        make_buckets(index);
    }
    while (low + 1 < high) {
        uint64_t middle = (low + high) / 2;
        if (wanted < index->rows[middle][0])
            high = middle;
        else
            low = middle;
    }
    return header + index->rows[low][1];
}

COLD uint64_t index_next(struct index *index, const uint8_t *header, uint64_t end, uint64_t address)
{
    int64_t wanted = (int64_t)(address - (uint64_t)header);
    uint64_t low = 0, high;

    if (__atomic_load_n(&index->header, __ATOMIC_ACQUIRE) != header && !read_header(index, header, end))
        return 0;
    for (high = index->count; low < high;) {
        uint64_t middle = (low + high) / 2;
        if (wanted < index->rows[middle][0])
            high = middle;
        else
            low = middle + 1;
    }
    return low < index->count ? (uint64_t)header + (uint64_t)(int64_t)index->rows[low][0] : 0;
}

void index_forget(struct index *index)
{
    atomic_store(&index->buckets, NEVER);
    __atomic_store_n(&index->header, NULL, __ATOMIC_RELEASE);
}
