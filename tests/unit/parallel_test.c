/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/log.h"
#include "common/mem.h"
#include "common/parallel.h"
#include "common/progress.h"
#include "common/str.h"
#include "tests/unit/test.h"
#include <stdatomic.h>

enum { N = 2000, THREADS = 4 };

struct count {
    atomic_int calls[N];
    atomic_int bad_worker;
    struct progress progress;
};

static void count_one(size_t i, unsigned worker, void *arg)
{
    struct count *c = arg;

    atomic_fetch_add(&c->calls[i], 1);
    if (worker >= THREADS)
        atomic_store(&c->bad_worker, 1);
    progress_add(&c->progress, 1);
}

TEST(every_piece_once)
{
    static struct count c;

    progress_start(&c.progress, "counting", N, true);
    parallel_for(N, THREADS, count_one, &c);
    CHECK_EQ_INT(atomic_load(&c.progress.done), N);
    progress_finish(&c.progress);
    for (int i = 0; i < N; i++)
        CHECK_EQ_INT(atomic_load(&c.calls[i]), 1);
    CHECK_EQ_INT(atomic_load(&c.bad_worker), 0);
    parallel_for(0, 0, count_one, &c);
    parallel_for(1, 0, count_one, &c);
    CHECK_EQ_INT(atomic_load(&c.calls[0]), 2);
    CHECK(parallel_threads() >= 1);
}

static struct hq_error *fail_from(size_t i, unsigned worker, void *arg)
{
    (void)worker;
    return i >= *(size_t *)arg ? hq_error_new(HQ_DATA, "piece %zu", i) : NULL;
}

TEST(the_first_error_is_returned)
{
    size_t first = 10, never = N;

    CHECK_ERROR(parallel_try(N, 1, fail_from, &first), HQ_DATA, "piece 10");
    /* Pieces are handed out in order: of several that fail, one among the first THREADS is lowest. */
    for (int round = 0; round < 50; round++) {
        struct hq_error *err = parallel_try(N, THREADS, fail_from, &first);
        int piece = -1;

        CHECK(err && sscanf(err->message, "piece %d", &piece) == 1 && piece >= 10 && piece < 10 + THREADS);
        hq_error_free(err);
    }
    CHECK_OK(parallel_try(N, THREADS, fail_from, &never));
}

/* The lines of all messages at a level; the caller frees them. */
static char *said_at(enum log_level level)
{
    FILE *real = stderr;
    char *text = NULL;
    size_t size;

    log_set_level(level);
    stderr = open_memstream(&text, &size);
    log_warn("w%d", 1);
    log_note("n\nof a name");
    log_hint("h");
    log_verbose("v");
    fclose(stderr);
    stderr = real;
    log_set_level(LEVEL_NORMAL);
    return text;
}

TEST(log_levels)
{
    AUTO_FREE char *quiet = said_at(LEVEL_QUIET), *normal = said_at(LEVEL_NORMAL), *verbose = said_at(LEVEL_VERBOSE);

    CHECK_EQ_STR(quiet, "hq: warning: w1\n");
    CHECK_EQ_STR(normal, "hq: warning: w1\nhq: n?of a name\nhq: hint: h\n");
    CHECK_EQ_STR(verbose, "hq: warning: w1\nhq: n?of a name\nhq: hint: h\nhq: v\n");
}

TEST_MAIN
