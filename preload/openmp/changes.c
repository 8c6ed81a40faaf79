/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/openmp/changes.h"

#include "preload/hot.h"

__thread struct changes changes __attribute__((tls_model("initial-exec")));

void changes_watch(const volatile uint32_t *counter)
{
    changes.counter = NULL;
    changes.seen = counter ? *counter : 0;
    if (!changes.random)
        changes.random = (uint64_t)&changes;
    atomic_signal_fence(memory_order_seq_cst);
    changes.counter = counter;
}

/* The last of n things takes the place of the one that was drawn among those before by a chance of 1 in n. */
void changes_passed(uint32_t count, uint64_t region)
{
    changes.among += count;
    changes.random = changes.random * 6364136223846793005u + 1442695040888963407u;
    if ((changes.random >> 32) % changes.among < count)
        changes.drawn = region;
}

HOT uint64_t changes_draw(void)
{
    uint64_t drawn = changes.drawn;

    changes.among = 0;
    changes.drawn = 0;
    return drawn;
}
