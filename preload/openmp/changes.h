/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In which region a thread was when the kernel gave its processor to others. What such a change takes is CPU time that
 * the software clock does not see (sources/perf.c), and of which no place is known. But the kernel counts the changes
 * in the ring of the clock, where they can be read as often as regions begin and end. So for each period that was not
 * seen one of the changes that were is drawn, each as likely as another, and the period is in the region of that one:
 * on average each region has what its changes took.
 */
#ifndef HQ_PRELOAD_OPENMP_CHANGES_H
#define HQ_PRELOAD_OPENMP_CHANGES_H

#include "preload/process.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { CHANGES_STEP = 2 }; /* the kernel's count grows by that much at each of them */

/* Of the thread, of the initial-exec kind as thread.h has it. Its handler may come at any time: then what is drawn may
 * be another one, and nothing else. */
struct changes {
    const volatile uint32_t *counter; /* the kernel's; NULL: there is none */
    volatile bool looking;            /* at that one: it has to stay where it is */
    uint32_t seen;                    /* of it */
    uint64_t among;                   /* so many are drawn from: */
    uint64_t drawn;                   /* the region of one of these, 0 none */
    uint64_t random;
};
extern __thread struct changes changes __attribute__((tls_model("initial-exec")));

/* The kernel counts there from now on; NULL: nowhere. */
void changes_watch(const volatile uint32_t *counter);

/* So many were in this region, 0 none. */
void changes_passed(uint32_t count, uint64_t region);

/* How far the kernel's count has grown since this was called last. A child that was forked behind the C library's back
 * has no such memory. */
static inline uint32_t changes_since(void)
{
    bool looks = changes.looking;
    uint32_t before = changes.seen;

    changes.looking = true;
    atomic_signal_fence(memory_order_seq_cst);
    const volatile uint32_t *counter = changes.counter;
    if (counter && process_is_known())
        changes.seen = *counter;
    atomic_signal_fence(memory_order_seq_cst);
    changes.looking = looks;
    return changes.seen - before;
}

/* All since the last call were in this region. */
static inline void changes_note(uint64_t region)
{
    uint32_t count = changes.counter ? changes_since() : 0;

    if (__builtin_expect(count != 0, 0))
        changes_passed(count, region);
}

/* The region of one of them all, 0: none. Another one is drawn from those that come. */
uint64_t changes_draw(void);

#endif
