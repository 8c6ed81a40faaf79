/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/altstack.h"

#include "preload/export.h"
#include "preload/options.h"
#include "preload/raw.h"

#include <signal.h>

enum { ENOUGH = 16 << 10, OURS = 64 << 10 };

static __thread struct {
    void *memory;  /* OURS bytes, NULL: none */
    stack_t asked; /* what the program believes in while the kernel has `memory` */
} own __attribute__((tls_model("initial-exec")));

/* The kernel gets ours instead of what the program has. Without memory that stays. */
static void replace(const stack_t *asked)
{
    stack_t ours = {.ss_sp = own.memory, .ss_size = OURS, .ss_flags = asked->ss_flags & ~SS_DISABLE};

    if (own.memory && REAL(sigaltstack)(&ours, NULL) == 0)
        own.asked = *asked;
}

EXPORT int sigaltstack(const stack_t *restrict wanted, stack_t *restrict old)
{
    stack_t copy, before;

    if (wanted)
        copy = *wanted;
    int result = REAL(sigaltstack)(wanted ? &copy : NULL, &before);
    if (result != 0)
        return result;
    if (own.memory && before.ss_sp == own.memory) {
        before.ss_sp = own.asked.ss_sp;
        before.ss_size = own.asked.ss_size;
        if (own.asked.ss_flags & SS_DISABLE)
            before.ss_flags = SS_DISABLE;
    }
    if (wanted && copy.ss_flags & SS_DISABLE)
        replace(&(stack_t){.ss_flags = SS_DISABLE});
    else if (wanted && copy.ss_size < ENOUGH)
        replace(&copy);
    if (old)
        *old = before;
    return 0;
}

void altstack_begin(void)
{
    stack_t now;

    if (own.memory || REAL(sigaltstack)(NULL, &now) != 0)
        return;
    own.memory = raw_memory(OURS);
    if (now.ss_flags & SS_DISABLE || now.ss_size < ENOUGH)
        replace(&now);
}

void altstack_end(void)
{
    stack_t none = {.ss_flags = SS_DISABLE}, now;
    void *memory = own.memory;

    own.memory = NULL;
    if (!memory || REAL(sigaltstack)(NULL, &now) != 0 || (now.ss_sp == memory && REAL(sigaltstack)(&none, NULL) != 0))
        return; /* the thread ends in a handler that runs there */
    raw_munmap(memory, OURS);
}
