/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/quantile.h"
#include "tests/unit/test.h"

/* From printed tables. */
TEST(normal)
{
    CHECK_NEAR(normal_above(0.5), 0, 1e-9);
    CHECK_NEAR(normal_above(0.025), 1.959963985, 1e-8);
    CHECK_NEAR(normal_above(0.0001), 3.719016485, 1e-8);
    CHECK_NEAR(normal_above(0.975), -1.959963985, 1e-8);
    CHECK_NEAR(normal_above(1e-9), 5.997807015, 1e-8);
}

TEST(student)
{
    CHECK_NEAR(student_above(0.025, 1), 12.7062047, 1e-7);
    CHECK_NEAR(student_above(0.025, 2), 4.30265273, 1e-7);
    CHECK_NEAR(student_above(0.005, 4), 4.60409487, 1e-7);
    CHECK_NEAR(student_above(0.0005, 10), 4.58689386, 1e-7);
    CHECK_NEAR(student_above(0.05, 30), 1.69726089, 1e-7);
    CHECK_NEAR(student_above(0.025, 1e7), 1.959964, 1e-5);
    CHECK_NEAR(student_above(0.5, 3), 0, 1e-6);
}

TEST_MAIN
