/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/openmp/runtime.h"

#include "preload/export.h"
#include "preload/libc.h"
#include "preload/thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The functions that were found, by place and name. A slot is filled under a key of its own, and read between two looks
 * at its key: threads need no lock. Keys have the number of times that something was unloaded, so that none is of code
 * that was there before.
 */
enum { KNOWN = 1024, TRIES = 8, PLACE_BITS = 48 };
#define FILLING 1

static struct {
    _Atomic uint64_t key; /* 0: free */
    _Atomic(const char *) name;
    _Atomic(void *) function;
} known[KNOWN];
static _Atomic uint64_t unloaded;

void runtime_forget(void)
{
    atomic_fetch_add(&unloaded, 1);
}

static void keep(uint32_t first, uint64_t key, uint64_t round, const char *name, void *function)
{
    for (uint32_t i = 0; i < TRIES; i++) {
        uint64_t old = atomic_load(&known[(first + i) % KNOWN].key);

        if (old == FILLING || (old && old >> PLACE_BITS == round >> PLACE_BITS) ||
            !atomic_compare_exchange_strong(&known[(first + i) % KNOWN].key, &old, FILLING))
            continue;
        atomic_store(&known[(first + i) % KNOWN].name, name);
        atomic_store(&known[(first + i) % KNOWN].function, function);
        atomic_store(&known[(first + i) % KNOWN].key, key);
        return;
    }
}

/* The collector's own work: samples that come in the loader's functions are told where the region or task is noted. */
static __attribute__((noinline, cold)) void *look_up(const char *name, const void *place)
{
    bool guarded = guard_enter();
    void *function = real_next(name);

    if (!function)
        function = libc_behind_call(place, name);
    if (guarded)
        guard_leave();
    return function;
}

void *runtime_find(const char *name, const void *place)
{
    uint64_t round = atomic_load_explicit(&unloaded, memory_order_relaxed) << PLACE_BITS;
    uint64_t key = (uint64_t)place | round;
    uint32_t first = (uint32_t)((((uint64_t)place ^ (uint64_t)name) * 0x9e3779b97f4a7c15u) >> 32);
    void *function;

    for (uint32_t i = 0; i < TRIES; i++) {
        __typeof__(&known[0]) k = &known[(first + i) % KNOWN];
        uint64_t found = atomic_load_explicit(&k->key, memory_order_acquire);

        if (!found)
            break;
        if (found != key || atomic_load_explicit(&k->name, memory_order_acquire) != name)
            continue;
        function = atomic_load_explicit(&k->function, memory_order_acquire);
        if (atomic_load_explicit(&k->key, memory_order_relaxed) == key)
            return function;
    }
    function = look_up(name, place);
    if (function)
        keep(first, key, round, name, function);
    return function;
}
