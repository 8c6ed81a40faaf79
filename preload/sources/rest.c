/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/sources/rest.h"

#include "preload/arch/arch.h"
#include "preload/options.h"
#include "preload/walk/vdso.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* Threads that end at the same time, and nobody begins: what is beyond is dropped, which changes nothing on average. */
enum { KEPT = 64 };

static _Atomic int64_t kept[EVENTS_MAX][KEPT]; /* twice, and 1; 0: none */

/* Without a call of the kernel, which has given each program 16 random bytes; a forked child has its parent's, but
 * begins at another time. */
static uint64_t chance(void)
{
    static _Atomic uint64_t count;
    const void *given = (const void *)__getauxval(AT_RANDOM);
    uint64_t seed[2] = {0}, x;

    if (given)
        memcpy(seed, given, sizeof seed);
    x = (seed[0] ^ (seed[1] << 32 | seed[1] >> 32)) + vdso_clock_ns(CLOCK_MONOTONIC);
    x += 0x9e3779b97f4a7c15u * atomic_fetch_add(&count, 1);
    /* splitmix64 */
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

int64_t rest_take(int event, int64_t period)
{
    for (int i = 0; i < KEPT; i++) {
        int64_t rest = atomic_load(&kept[event][i]) ? atomic_exchange(&kept[event][i], 0) : 0;

        if (rest)
            return rest >> 1; /* of a clock that has counted too much, as where a host takes processors away, below 0 */
    }
    return (int64_t)(chance() % (uint64_t)period);
}

void rest_leave(int event, int64_t rest)
{
    for (int i = 0; i < KEPT; i++) {
        int64_t none = 0;

        if (atomic_compare_exchange_strong(&kept[event][i], &none, rest * 2 + 1))
            return;
    }
}

void rest_forget(void)
{
    memset(kept, 0, sizeof kept);
}
