/* SPDX-License-Identifier: BSD-3-Clause */
/* Marked procedures (preload/patch/) are replaced instructions of x86-64: here none is marked, and that is said. */
#include "preload/file/image.h"
#include "preload/patch/original.h"
#include "preload/patch/patch.h"
#include "preload/patch/visits.h"

#include <stdlib.h>

__thread struct visits visits __attribute__((tls_model("initial-exec")));

void patch_prepare(void)
{
    const char *path = getenv("HQ_MARKS");

    if (path && *path)
        image_warn("procedures can be marked on x86-64 only: none of them is marked");
}

void patch_start(void)
{
}

void patch_end(void)
{
}

bool patch_trap(const siginfo_t *info, ucontext_t *context, bool strange)
{
    (void)strange;
    (void)info;
    (void)context;
    return false;
}

void patch_leave_slots(uint64_t reg[CFI_REGISTERS])
{
    (void)reg;
}

void visits_settle_at(uint64_t sp, uint64_t now_us)
{
    (void)sp;
    (void)now_us;
}

void visits_forget(void)
{
}
