/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/loader.h"

#include "preload/libc.h"
#include "preload/raw.h"

#include <stdatomic.h>

static _Atomic unsigned forking, asking; /* threads that do */

/* No system call: a filter of the program may forbid it. */
static void wait_for(const _Atomic unsigned *others)
{
    for (int i = 0; i < 100000 && atomic_load(others); i++)
        arch_pause();
}

void loader_list(int (*each)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
    atomic_fetch_add(&asking, 1);
    if (atomic_load(&forking)) {
        atomic_fetch_sub(&asking, 1);
        wait_for(&forking);
        atomic_fetch_add(&asking, 1);
    }
    libc_each_module(each, data);
    atomic_fetch_sub(&asking, 1);
}

void loader_before_fork(void)
{
    atomic_fetch_add(&forking, 1);
    wait_for(&asking);
}

void loader_after_fork(void)
{
    atomic_fetch_sub(&forking, 1);
}

void loader_forget(void)
{
    atomic_store(&forking, 0);
    atomic_store(&asking, 0);
}
