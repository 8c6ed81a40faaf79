/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/units.h"
#include "tests/unit/test.h"

struct literal {
    const char *text;
    double value;
    enum dim dim;
    bool percent;
};

TEST(parses)
{
    static const struct literal rows[] = {
        {"10%", 0.1, DIM_NONE, true},
        {"1.5s", 1.5, DIM_SECONDS, false},
        {"200ms", 0.2, DIM_SECONDS, false},
        {"3us", 3e-6, DIM_SECONDS, false},
        {"3\xc2\xb5s", 3e-6, DIM_SECONDS, false},
        {"5ns", 5e-9, DIM_SECONDS, false},
        {"4K", 4000, DIM_NONE, false},
        {"2MiB", 2097152, DIM_BYTES, false},
        {"2MB", 2e6, DIM_BYTES, false},
        {"1e6", 1e6, DIM_NONE, false},
        {"1.5e-3s", 0.0015, DIM_SECONDS, false},
        {"2h", 7200, DIM_SECONDS, false},
        {"3min", 180, DIM_SECONDS, false},
        {"1d", 86400, DIM_SECONDS, false},
        {".5", 0.5, DIM_NONE, false},
        {"0", 0, DIM_NONE, false},
        {"64B", 64, DIM_BYTES, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct quantity q;

        CHECK_OK(units_parse(rows[i].text, &q));
        if (q.value != rows[i].value || q.dim != rows[i].dim || q.percent != rows[i].percent)
            TEST_FAIL("%s: %.17g %d %d", rows[i].text, q.value, (int)q.dim, q.percent);
        CHECK_EQ_INT(units_scan(rows[i].text), strlen(rows[i].text));
    }
}

TEST(refuses)
{
    struct quantity q;

    CHECK_ERROR(units_parse("", &q), HQ_USAGE, "is not a number");
    CHECK_ERROR(units_parse("x", &q), HQ_USAGE, "is not a number");
    CHECK_ERROR(units_parse("-1", &q), HQ_USAGE, "is not a number");
    CHECK_ERROR(units_parse(".", &q), HQ_USAGE, "is not a number");
    CHECK_ERROR(units_parse("inf", &q), HQ_USAGE, "is not a number");
    CHECK_ERROR(units_parse("5 s", &q), HQ_USAGE, "unknown unit \" s\"");
    CHECK_ERROR(units_parse("5parsec", &q), HQ_USAGE, "unknown unit \"parsec\"");
    CHECK_ERROR(units_parse("0x10", &q), HQ_USAGE, "unknown unit \"x10\"");
    CHECK_ERROR(units_parse("5m", &q), HQ_USAGE, "unknown unit \"m\"");
    CHECK_ERROR(units_parse("1e999", &q), HQ_USAGE, "too large");
    CHECK_ERROR(units_parse("1e-400", &q), HQ_USAGE, "too small");
    CHECK_ERROR(units_parse("0.001e-306ns", &q), HQ_USAGE, "too small");
    CHECK_OK(units_parse("0.00e-400s", &q));
    CHECK_OK(units_parse("1e-307", &q));
}

TEST(scans_a_prefix)
{
    struct quantity q;

    CHECK_EQ_INT(units_scan("10%) and"), 3);
    CHECK_EQ_INT(units_scan("4*cycles"), 1);
    CHECK_EQ_INT(units_scan("1..2"), 1);
    CHECK_EQ_INT(units_scan("1e"), 2);
    CHECK_EQ_INT(units_scan("name"), 0);
    CHECK_OK(units_parse_n("10%) and", 3, &q));
    CHECK(q.percent && q.value == 0.1);
}

TEST(counts_and_times)
{
    uint64_t n = 0;
    double s = 0;

    CHECK_OK(units_parse_count("1e6", &n));
    CHECK_EQ_INT(n, 1000000);
    CHECK_OK(units_parse_count("9007199254740993", &n));
    CHECK_EQ_INT(n, 9007199254740993);
    CHECK_OK(units_parse_count("2MiB", &n));
    CHECK_EQ_INT(n, 2097152);
    CHECK_ERROR(units_parse_count("0", &n), HQ_USAGE, "whole number above 0");
    CHECK_ERROR(units_parse_count("1.5", &n), HQ_USAGE, "whole number above 0");
    CHECK_ERROR(units_parse_count("5s", &n), HQ_USAGE, "whole number above 0");
    CHECK_ERROR(units_parse_count("1e30", &n), HQ_USAGE, "whole number above 0");
    CHECK_OK(units_parse_seconds("200ms", &s));
    CHECK(s == 0.2);
    CHECK_ERROR(units_parse_seconds("5MiB", &s), HQ_USAGE, "is not a time");
}

TEST(periods)
{
    uint64_t ns = 0;

    CHECK_OK(units_parse_period("200/s", &ns));
    CHECK_EQ_INT(ns, 5000000);
    CHECK_OK(units_parse_period("1kHz", &ns));
    CHECK_EQ_INT(ns, 1000000);
    CHECK_OK(units_parse_period("5ms", &ns));
    CHECK_EQ_INT(ns, 5000000);
    CHECK_ERROR(units_parse_period("0/s", &ns), HQ_USAGE, "neither a rate");
    CHECK_ERROR(units_parse_period("0s", &ns), HQ_USAGE, "neither a rate");
    CHECK_ERROR(units_parse_period("200", &ns), HQ_USAGE, "neither a rate");
    CHECK_ERROR(units_parse_period("1e300/s", &ns), HQ_USAGE, "neither a rate");
    CHECK_ERROR(units_parse_period("fast", &ns), HQ_USAGE, "neither a rate");
}

#define CHECK_FORMAT(value, dim, want) \
    do { \
        char out_[UNITS_TEXT]; \
        CHECK_EQ_STR(units_format(out_, (value), (dim)), want); \
    } while (0)

TEST(formats)
{
    CHECK_FORMAT(1.25, DIM_SECONDS, "1.25 s");
    CHECK_FORMAT(0.312, DIM_SECONDS, "312 ms");
    CHECK_FORMAT(0.9999, DIM_SECONDS, "1 s");
    CHECK_FORMAT(-0.0000025, DIM_SECONDS, "-2.5 us");
    CHECK_FORMAT(1234.4, DIM_SECONDS, "1234 s");
    CHECK_FORMAT(0, DIM_SECONDS, "0 s");
    CHECK_FORMAT(4.2 * 1048576, DIM_BYTES, "4.2 MiB");
    CHECK_FORMAT(1000, DIM_BYTES, "1000 B");
    CHECK_FORMAT(1024, DIM_BYTES, "1 KiB");
    CHECK_FORMAT(1.3e9, DIM_EVENTS, "1.3e+09");
    CHECK_FORMAT(123456, DIM_EVENTS, "123456");
    CHECK_FORMAT(0.3333, DIM_NONE, "0.333");
    CHECK_FORMAT(-0.0, DIM_NONE, "0");
    CHECK_FORMAT(NAN, DIM_SECONDS, "");
    CHECK_FORMAT(INFINITY, DIM_BYTES, "");
    CHECK_FORMAT(1.7e308, DIM_BYTES, "1.51e+293 PiB");
}

TEST(what_is_counted_is_whole)
{
    static const struct {
        double value;
        enum dim dim;
        const char *text;
    } cases[] = {{6036004, DIM_EVENTS, "6036004"}, {100600, DIM_BYTES, "100600 B"}, {-0.0, DIM_EVENTS, "0"},
                 {2e9, DIM_EVENTS, "2e+09"},       {0.5, DIM_EVENTS, "0.5"},        {2, DIM_SECONDS, "2 s"}};
    char out[UNITS_TEXT];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_EQ_STR(units_format_counted(out, cases[i].value, cases[i].dim), cases[i].text);
}

TEST_MAIN
