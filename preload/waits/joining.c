/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the threads library in which threads wait for each other. Nothing ends them early; but a thread that waits
 * in one is left alone by the timer of elapsed time, so its end has to be seen (idle.h). */
#include "preload/export.h"
#include "preload/waits/interruption.h"
#include "preload/openmp/marks.h"

#include <pthread.h>
#include <sched.h>
#include <threads.h>

EXPORT int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
    return WAITING(REAL(pthread_cond_wait)(condition, mutex));
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                  const struct timespec *restrict limit)
{
    return WAITING(REAL(pthread_cond_timedwait)(condition, mutex, limit));
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock,
                                  const struct timespec *restrict limit)
{
    return WAITING(REAL(pthread_cond_clockwait)(condition, mutex, clock, limit));
}

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return WAITING(REAL(cnd_wait)(condition, mutex));
}

EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict limit)
{
    return WAITING(REAL(cnd_timedwait)(condition, mutex, limit));
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    return WAITING(REAL(pthread_barrier_wait)(barrier));
}

EXPORT int pthread_join(pthread_t thread, void **result)
{
    return WAITING(REAL(pthread_join)(thread, result));
}

EXPORT int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *limit)
{
    return WAITING(REAL(pthread_timedjoin_np)(thread, result, limit));
}

EXPORT int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *limit)
{
    return WAITING(REAL(pthread_clockjoin_np)(thread, result, clock, limit));
}

EXPORT int thrd_join(thrd_t thread, int *result)
{
    return WAITING(REAL(thrd_join)(thread, result));
}

/* How libomp waits: whether the region was left meanwhile shall be known as often. */
EXPORT int sched_yield(void)
{
    marks_look();
    return REAL(sched_yield)();
}
