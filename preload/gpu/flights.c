/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/gpu/flights.h"

#include "preload/lock.h"
#include "preload/raw.h"

enum { BUCKETS = 8192, POOL = 1 << 16 /* bytes */ };

static struct bucket {
    _Atomic unsigned lock;
    struct flight *first;
} buckets[BUCKETS];

/* Those who give commands take free ones, with the lock; those who end them give them back, and wait for nobody. */
static _Atomic unsigned lock;
static struct flight *free_flights;
static _Atomic(struct flight *) given_back __attribute__((aligned(64)));

static _Atomic unsigned watch_lock;
static struct flight *watched_first, *watched_last; /* with the lock */
static _Atomic uint32_t watched_count;

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

    lock_take(&lock);
    if (!free_flights)
        free_flights = atomic_exchange(&given_back, NULL);
    if (!free_flights)
        free_flights = make_free();
    f = free_flights;
    if (f)
        free_flights = f->next;
    lock_release(&lock);
    if (f)
        *f = (struct flight){0};
    return f;
}

void flight_give_back(struct flight *f)
{
    f->next = atomic_load_explicit(&given_back, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&given_back, &f->next, f))
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
    bool watched = false;

    if (!flights_watched())
        return false;
    lock_take(&bucket->lock);
    for (const struct flight *f = bucket->first; f && !watched; f = f->next)
        watched = f->event == event && f->watched;
    lock_release(&bucket->lock);
    return watched;
}

/* ---- Those that are looked at ---- */

void flight_watch(struct flight *f)
{
    lock_take(&watch_lock);
    f->watched_next = NULL;
    if (watched_first)
        watched_last->watched_next = f;
    else
        watched_first = f;
    watched_last = f;
    atomic_fetch_add(&watched_count, 1);
    lock_release(&watch_lock);
}

struct flight *flight_watched(void)
{
    struct flight *f = NULL;

    if (!flights_watched())
        return NULL;
    lock_take(&watch_lock);
    f = watched_first;
    if (f) {
        watched_first = f->watched_next;
        atomic_fetch_sub(&watched_count, 1);
    }
    lock_release(&watch_lock);
    return f;
}

uint32_t flights_watched(void)
{
    return atomic_load_explicit(&watched_count, memory_order_relaxed);
}

void flights_forget(void)
{
    lock_release(&lock);
    lock_release(&watch_lock);
    free_flights = NULL;
    atomic_store(&given_back, NULL);
    watched_first = NULL;
    atomic_store(&watched_count, 0);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        lock_release(&buckets[i].lock);
        buckets[i].first = NULL;
    }
}
