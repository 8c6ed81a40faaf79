/* SPDX-License-Identifier: BSD-3-Clause */
/* A device's clock whose offset and drift are known, from what is seen of it on the host's. */
#include "db/build/device_clock.h"
#include "tests/unit/test.h"

#include <math.h>

static uint64_t of_device(uint64_t host)
{
    return 7000000000u + host + host / 10000;
}

/* Commands every 10 ms, of which the host knows each instant only to 200 us. */
static void add_commands(struct device_clock *c)
{
    for (uint64_t at = 1000000; at < 1000000000; at += 10000000)
        device_clock_bound(c, at - 100000, at + 100000, of_device(at), of_device(at + 5000000), at + 5200000);
}

static double worst_of(const struct device_clock *c)
{
    double worst = 0;

    for (uint64_t at = 1000000; at < 1000000000; at += 1000000)
        worst = fmax(worst, fabs((double)((int64_t)device_clock_host(c, of_device(at)) - (int64_t)at)));
    return worst;
}

TEST(commands)
{
    struct device_clock c = {0};

    add_commands(&c);
    device_clock_fit(&c);
    CHECK(c.error > 0 && c.error <= 201000);
    CHECK(worst_of(&c) <= c.error + 2);
    device_clock_deinit(&c);
}

/* Of very many commands the tightest bounds are kept: here those of one in a thousand, the others are a hundred times
 * as wide. */
TEST(many_commands)
{
    struct device_clock c = {0};

    for (uint64_t i = 0, at = 1000000; i < 100000; i++, at += 10000) {
        uint64_t off = i % 1000 ? 1000000 : 10000;

        device_clock_bound(&c, at - off, at + off, of_device(at), of_device(at + 5000), at + 5000 + off);
    }
    device_clock_fit(&c);
    CHECK(c.error > 0 && c.error <= 11000);
    CHECK(worst_of(&c) <= c.error + 2);
    device_clock_deinit(&c);
}

/* Readings narrow it, wherever they stand; without any command they do too. */
TEST(readings)
{
    for (int with = 0; with < 2; with++) {
        struct device_clock c = {0};

        if (with)
            add_commands(&c);
        for (uint64_t at = 1000000; at < 1100000000; at += 100000000)
            device_clock_pair(&c, at - 500, at + 500, of_device(at));
        device_clock_fit(&c);
        CHECK(c.error > 0 && c.error <= 2000);
        CHECK(worst_of(&c) <= c.error + 2);
        device_clock_deinit(&c);
    }
}

/* A driver that tells of another clock is not believed. */
TEST(readings_of_another_clock)
{
    struct device_clock c = {0};

    for (uint64_t at = 1000000; at < 1100000000; at += 100000000)
        device_clock_pair(&c, at - 500, at + 500, 3 * at);
    add_commands(&c);
    device_clock_fit(&c);
    CHECK(c.error > 0 && c.error <= 201000);
    CHECK(worst_of(&c) <= c.error + 2);
    device_clock_deinit(&c);
}

TEST_MAIN
