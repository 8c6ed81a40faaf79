/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/altstack.h"

#include "preload/export.h"
#include "preload/options.h"
#include "preload/raw.h"

#include <signal.h>

enum { ENOUGH = 16 << 10, OURS = 64 << 10 };

static __thread struct {
    void *memory;               /* OURS bytes, NULL: none yet */
    stack_t asked;              /* what the program believes in, while `replaced` */
    bool replaced;
} own __attribute__((tls_model("initial-exec")));

/* The program's stack has been accepted by the kernel and is too small. Without memory it stays. */
static void replace(const stack_t *asked)
{
    if (!own.memory)
        own.memory = raw_memory(OURS);
    stack_t larger = { .ss_sp = own.memory, .ss_size = OURS, .ss_flags = asked->ss_flags };
    if (!own.memory || REAL(sigaltstack)(&larger, NULL) != 0)
        return;
    own.asked = *asked;
    own.replaced = true;
}

EXPORT int sigaltstack(const stack_t *restrict wanted, stack_t *restrict old)
{
    stack_t copy, before;
    bool was = own.replaced;

    if (wanted)
        copy = *wanted;
    int result = REAL(sigaltstack)(wanted ? &copy : NULL, &before);
    if (result != 0)
        return result;
    if (was) {
        before.ss_sp = own.asked.ss_sp;
        before.ss_size = own.asked.ss_size;
    }
    if (wanted) {
        own.replaced = false;
        if (options.active && !(copy.ss_flags & SS_DISABLE) && copy.ss_size < ENOUGH)
            replace(&copy);
    }
    if (old)
        *old = before;
    return 0;
}

void altstack_end(void)
{
    stack_t none = { .ss_flags = SS_DISABLE };

    if (!own.memory || (own.replaced && REAL(sigaltstack)(&none, NULL) != 0))
        return;
    own.replaced = false;
    raw_munmap(own.memory, OURS);
    own.memory = NULL;
}
