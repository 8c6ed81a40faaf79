/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/report/page_pack.h"
#include "tests/unit/test.h"

#include <string.h>

TEST(numbers_are_coded_as_in_a_database)
{
    struct pack p = {0};

    pack_begin(&p, "a");
    pack_add(&p, 0);
    pack_add(&p, 127);
    pack_add(&p, 128);
    pack_end(&p);
    pack_begin(&p, "b");
    pack_add_signed(&p, 0);
    pack_add_signed(&p, -1);
    pack_add_signed(&p, 1);
    pack_add_signed(&p, INT64_MIN);
    pack_end(&p);
    CHECK_EQ_STR(str_cstr(&p.index), "\"a\":[0,4],\"b\":[4,13]");
    CHECK(p.bytes.len == 17);
    CHECK(!memcmp(p.bytes.s, "\x00\x7f\x80\x01\x00\x01\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 17));
    pack_deinit(&p);
}

TEST(a_pack_begins_with_its_json)
{
    struct pack p = {0};
    AUTO_STR struct str s = {0};

    pack_begin(&p, "a");
    pack_add(&p, 5);
    pack_end(&p);
    pack_join(&p, "{}", &s);
    CHECK(s.len == 15 && !memcmp(s.s, "hqpage1\n\x02\0\0\0{}\x05", 15));
    pack_deinit(&p);
}

TEST_MAIN
