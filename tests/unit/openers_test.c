/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that compilers give to the bodies of regions and tasks, and whose these are. */
#include "tests/unit/test.h"

#include "common/mem.h"
#include "db/build/attribution.h"

static void check_base(const char *name, const char *want)
{
    size_t base = 0;
    AUTO_FREE char *got = opener_split_name(name, &base) ? xstrndup(name, base) : xstrdup("no body");

    CHECK_EQ_STR(got, want);
}

TEST(names_of_bodies)
{
    check_base("smooth._omp_fn.0", "smooth");
    check_base("smooth(double) [clone ._omp_fn.0]", "smooth(double)");
    check_base("plain_._omp_fn.12", "plain_");
    check_base("scale._loopfn.0", "scale");
    check_base("scale(double) [clone ._loopfn.0]", "scale(double)");
    check_base(".omp_outlined.", "");
    check_base(".omp_outlined._debug__.1", "");
    check_base("smooth.omp_outlined", "smooth");
    check_base("smooth.omp_outlined_debug__", "smooth");
    check_base("smooth() [clone .omp_outlined]", "smooth()");
    check_base("smooth() [clone .omp_outlined.3]", "smooth()");
    check_base(".omp_task_entry..5", "");
    check_base("_QQmain..omp_par.4", "_QQmain");
    check_base("smooth.DIR.OMP.PARALLEL.LOOP.2.split41", "smooth");
    check_base("smooth", "no body");
    check_base("smooth() [clone .isra.0]", "no body");
}

TEST_MAIN
