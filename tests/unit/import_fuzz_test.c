/* SPDX-License-Identifier: BSD-3-Clause */
/* A few hundred damaged files of every format; build/tools/fuzz_import goes on for as long as it is told. */
#include "tests/unit/test.h"

#include "common/file.h"
#include "common/mem.h"
#include "db/import/import.h"
#include "tests/unit/import_fuzz.h"

enum { ROUNDS = 150 };

/* A build without yajl reads no JSON, and says so. */
static bool cannot_be_read(const char *problem)
{
#ifdef HQ_HAVE_YAJL
    (void)problem;
    return false;
#else
    return strstr(problem, "built without yajl") != NULL;
#endif
}

TEST(every_format_has_seeds_that_import)
{
    for (const struct import_format *f = import_formats; f->name; f++) {
        AUTO_FREE char *dir = test_tmpdir();

        CHECK(import_fuzz_seed(f->name, 0));
        for (size_t i = 0; import_fuzz_seed(f->name, i); i++) {
            AUTO_FREE char *problem = import_fuzz_round(f->name, i, NULL, dir);

            if (problem && !cannot_be_read(problem))
                TEST_FAIL("%s, seed %zu: %s", f->name, i, problem);
        }
        hq_error_free(file_remove_tree(dir));
    }
}

TEST(damaged_files_do_no_harm)
{
    for (const struct import_format *f = import_formats; f->name; f++) {
        AUTO_FREE char *dir = test_tmpdir();
        uint64_t state = 1;

        for (size_t i = 0; import_fuzz_seed(f->name, i); i++) {
            for (int k = 0; k < ROUNDS; k++) {
                uint64_t before = state;
                AUTO_FREE char *problem = import_fuzz_round(f->name, i, &state, dir);

                if (problem)
                    TEST_FAIL("%s, seed %zu, state %llu: %s", f->name, i, (unsigned long long)before, problem);
            }
        }
        hq_error_free(file_remove_tree(dir));
    }
}

TEST_MAIN
