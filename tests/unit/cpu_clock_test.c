/* SPDX-License-Identifier: BSD-3-Clause */
/* Each clock and each reason is said once, whatever the processes' order and number. */
#include "db/cpu_clock.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <string.h>

static struct hqm_header header(enum hqm_clock clock, int error, unsigned timer_threads)
{
    return (struct hqm_header){
        .minor = HQM_MINOR, .cpu_clock = clock, .cpu_clock_error = (uint32_t)error, .timer_threads = timer_threads};
}

static const char *described(const struct hqm_header *headers, size_t count)
{
    static struct str text;
    struct clock_use use = {0};

    str_clear(&text);
    for (size_t i = 0; i < count; i++)
        clock_use_add(&use, &headers[i]);
    clock_describe(&use, &text);
    return str_cstr(&text);
}

static unsigned occurrences(const char *text, const char *part)
{
    unsigned n = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

TEST(each_once)
{
    struct hqm_header perf = header(HQM_CLOCK_PERF, 0, 0), some = header(HQM_CLOCK_PERF, 0, 3);
    struct hqm_header user = header(HQM_CLOCK_PERF_USER, 0, 0), none = header(HQM_CLOCK_TIMER, 0, 0);
    struct hqm_header busy = header(HQM_CLOCK_TIMER, EBUSY, 0), forbidden = header(HQM_CLOCK_TIMER, EACCES, 0);
    struct hqm_header same = header(HQM_CLOCK_TIMER, EPERM, 0), unknown = header(HQM_CLOCK_UNKNOWN, 0, 0);
    struct hqm_header all[] = {forbidden, busy, same, perf, busy, user, some, unknown};
    struct hqm_header old = none, two[] = {busy, perf};
    const char *text;

    CHECK_EQ_STR(described(&perf, 1), "the kernel's software clock");
    CHECK_EQ_STR(described(&unknown, 1), "");
    CHECK(!strncmp(described(&some, 1), "the kernel's software clock; in some threads timers, which", 58));
    CHECK(!strncmp(described(&none, 1), "timers, which", 13));
    CHECK(!strstr(described(&none, 1), "("));
    CHECK(strstr(described(&busy, 1), " (a debugger takes"));
    old.minor = 1;
    old.cpu_clock = HQM_CLOCK_PERF;
    CHECK(!strncmp(described(&old, 1), "timers, which", 13));

    text = described(two, 2);
    CHECK(!strncmp(text, "the kernel's software clock; in some processes timers, which", 60));
    CHECK(strstr(text, " (a debugger takes"));

    text = described(all, sizeof all / sizeof *all);
    CHECK(occurrences(text, "timers, which") == 1);
    CHECK(occurrences(text, "a debugger takes") == 1);
    CHECK(occurrences(text, "is not permitted") == 1);
    CHECK(occurrences(text, "user mode;") == 1);
    CHECK(strstr(text, "in some processes and threads timers"));
    CHECK(strstr(text, "; elsewhere "));
    CHECK(!strncmp(text, "the kernel's software clock;", 28));
}

TEST_MAIN
