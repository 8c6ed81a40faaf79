/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/err.h"
#include "common/cursor.h"
#include "tests/unit/test.h"
#include <errno.h>

TEST(message_and_prefix)
{
    struct hq_error *err = hq_error_new(HQ_USAGE, "no %s", "view");

    CHECK_EQ_INT(err->status, 2);
    CHECK_EQ_STR(err->message, "no view");
    err = hq_error_prefix(err, "a.hq:%d", 3);
    CHECK_EQ_STR(err->message, "a.hq:3: no view");
    CHECK_EQ_INT(err->status, 2);
    hq_error_free(err);
    CHECK(hq_error_prefix(NULL, "x") == NULL);
}

TEST(errno_text)
{
    errno = ENOENT;
    CHECK_ERROR(hq_error_errno(HQ_DATA, "%s: cannot be opened", "f"), HQ_DATA,
                "f: cannot be opened: No such file or directory");
}

TEST(no_memory_is_static)
{
    struct hq_error *err = hq_error_prefix(&hq_error_no_memory, "x");

    CHECK(err == &hq_error_no_memory);
    hq_error_free(err);
    hq_error_free(err);
    CHECK_EQ_INT(hq_error_no_memory.status, HQ_DATA);
}

static struct hq_error *tries(bool fail)
{
    HQ_TRY(fail ? hq_error_new(HQ_FAILED, "inner") : NULL);
    return hq_error_new(HQ_FAILED, "after");
}

TEST(try_returns_the_first)
{
    CHECK_ERROR(tries(true), HQ_FAILED, "inner");
    CHECK_ERROR(tries(false), HQ_FAILED, "after");
}

TEST(cursor_reads)
{
    /* Not const: gcc 12 -O2 folds the strcmp below wrongly when it can see the bytes. */
    static uint8_t data[] = {1, 2, 3, 4, 5, 0xe5, 0x8e, 0x26, 'h', 'i', 0, 7};
    struct cursor c = cursor_make("f", "s", data, sizeof data);

    CHECK_EQ_INT(cursor_u8(&c), 1);
    CHECK_EQ_INT(cursor_u32(&c), 0x05040302);
    CHECK_EQ_INT(cursor_uleb(&c), 624485);
    CHECK_EQ_STR(cursor_str(&c), "hi");
    CHECK_EQ_INT(cursor_left(&c), 1);
    cursor_seek(&c, 1);
    CHECK_EQ_INT(cursor_u16(&c), 0x0302);
    CHECK_OK(cursor_error(&c));
}

TEST(cursor_words_its_error)
{
    static const uint8_t data[6] = {0};
    struct cursor c = cursor_make("f.hq", "names", data, sizeof data);

    CHECK_EQ_INT(cursor_u32(&c), 0);
    CHECK_EQ_INT(cursor_u32(&c), 0);
    CHECK_EQ_INT(cursor_u8(&c), 0); /* stays bad although one byte is there */
    CHECK(cursor_bytes(&c, 1) == NULL);
    CHECK(cursor_str(&c) == NULL);
    CHECK_ERROR(cursor_error(&c), HQ_DATA, "f.hq: section names is cut off at offset 4");
}

TEST(cursor_believes_no_count)
{
    static const uint8_t data[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct cursor c = cursor_make("f", "s", data, sizeof data);

    CHECK(cursor_array(&c, UINT64_MAX / 4, 8) == NULL);
    c = cursor_make("f", "s", data, sizeof data);
    cursor_seek(&c, UINT64_MAX);
    CHECK_ERROR(cursor_error(&c), HQ_DATA, "points outside itself");
    c = cursor_make("f", "s", data, sizeof data);
    CHECK_EQ_INT(cursor_uleb(&c), 0);
    CHECK_ERROR(cursor_error(&c), HQ_DATA, "too long");
    c = cursor_make("f", "s", data, 4);
    CHECK(cursor_str(&c) == NULL);
    CHECK_ERROR(cursor_error(&c), HQ_DATA, "without an end");
    c = cursor_make("f", "s", NULL, 0);
    CHECK_EQ_INT(cursor_u8(&c), 0);
    CHECK_ERROR(cursor_error(&c), HQ_DATA, "cut off at offset 0");
}

TEST_MAIN
