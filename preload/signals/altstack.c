/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/signals/altstack.h"

#include "preload/confine.h"
#include "preload/export.h"
#include "preload/raw.h"

#include <errno.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/mman.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31) /* the C library's headers do not know it */
#endif

__thread struct altstack altstack __attribute__((tls_model("initial-exec")));

enum { SMALLEST = 2048 }; /* what the kernel takes */

struct altstack_place {
    _Atomic(struct altstack_place *) next;
    char *memory;
    uint64_t note[ALTSTACK_NOTE / 8];
};

/* MOST stacks are made at a time, of which PAGE has the places, and so many spare ones keep what was written to them.
 */
enum { PAGE = 4096, MOST = 32 };
_Static_assert(MOST * sizeof(struct altstack_place) <= PAGE, "the places have room");

/* The first of the spare places, and in the upper bits how often that changed: it may be taken, and given back with
 * another one behind it, while somebody looks at it. */
static _Atomic uint64_t spare;
static _Atomic uint32_t spares, made;
static const uint64_t ADDRESS = (UINT64_C(1) << 48) - 1;

static void put(struct altstack_place *place)
{
    uint64_t head = atomic_load(&spare);

    do
        atomic_store(&place->next, (struct altstack_place *)(head & ADDRESS));
    while (!atomic_compare_exchange_weak(&spare, &head, (uint64_t)place | ((head & ~ADDRESS) + ADDRESS + 1)));
    atomic_fetch_add(&spares, 1);
}

static struct altstack_place *get(void)
{
    uint64_t head = atomic_load(&spare), next;

    do {
        if (!(head & ADDRESS))
            return NULL;
        next = (uint64_t)atomic_load(&((struct altstack_place *)(head & ADDRESS))->next);
    } while (!atomic_compare_exchange_weak(&spare, &head, next | ((head & ~ADDRESS) + ADDRESS + 1)));
    atomic_fetch_sub(&spares, 1);
    return (struct altstack_place *)(head & ADDRESS);
}

/* As many again as there are, since most programs have few threads. */
static struct altstack_place *make(void)
{
    uint32_t before = atomic_load(&made), count = before < 1 ? 1 : before < MOST ? before : MOST;
    struct altstack_place *places = raw_memory(PAGE + (size_t)count * ALTSTACK_BYTES);

    if (!places && count > 1)
        places = raw_memory(PAGE + (size_t)(count = 1) * ALTSTACK_BYTES);
    if (!places)
        return NULL;
    atomic_fetch_add(&made, count);
    for (uint32_t i = 0; i < count; i++)
        places[i].memory = (char *)places + PAGE + (size_t)i * ALTSTACK_BYTES;
    for (uint32_t i = 1; i < count; i++)
        put(&places[i]);
    return places;
}

struct altstack_place *altstack_take(void)
{
    struct altstack_place *place = get();

    return place ? place : make();
}

void altstack_give_back(struct altstack_place *place)
{
    if (!place)
        return;
    if (atomic_load(&spares) >= MOST && !raw_frozen)
        raw_madvise(place->memory, ALTSTACK_BYTES, MADV_DONTNEED);
    put(place);
}

void *altstack_note(struct altstack_place *place)
{
    return place->note;
}

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

/* Where the kernel can write. */
static int give(stack_t *old, const stack_t *before)
{
    if (old && !raw_frozen && raw_syscall(SYS_sigaltstack, 0, (long)old, 0, 0, 0, 0) == -EFAULT)
        return refuse(EFAULT);
    if (old)
        *old = *before;
    return 0;
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
    return give(old, &before);
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
    if (wanted && !(raw_given(&wanted->ss_sp) && raw_given(&wanted->ss_size)))
        return refuse(EFAULT);
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
    return give(old, &before);
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

void altstack_begin(struct altstack_place *place)
{
    stack_t now;

    if (altstack.memory || !place || REAL(sigaltstack)(NULL, &now) != 0) {
        altstack_give_back(place);
        return;
    }
    altstack.place = place;
    altstack.memory = place->memory;
    if (!(now.ss_flags & SS_AUTODISARM))
        replace(&now);
}

void altstack_end(void)
{
    struct altstack_place *place = altstack.place;

    altstack.memory = NULL;
    altstack.place = NULL;
    if (altstack.replaced) {
        altstack.replaced = false;
        if (confined & CONFINE_BEGINNINGS)
            return; /* the call may end the program: the memory stays this thread's */
        if (REAL(sigaltstack)(&altstack.asked, NULL) != 0)
            return; /* the thread ends in a handler that runs there */
    }
    altstack_give_back(place);
}
