/* SPDX-License-Identifier: BSD-3-Clause */
/* LEB128 numbers at the edge of 64 bits, in the readers of files and of unwind information. */
#include "common/cursor.h"
#include "tests/unit/test.h"

static bool sleb(const char *bytes, size_t n, int64_t *out)
{
    struct cursor c = {.at = (const uint8_t *)bytes, .end = (const uint8_t *)bytes + n};

    *out = cursor_sleb(&c);
    return !c.problem;
}

#define CHECK_SLEB(bytes, want) \
    do { \
        int64_t got_; \
        CHECK(sleb(bytes, sizeof bytes - 1, &got_)); \
        CHECK(got_ == (want)); \
    } while (0)
#define CHECK_TOO_LONG(bytes) \
    do { \
        int64_t got_; \
        CHECK(!sleb(bytes, sizeof bytes - 1, &got_)); \
    } while (0)

TEST(signed_numbers)
{
    CHECK_SLEB("\x00", 0);
    CHECK_SLEB("\x7f", -1);
    CHECK_SLEB("\xff\x00", 127);
    CHECK_SLEB("\x80\x7f", -128);
    CHECK_SLEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", INT64_MAX);
    CHECK_SLEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", INT64_MIN);
    CHECK_SLEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", -1);
}

TEST(more_than_64_bits)
{
    CHECK_TOO_LONG("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    CHECK_TOO_LONG("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
    CHECK_TOO_LONG("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x40");
    CHECK_TOO_LONG("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00");
    CHECK_TOO_LONG("\x80\x80");
}

TEST_MAIN
