/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restores what a handler needs before it can use memory of its own: the register by which thread-local storage is
 * found, and the rights to pages with a protection key. A signal may come while a program has given the thread another
 * base of thread-local storage (%fs), and nothing thread-local can be read then; and the kernel enters handlers without
 * the rights to any key but the first, also where the stack that is to be walked has another. So a handler puts both
 * right when it begins, and puts back what it found when it ends. All of this is safe in signal handlers, uses no
 * thread-local storage, and does nothing where the kernel does not let programs read the register (before Linux 5.9).
 */
#ifndef HQ_PRELOAD_REACH_H
#define HQ_PRELOAD_REACH_H

#include "preload/options.h"
#include "preload/process.h"
#include "preload/raw.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct reach { /* what was found */
    uint64_t base;
    uint32_t rights;
    bool moved, opened; /* it was not as the handler needs it: the first, the second */
    bool strange; /* no thread that is measured, with another one's storage, or something else: it is not to be touched
                   */
};

/* Before threads exist. */
void reach_prepare(void);

/* The calling thread's base is as the C library has made it: it begins, and it ends. */
void reach_begin(void);
void reach_end(void);

/*
 * Makes the 64 bits that a signal of ours carries: the base of its thread, and 16 bits. reach_marked returns `code` for
 * a mark that this made, and -1 for anything else.
 */
uint64_t reach_mark(uint8_t code);
static inline int reach_marked(uint64_t mark)
{
    return (mark & 0xff00) == 0x6800 ? (int)(mark & 0xff) : -1;
}

/* The program makes such a call: it may ask for a key of protection (options.has_keys). */
void reach_watch(long number, const long a[6]);

/*
 * The bases of threads by their numbers (tid): a table that is probed a few places from where the number belongs. A
 * thread that finds no room there is not looked after, and then nobody is.
 */
enum { REACH_BITS = 15, REACH_PLACES = 1 << REACH_BITS, REACH_PROBES = 32 };
extern struct reach_thread {
    _Atomic int tid; /* 0: free */
    _Atomic uint64_t base;
} reach_threads[REACH_PLACES];

static inline __attribute__((always_inline)) struct reach_thread *reach_place(int tid, uint32_t probe)
{
    return &reach_threads[(((uint32_t)tid * 2654435769u >> (32 - REACH_BITS)) + probe) % REACH_PLACES];
}

static inline __attribute__((always_inline)) struct reach_thread *reach_find(int tid)
{
    for (uint32_t i = 0; i < REACH_PROBES; i++)
        if (atomic_load_explicit(&reach_place(tid, i)->tid, memory_order_acquire) == tid)
            return reach_place(tid, i);
    return NULL;
}

/* The bases alone, a table likewise: is this one of theirs? */
extern _Atomic uint64_t reach_bases[REACH_PLACES];

static inline __attribute__((always_inline)) _Atomic uint64_t *reach_base_place(uint64_t base, uint32_t probe)
{
    return &reach_bases[(((uint32_t)(base >> 6) * 2654435769u >> (32 - REACH_BITS)) + probe) % REACH_PLACES];
}

static inline __attribute__((always_inline)) bool reach_has_base(uint64_t base)
{
    for (uint32_t i = 0; base && i < REACH_PROBES; i++)
        if (atomic_load_explicit(reach_base_place(base, i), memory_order_acquire) == base)
            return true;
    return false;
}

static inline __attribute__((always_inline)) struct reach reach_to(uint64_t base)
{
    struct reach found = {0};

    if (options.gives_base && base) {
        found.base = arch_base();
        found.moved = found.base != base;
        if (found.moved)
            arch_set_base(base);
    }
    if (options.has_keys) {
        found.rights = arch_rights();
        found.opened = found.rights != 0;
        if (found.opened)
            arch_set_rights(0);
    }
    return found;
}

/* In the handler of a signal with a mark. */
static inline __attribute__((always_inline)) struct reach reach_enter(uint64_t mark)
{
    return reach_to(mark >> 16);
}

/* In any other handler. A child that was made by a bare system call has its parent's storage, and is in no table. */
static inline __attribute__((always_inline)) struct reach reach_enter_any(void)
{
    bool looks = options.gives_base && !raw_frozen;
    const struct reach_thread *thread = looks ? reach_find(raw_gettid()) : NULL;
    struct reach found = reach_to(thread ? atomic_load_explicit(&thread->base, memory_order_acquire) : 0);

    found.strange = looks && !thread && process_is_known();
    return found;
}

/* Puts back what reach_enter found. */
static inline __attribute__((always_inline)) void reach_leave(const struct reach *found)
{
    if (found->opened)
        arch_set_rights(found->rights);
    if (found->moved)
        arch_set_base(found->base);
}

#endif
