/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Visits to marked procedures that are under way. A visit is known by the place of its return address: a return, or a
 * jump to another procedure, is its end if the stack pointer is there again. What was left in another way is found out
 * by the stack pointer too: by an exception where C++ begins to handle it, by longjmp where that is called, else at the
 * next sample, or when the thread next enters or leaves a marked procedure, further out on its own stack. On other
 * stacks (coroutines, alternate ones), which lie in no order, such a visit ends when another begins at the same place.
 */
#ifndef HQ_PRELOAD_PATCH_VISITS_H
#define HQ_PRELOAD_PATCH_VISITS_H

#include "format/patches.h"
#include "preload/options.h"
#include "unwind/cfi.h"

struct hqm_region;

struct visit {
    uint64_t sp;               /* where its return address is */
    struct hqm_region *record; /* NULL: not counted */
    uint64_t start_us;
};

struct visits {
    struct visit *open; /* in the order in which they began */
    uint32_t count, places;
    uint32_t foreign; /* how many were begun on another stack than the thread's own */
    void *room;       /* of patch_stub (jump.h), NULL: none yet */
    bool held;        /* patch_stub has blocked the program's signals; `mask` is what was blocked before */
    uint64_t mask;
};
extern __thread struct visits visits __attribute__((tls_model("initial-exec")));

enum { VISITS_MAX = 1 << 20 }; /* nested deeper they are not counted, and `info` tells how many were lost */

/* The thread is at a place, with these registers: counts what is entered or left there. `leaves`: it leaves the
 * procedure, if the place is a way out. With the guard up. */
void visits_count(const struct hqp_place *place, const uint64_t reg[CFI_REGISTERS], bool leaves);

/* The thread's stack pointer is `sp`: ends visits that lie below it. With the guard up. */
void visits_settle_at(uint64_t sp, uint64_t now_us);
static inline void visits_settle(uint64_t sp, uint64_t now_us)
{
    if (__builtin_expect(options.marked, 0) && visits.count)
        visits_settle_at(sp, now_us);
}

/* In a forked child: what its parent was in goes on there without being counted. At the end of a thread likewise. */
void visits_forget(void);

#endif
