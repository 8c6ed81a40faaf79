/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector's search for the description of an address, with and without buckets, against the tables of what this
 * program has loaded. */
#include "unwind/index.h"
#include "tests/unit/test.h"
#include <link.h>
#include <string.h>

enum { ROUNDS = 3000 };

static const uint8_t *expected(const uint8_t *header, const int32_t (*rows)[2], uint32_t count, uint64_t address)
{
    int64_t wanted = (int64_t)(address - (uint64_t)header);
    const uint8_t *found = NULL;

    for (uint32_t i = 0; i < count && rows[i][0] <= wanted; i++)
        found = header + rows[i][1];
    return found;
}

/* Addresses on functions, just before them, within, and beyond both ends. */
static uint64_t some_address(const uint8_t *header, const int32_t (*rows)[2], uint32_t count, uint32_t round)
{
    uint32_t row = round < 2 ? round * (count - 1) : (uint32_t)((round * 2654435761u) % count);
    static const int32_t away[] = {0, -1, 1, 5, 4096, -100000};

    return (uint64_t)header + (uint64_t)(int64_t)(rows[row][0] + away[round % 6]);
}

static int checked, many;

static int search_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct index index = {0};
    int wrong = 0, with_buckets = 0;

    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uint8_t *header = (const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        uint64_t end = (uint64_t)header + info->dlpi_phdr[i].p_memsz;
        uint32_t count;

        if (info->dlpi_phdr[i].p_type != PT_GNU_EH_FRAME || header[1] != 0x1b || header[2] != 0x03 || header[3] != 0x3b)
            continue;
        memcpy(&count, header + 8, sizeof count);
        const int32_t(*rows)[2] = (const int32_t(*)[2])(header + 12);
        for (uint32_t round = 0; count && round < ROUNDS; round++) {
            uint64_t address = some_address(header, rows, count, round);
            wrong += index_find(&index, header, end, address) != expected(header, rows, count, address);
            with_buckets += index.buckets != NULL;
        }
        CHECK(wrong == 0);
        many += with_buckets > 0 && with_buckets < ROUNDS;
        CHECK(with_buckets == 0 || count >= 1024);
        index_forget(&index);
        for (uint32_t round = 0; count && round < ROUNDS; round++)
            wrong += index_find(&index, header, end, some_address(header, rows, count, round)) !=
                     expected(header, rows, count, some_address(header, rows, count, round));
        CHECK(wrong == 0);
        checked++;
    }
    return 0;
}

TEST(every_object_of_this_program)
{
    dl_iterate_phdr(search_object, NULL);
    CHECK(checked >= 2);
    CHECK(many >= 1); /* the C library, for one */
}

TEST(no_table)
{
    static const uint8_t other_version[16] = {2, 0x1b, 0x03, 0x3b}, unsorted[16] = {1, 0x1b, 0x03, 0xff},
                         empty[16] = {1, 0x1b, 0x03, 0x3b}, too_long[16] = {1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0, 9};
    const uint8_t *bad[] = {other_version, unsorted, empty, too_long};

    for (int i = 0; i < 4; i++) {
        struct index index = {0};
        CHECK(!index_find(&index, bad[i], (uint64_t)bad[i] + 16, (uint64_t)bad[i] + 100));
    }
}

TEST_MAIN
