/* SPDX-License-Identifier: BSD-3-Clause */
/* Call frame information that no compiler writes. */
#include "tests/unit/test.h"
#include "unwind/cfi.h"

#include <string.h>

enum { CODE = 64, ROOM = 512, DATA_ALIGN = 0x78 /* -8 */ };

/* A load module: a sorted table of one function, what it and its like have in common, and its description. */
static struct module_data {
    uint8_t code[CODE];
    uint8_t header[20];
    uint8_t frames[ROOM];
} data;
static size_t used;

static void put(const void *bytes, size_t count)
{
    memcpy(data.frames + used, bytes, count);
    used += count;
}

static void put_number(int64_t value)
{
    int32_t narrow = (int32_t)value;

    put(&narrow, sizeof narrow);
}

static void set_number(uint8_t *at, int64_t value)
{
    int32_t narrow = (int32_t)value;

    memcpy(at, &narrow, sizeof narrow);
}

/* Is the function with these instructions, which hold from its start on, described? */
static bool is_found(const char *instructions, size_t count, struct cfi *cfi)
{
    static struct index none;
    struct index index = none;
    struct code code = {1, data.header, &index, (uint64_t)&data, (uint64_t)(&data + 1)};
    const uint8_t common[] = {1, 0, 1, DATA_ALIGN, CFI_RETURN}; /* version 1, no augmentation */
    uint64_t start = (uint64_t)data.code, length = CODE;

    used = 0;
    memset(data.frames, 0, sizeof data.frames);
    put_number(4 + sizeof common);
    put_number(0);
    put(common, sizeof common);
    size_t description = used;
    put_number((int64_t)(4 + 16 + count));
    put_number((int64_t)description + 4);
    put(&start, sizeof start);
    put(&length, sizeof length);
    put(instructions, count);

    memcpy(data.header, (uint8_t[]){1, 0x1b, 0x03, 0x3b}, 4); /* relative, 4 bytes; a count; relative to the header */
    set_number(data.header + 4, data.frames - (data.header + 4));
    set_number(data.header + 8, 1);
    set_number(data.header + 12, data.code - data.header);
    set_number(data.header + 16, data.frames + description - data.header);
    memset(cfi, 0, sizeof *cfi);
    return cfi_find(start + 8, &code, cfi);
}

#define FOUND(instructions) is_found(instructions, sizeof(instructions) - 1, &cfi)

#define HUGE_NUMBER "\xff\xff\xff\xff\xff\xff\xff\x3f"         /* 2^55 - 1; signed too */
#define MOST_NUMBER "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00" /* 2^63 - 1 */

TEST(offsets)
{
    struct cfi cfi;

    CHECK(FOUND("\x0c\x07\x10\x83\x02")); /* the frame begins at register 7 + 16, register 3 is saved at -16 */
    CHECK_EQ_INT(cfi.row.cfa_register, 7);
    CHECK_EQ_INT(cfi.row.cfa_value, 16);
    CHECK_EQ_INT(cfi.row.rule[3], CFI_OFFSET);
    CHECK_EQ_INT(cfi.row.value[3], -16);
    CHECK(FOUND("\x12\x07\x7e")); /* in data alignments: -2 */
    CHECK_EQ_INT(cfi.row.cfa_value, 16);
}

/* No stack is that large, and what fits into 32 bits of it is another offset. */
TEST(offsets_that_are_too_large)
{
    struct cfi cfi;

    CHECK(!FOUND("\x0e" HUGE_NUMBER));
    CHECK(!FOUND("\x0c\x07" HUGE_NUMBER));
    CHECK(!FOUND("\x12\x07" HUGE_NUMBER));
    CHECK(!FOUND("\x12\x07" MOST_NUMBER));
    CHECK(!FOUND("\x13" MOST_NUMBER));
    CHECK(!FOUND("\x83" HUGE_NUMBER));
    CHECK(!FOUND("\x83" MOST_NUMBER));
    CHECK(!FOUND("\x2f\x03" MOST_NUMBER));
}

TEST_MAIN
