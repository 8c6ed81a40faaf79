/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/str.h"
#include "common/vec.h"
#include "tests/unit/test.h"

#define CHECK_ADDS(fn, in, want) \
    do { \
        AUTO_STR struct str out_ = {0}; \
        fn(&out_, (in)); \
        CHECK_EQ_STR(str_cstr(&out_), want); \
    } while (0)

TEST(builds)
{
    AUTO_STR struct str s = {0};

    CHECK_EQ_STR(str_cstr(&s), "");
    str_add(&s, "ab");
    str_addc(&s, 'c');
    str_addn(&s, "defg", 2);
    str_addf(&s, "%d-%s", 7, "x");
    str_repeat(&s, '.', 3);
    CHECK_EQ_STR(s.s, "abcde7-x...");
    CHECK_EQ_INT(s.len, 11);
    str_truncate(&s, 3);
    CHECK_EQ_STR(s.s, "abc");
    for (int i = 0; i < 1000; i++)
        str_addf(&s, "%04d", i);
    CHECK_EQ_INT(s.len, 4003);
    CHECK_EQ_STR(s.s + 3999, "0999");
    free(str_steal(&s));
    CHECK_EQ_INT(s.len, 0);
    char *empty = str_steal(&s);

    CHECK_EQ_STR(empty, "");
    free(empty);
}

TEST(widths)
{
    CHECK_EQ_INT(utf8_width(""), 0);
    CHECK_EQ_INT(utf8_width("abc"), 3);
    CHECK_EQ_INT(utf8_width("gr\xc3\xb6\xc3\x9f"), 4);
    CHECK_EQ_INT(utf8_width("e\xcc\x81"), 1);
    CHECK_EQ_INT(utf8_width("\xe6\x97\xa5\xe6\x9c\xac"), 4);
    CHECK_EQ_INT(utf8_width("\xff\xfe"), 2);
    CHECK_EQ_INT(utf8_width("\xe6\x97"), 2); /* cut off: two stray bytes */
    CHECK_EQ_INT(utf8_fit("\xe6\x97\xa5\xe6\x9c\xac", 3), 3);
    CHECK_EQ_INT(utf8_fit("abc", 9), 3);
    AUTO_STR struct str s = {0};

    str_pad(&s, "\xc3\xb6", 3);
    str_pad(&s, "long", 2);
    CHECK_EQ_STR(s.s, "\xc3\xb6  long");
}

TEST(quotes_json)
{
    CHECK_ADDS(json_quote, NULL, "null");
    CHECK_ADDS(json_quote, "a\"b\\c\n\t\x01", "\"a\\\"b\\\\c\\n\\t\\u0001\"");
    CHECK_ADDS(json_quote, "\xc3\xb6", "\"\xc3\xb6\"");
    CHECK_ADDS(json_quote, "\xff", "\"\\ufffd\"");
    CHECK_ADDS(json_quote, "\xc0\xaf", "\"\\ufffd\\ufffd\"");            /* overlong */
    CHECK_ADDS(json_quote, "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* surrogate */
}

TEST(quotes_csv_and_xml)
{
    CHECK_ADDS(csv_quote, "plain", "plain");
    CHECK_ADDS(csv_quote, "", "");
    CHECK_ADDS(csv_quote, "f(int, char)", "\"f(int, char)\"");
    CHECK_ADDS(csv_quote, "a\"b", "\"a\"\"b\"");
    CHECK_ADDS(csv_quote, " a", "\" a\"");
    CHECK_ADDS(xml_escape, "a<b>&\"'", "a&lt;b&gt;&amp;&quot;&apos;");
    CHECK_ADDS(xml_escape, "\x01", "\xef\xbf\xbd");
    CHECK_ADDS(xml_escape, "\xc3\xb6", "\xc3\xb6");
}

static int by_value(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

TEST(base64_pads)
{
    AUTO_STR struct str s = {0};

    /* RFC 4648, section 10 */
    base64_add(&s, "", 0);
    base64_add(&s, "f", 1);
    str_addc(&s, ' ');
    base64_add(&s, "fo", 2);
    str_addc(&s, ' ');
    base64_add(&s, "foobar", 6);
    str_addc(&s, ' ');
    base64_add(&s, "\xff\xfe\0", 3);
    CHECK_EQ_STR(str_cstr(&s), "Zg== Zm8= Zm9vYmFy //4A");
}

TEST(vectors)
{
    VEC(int) v = {0};
    static const int more[] = {5, 4};

    vec_sort(&v, by_value);
    vec_foreach(p, &v)
        TEST_FAIL("element %d in an empty vector", *p);
    for (int i = 0; i < 100; i++)
        vec_push(&v, 100 - i);
    vec_push(&v, v.data[0]);
    CHECK_EQ_INT(v.len, 101);
    CHECK_EQ_INT(vec_pop(&v), 100);
    vec_sort(&v, by_value);
    CHECK_EQ_INT(v.data[0], 1);
    CHECK_EQ_INT(vec_last(&v), 100);
    vec_remove(&v, 0);
    CHECK_EQ_INT(v.data[0], 2);
    *vec_add(&v) += 9;
    vec_append(&v, more, 2);
    CHECK_EQ_INT(v.data[99], 9);
    CHECK_EQ_INT(v.data[101], 4);
    vec_deinit(&v);
    CHECK_EQ_INT(v.cap, 0);
}

TEST_MAIN
