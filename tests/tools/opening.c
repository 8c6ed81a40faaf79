/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * opening DB: for the scale benchmark: three lines: the number of contexts, the milliseconds that db_open takes (the
 * median of nine), and the name of the procedure with the most contexts up to 10,000.
 */
#include "common/names.h"
#include "db/db.h"
#include "tests/unit/db_tree.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int compare(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;

    return (a > b) - (a < b);
}

static const char *busiest(const struct db *db)
{
    size_t most = 0;
    const char *name = "";

    for (uint32_t s = 0; s < db->scope_count; s++) {
        size_t n = db_tree_instances(db, s).len;

        if (db->scopes[s].kind == SCOPE_PROCEDURE && n > most && n <= 10000 &&
            !name_is_address(db_string(db, db->scopes[s].name))) {
            most = n;
            name = db_string(db, db->scopes[s].name);
        }
    }
    return name;
}

int main(int argc, char **argv)
{
    double times[9];

    if (argc != 2)
        return HQ_USAGE;
    for (int i = 0; i < 9; i++) {
        double start = now();
        struct db *db;
        struct hq_error *err = db_open(argv[1], &db);

        times[i] = now() - start;
        if (err) {
            fprintf(stderr, "opening: %s\n", err->message);
            return err->status;
        }
        if (i == 8) {
            qsort(times, 9, sizeof *times, compare);
            printf("%zu\n%.3f\n%s\n", db->context_count, times[4], busiest(db));
        }
        db_close(db);
    }
    return 0;
}
