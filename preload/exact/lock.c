/* SPDX-License-Identifier: BSD-3-Clause */
/* LOCK_WAIT: the time a thread is blocked in a mutex, a condition variable or a rwlock. A lock that is free costs one
 * attempt and is not counted. */
#include "preload/exact/exact.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

static int64_t now(void)
{
    return (int64_t)hq_exact_now();
}

static void count_wait(const void *function, int64_t since)
{
    struct exact_amount amount = {.event = EVENT("LOCK_WAIT"), .amount = (uint64_t)(now() - since), .count = 1};

    if (amount.event >= 0)
        hq_exact_add(function, &amount, 1);
}

#define LOCK(attempt, function, ...) LOCK_UNLESS(EBUSY, attempt, function, __VA_ARGS__)

#define LOCK_UNLESS(busy, attempt, function, ...) \
    do { \
        int error_ = attempt; \
        if (error_ != (busy)) \
            return error_; \
        int64_t since_ = now(); \
        error_ = REAL(function)(__VA_ARGS__); \
        count_wait(REAL(function), since_); \
        return error_; \
    } while (0)

#define WAIT(function, ...) \
    do { \
        int64_t since_ = now(); \
        int error_ = REAL(function)(__VA_ARGS__); \
        count_wait(REAL(function), since_); \
        return error_; \
    } while (0)

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    LOCK(REAL(pthread_mutex_trylock)(mutex), pthread_mutex_lock, mutex);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict limit)
{
    LOCK(REAL(pthread_mutex_trylock)(mutex), pthread_mutex_timedlock, mutex, limit);
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    LOCK(REAL(pthread_rwlock_tryrdlock)(lock), pthread_rwlock_rdlock, lock);
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    LOCK(REAL(pthread_rwlock_trywrlock)(lock), pthread_rwlock_wrlock, lock);
}

EXPORT int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
    WAIT(pthread_cond_wait, condition, mutex);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                  const struct timespec *restrict limit)
{
    WAIT(pthread_cond_timedwait, condition, mutex, limit);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock,
                                  const struct timespec *restrict limit)
{
    WAIT(pthread_cond_clockwait, condition, mutex, clock, limit);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
                                   const struct timespec *restrict limit)
{
    LOCK(REAL(pthread_mutex_trylock)(mutex), pthread_mutex_clocklock, mutex, clock, limit);
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict limit)
{
    LOCK(REAL(pthread_rwlock_tryrdlock)(lock), pthread_rwlock_timedrdlock, lock, limit);
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict limit)
{
    LOCK(REAL(pthread_rwlock_trywrlock)(lock), pthread_rwlock_timedwrlock, lock, limit);
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                      const struct timespec *restrict limit)
{
    LOCK(REAL(pthread_rwlock_tryrdlock)(lock), pthread_rwlock_clockrdlock, lock, clock, limit);
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                      const struct timespec *restrict limit)
{
    LOCK(REAL(pthread_rwlock_trywrlock)(lock), pthread_rwlock_clockwrlock, lock, clock, limit);
}

/* Those of C11 do not call those of POSIX by their names. */
EXPORT int mtx_lock(mtx_t *mutex)
{
    LOCK_UNLESS(thrd_busy, REAL(mtx_trylock)(mutex), mtx_lock, mutex);
}

EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict limit)
{
    LOCK_UNLESS(thrd_busy, REAL(mtx_trylock)(mutex), mtx_timedlock, mutex, limit);
}

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    WAIT(cnd_wait, condition, mutex);
}

EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict limit)
{
    WAIT(cnd_timedwait, condition, mutex, limit);
}
