/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/gpu/flights.h"

#include "preload/lock.h"
#include "preload/raw.h"

enum { BUCKETS = 8192, POOL = 1 << 16 /* bytes */ };

static struct bucket {
    _Atomic unsigned lock;
    struct flight *first;
} buckets[BUCKETS];

/* Those who give commands take free ones, with the lock; those who end them give them back, and wait for nobody. Each
 * has a cache line that the other threads leave alone. */
static struct {
    _Atomic unsigned lock;
    struct flight *first;
} __attribute__((aligned(64))) free_flights;
static struct {
    _Atomic(struct flight *) first;
} __attribute__((aligned(64))) given_back;

/* first and last with the lock; count without, by every call of the program. */
static struct {
    _Atomic unsigned lock;
    _Atomic uint32_t count;
    struct flight *first, *last;
} __attribute__((aligned(64))) watched;

static struct flight *make_free(void)
{
    struct flight *f = raw_memory(POOL);

    for (size_t i = 0; f && i + 1 < POOL / sizeof *f; i++)
        f[i].next = &f[i + 1];
    return f;
}

struct flight *flight_take(void)
{
    struct flight *f;

    lock_take(&free_flights.lock);
    if (!free_flights.first)
        free_flights.first = atomic_exchange(&given_back.first, NULL);
    if (!free_flights.first)
        free_flights.first = make_free();
    f = free_flights.first;
    if (f)
        free_flights.first = f->next;
    lock_release(&free_flights.lock);
    if (f)
        *f = (struct flight){0};
    return f;
}

void flight_give_back(struct flight *f)
{
    f->next = atomic_load_explicit(&given_back.first, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&given_back.first, &f->next, f))
        continue;
}

/* ---- By their events ---- */

static struct bucket *bucket_of(uintptr_t event)
{
    return &buckets[(uint32_t)((event >> 4) * 0x9e3779b1u) % BUCKETS];
}

void flight_link(struct flight *f)
{
    struct bucket *bucket = bucket_of(f->event);

    lock_take(&bucket->lock);
    f->next = bucket->first;
    bucket->first = f;
    lock_release(&bucket->lock);
}

void flight_unlink(struct flight *f)
{
    struct bucket *bucket = bucket_of(f->event);

    lock_take(&bucket->lock);
    for (struct flight **at = &bucket->first; *at; at = &(*at)->next)
        if (*at == f) {
            *at = f->next;
            break;
        }
    lock_release(&bucket->lock);
}

uint32_t flight_number(uintptr_t event, bool *user)
{
    struct bucket *bucket = bucket_of(event);
    uint32_t number = 0;

    lock_take(&bucket->lock);
    for (struct flight *f = bucket->first; f && !number; f = f->next)
        if (f->event == event) {
            number = f->record.number;
            *user = f->user;
        }
    lock_release(&bucket->lock);
    return number;
}

bool flight_fail(uintptr_t event, struct device_call *call)
{
    struct bucket *bucket = bucket_of(event);
    bool found = false;

    lock_take(&bucket->lock);
    for (struct flight *f = bucket->first; f && !found; f = f->next)
        if (f->event == event && !f->failed) {
            found = f->failed = true;
            *call = f->call;
        }
    lock_release(&bucket->lock);
    return found;
}

struct flight *flight_take_user(uintptr_t event)
{
    struct bucket *bucket = bucket_of(event);
    struct flight *found = NULL;

    lock_take(&bucket->lock);
    for (struct flight **at = &bucket->first; *at && !found; at = found ? at : &(*at)->next)
        if ((*at)->event == event && (*at)->user) {
            found = *at;
            *at = found->next;
        }
    lock_release(&bucket->lock);
    return found;
}

bool flight_is_watched(uintptr_t event)
{
    struct bucket *bucket = bucket_of(event);
    bool found = false;

    if (!flights_watched())
        return false;
    lock_take(&bucket->lock);
    for (const struct flight *f = bucket->first; f && !found; f = f->next)
        found = f->event == event && f->watched;
    lock_release(&bucket->lock);
    return found;
}

/* ---- Those that are looked at ---- */

void flight_watch(struct flight *f)
{
    lock_take(&watched.lock);
    f->watched_next = NULL;
    if (watched.first)
        watched.last->watched_next = f;
    else
        watched.first = f;
    watched.last = f;
    atomic_fetch_add(&watched.count, 1);
    lock_release(&watched.lock);
}

struct flight *flight_watched(void)
{
    struct flight *f = NULL;

    if (!flights_watched())
        return NULL;
    lock_take(&watched.lock);
    f = watched.first;
    if (f) {
        watched.first = f->watched_next;
        atomic_fetch_sub(&watched.count, 1);
    }
    lock_release(&watched.lock);
    return f;
}

uint32_t flights_watched(void)
{
    return atomic_load_explicit(&watched.count, memory_order_relaxed);
}

void flights_forget(void)
{
    lock_release(&free_flights.lock);
    lock_release(&watched.lock);
    free_flights.first = NULL;
    atomic_store(&given_back.first, NULL);
    watched.first = NULL;
    atomic_store(&watched.count, 0);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        lock_release(&buckets[i].lock);
        buckets[i].first = NULL;
    }
}
