/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/parallel.h"
#include "common/mem.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

struct team {
    size_t n;
    void (*fn)(size_t, unsigned, void *);
    void *arg;
    atomic_size_t next;
};

struct member {
    struct team *team;
    unsigned number;
    pthread_t thread;
};

unsigned parallel_threads(void)
{
    /* The kernel wants a mask at least as large as its own; EINVAL says it was too small. */
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
        size_t size = CPU_ALLOC_SIZE(cpus);
        cpu_set_t *set = CPU_ALLOC(cpus);

        if (!set)
            break;
        int rc = sched_getaffinity(0, size, set), saved = errno;
        int count = rc == 0 ? CPU_COUNT_S(size, set) : 0;

        CPU_FREE(set);
        if (count > 0)
            return (unsigned)count;
        if (saved != EINVAL)
            break;
    }
    return 1;
}

static void *work(void *arg)
{
    struct member *m = arg;
    struct team *t = m->team;
    size_t i;

    while ((i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed)) < t->n)
        t->fn(i, m->number, t->arg);
    return NULL;
}

void parallel_for(size_t n, unsigned threads, void (*fn)(size_t index, unsigned worker, void *arg), void *arg)
{
    struct team team = {.n = n, .fn = fn, .arg = arg};
    unsigned started = 1;

    if (threads == 0)
        threads = parallel_threads();
    if (threads > n)
        threads = n ? (unsigned)n : 1;
    AUTO_FREE struct member *members = xcalloc(threads, sizeof *members);

    for (unsigned i = 0; i < threads; i++)
        members[i] = (struct member){.team = &team, .number = i};
    while (started < threads && pthread_create(&members[started].thread, NULL, work, &members[started]) == 0)
        started++;
    work(&members[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(members[i].thread, NULL);
}

struct attempt {
    struct hq_error *(*fn)(size_t, unsigned, void *);
    void *arg;
    pthread_mutex_t lock;
    atomic_bool failed;
    struct hq_error *err; /* under lock: of the lowest index so far */
    size_t index;
};

static void attempt_one(size_t i, unsigned worker, void *arg)
{
    struct attempt *a = arg;

    if (atomic_load(&a->failed))
        return;
    struct hq_error *err = a->fn(i, worker, a->arg);

    if (!err)
        return;
    atomic_store(&a->failed, true);
    pthread_mutex_lock(&a->lock);
    if (!a->err || i < a->index) {
        struct hq_error *other = a->err;

        a->err = err;
        a->index = i;
        err = other;
    }
    pthread_mutex_unlock(&a->lock);
    hq_error_free(err);
}

struct hq_error *parallel_try(size_t n, unsigned threads,
                              struct hq_error *(*fn)(size_t index, unsigned worker, void *arg), void *arg)
{
    struct attempt a = {.fn = fn, .arg = arg, .lock = PTHREAD_MUTEX_INITIALIZER};

    parallel_for(n, threads, attempt_one, &a);
    pthread_mutex_destroy(&a.lock);
    return a.err;
}
