/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/altstack.h"

#include "preload/export.h"
#include "preload/raw.h"

#include <errno.h>
#include <setjmp.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31) /* the C library's headers do not know it */
#endif

__thread struct altstack altstack __attribute__((tls_model("initial-exec")));

enum { SMALLEST = 2048 }; /* what the kernel takes */

/* Does the caller run on the stack that the program believes in? As the kernel sees it: by the stack pointer. */
static bool runs_there(void)
{
    uint64_t here = (uint64_t)__builtin_frame_address(0);

    return !(altstack.asked.ss_flags & SS_DISABLE) && here - (uint64_t)altstack.asked.ss_sp < altstack.asked.ss_size;
}

static int refuse(int error)
{
    errno = error;
    return -1;
}

/* The kernel gets ours instead of what the program has. Without memory that stays. */
static void replace(const stack_t *asked)
{
    stack_t ours = {.ss_sp = altstack.memory, .ss_size = ALTSTACK_BYTES};

    if (altstack.memory && REAL(sigaltstack)(&ours, NULL) == 0) {
        altstack.asked = *asked;
        altstack.replaced = true;
    }
}

/* The program's, which the kernel then has. */
static int leave_to_kernel(const stack_t *wanted, stack_t *old)
{
    stack_t before;
    int result = REAL(sigaltstack)(wanted, &before);

    if (result != 0)
        return result;
    if (altstack.replaced)
        before = altstack.asked;
    if (wanted && wanted->ss_flags & SS_AUTODISARM)
        altstack.replaced = false;
    else if (wanted)
        replace(wanted);
    if (old)
        *old = before;
    return 0;
}

/* The return from a handler gives the kernel what it had when that was entered: the program's, if it was asked for with
 * SS_AUTODISARM and another one in the handler. */
static void look_at_kernel(void)
{
    stack_t now;

    if (altstack.replaced && REAL(sigaltstack)(NULL, &now) == 0 && now.ss_sp != altstack.memory)
        altstack.replaced = false;
}

EXPORT int sigaltstack(const stack_t *restrict wanted, stack_t *restrict old)
{
    stack_t copy, before;
    bool there;

    look_at_kernel();
    before = altstack.asked;
    if (!altstack.replaced || (wanted && wanted->ss_flags & SS_AUTODISARM))
        return leave_to_kernel(wanted, old);
    there = runs_there();
    if (wanted) {
        copy = *wanted;
        if (there)
            return refuse(EPERM);
        if (copy.ss_flags != SS_DISABLE && copy.ss_flags != SS_ONSTACK && copy.ss_flags != 0)
            return refuse(EINVAL);
        if (copy.ss_flags == SS_DISABLE)
            copy = (stack_t){.ss_flags = SS_DISABLE};
        else if (copy.ss_size < SMALLEST)
            return refuse(ENOMEM);
        else
            copy.ss_flags = 0;
        altstack.asked = copy;
    }
    if (there)
        before.ss_flags |= SS_ONSTACK;
    if (old)
        *old = before;
    return 0;
}

/* Is what _FORTIFY_SOURCE makes of longjmp: it ends the program where that goes to an address below the stack pointer,
 * unless from an alternate stack. For that the C library asks the kernel, which knows of ours alone. */
extern void __longjmp_chk(struct __jmp_buf_tag *buffer, int value) __attribute__((noreturn));
EXPORT void __longjmp_chk(struct __jmp_buf_tag *buffer, int value)
{
    if (altstack.replaced && runs_there())
        REAL(siglongjmp)(buffer, value);
    REAL(__longjmp_chk)(buffer, value);
    __builtin_unreachable();
}

void altstack_begin(void)
{
    stack_t now;

    if (altstack.memory || REAL(sigaltstack)(NULL, &now) != 0)
        return;
    altstack.memory = raw_memory(ALTSTACK_BYTES);
    if (!(now.ss_flags & SS_AUTODISARM))
        replace(&now);
}

void altstack_end(void)
{
    void *memory = altstack.memory;

    altstack.memory = NULL;
    if (altstack.replaced) {
        altstack.replaced = false;
        if (REAL(sigaltstack)(&altstack.asked, NULL) != 0)
            return; /* the thread ends in a handler that runs there */
    }
    if (memory)
        raw_munmap(memory, ALTSTACK_BYTES);
}
