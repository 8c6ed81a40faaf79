/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/walk/stacks.h"

#include "preload/export.h"
#include "preload/raw.h"
#include "preload/reach.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { PLACES = 16384 };

/* The stacks. The doubted parts of one are kept as one range around all of them. */
static struct {
    _Atomic uint64_t low, high; /* high 0: free */
    _Atomic uint64_t from, to;  /* doubted; to 0: nothing */
} stacks[PLACES];
static _Atomic uint32_t used;
static _Atomic uint32_t first_free; /* where to look first: most places before it are taken */

bool stacks_doubted;

static uint32_t add_from(uint32_t first, uint64_t low, uint64_t high)
{
    for (uint32_t i = first; i < PLACES && high > low; i++) {
        uint64_t none = 0;
        if (!atomic_compare_exchange_strong(&stacks[i].high, &none, high))
            continue;
        atomic_store(&first_free, i + 1);
        atomic_store(&stacks[i].to, 0);
        atomic_store(&stacks[i].low, low);
        uint32_t count = atomic_load(&used);
        while (count <= i && !atomic_compare_exchange_weak(&used, &count, i + 1))
            ;
        return i + 1;
    }
    return 0;
}

uint32_t stacks_add(uint64_t low, uint64_t high)
{
    uint32_t place = add_from(atomic_load(&first_free), low, high);

    return place ? place : add_from(0, low, high);
}

void stacks_remove(uint32_t place)
{
    if (!place)
        return;
    atomic_store(&stacks[place - 1].high, 0);
    if (atomic_load(&first_free) >= place)
        atomic_store(&first_free, place - 1);
}

void stacks_forget(void)
{
    for (uint32_t i = atomic_exchange(&used, 0); i > 0; i--)
        atomic_store(&stacks[i - 1].high, 0);
    atomic_store(&first_free, 0);
}

static void widen(_Atomic uint64_t *from, _Atomic uint64_t *to, uint64_t low, uint64_t high)
{
    if (!atomic_load(to) || low < atomic_load(from))
        atomic_store(from, low);
    if (high > atomic_load(to))
        atomic_store(to, high);
}

/* [address, address + bytes) is about to change so that it may not be readable. */
static void stacks_doubt(uint64_t address, uint64_t bytes)
{
    uint64_t end = address + ((bytes + 4095) & ~4095ull);
    uint32_t count = atomic_load(&used);

    for (uint32_t i = 0; i < count; i++)
        if (address < atomic_load(&stacks[i].high) && end > atomic_load(&stacks[i].low)) {
            widen(&stacks[i].from, &stacks[i].to, address, end);
            stacks_doubted = true;
        }
}

void stacks_restrict(uint32_t place, uint64_t sp, uint64_t *low, uint64_t *high)
{
    uint64_t to = place ? atomic_load_explicit(&stacks[place - 1].to, memory_order_relaxed) : UINT64_MAX;

    if (to && sp >= to)
        *low = to > *low ? to : *low;
    else if (to)
        *low = *high = 0;
}

void stacks_watch(long number, const long a[6])
{
    uint64_t address = (uint64_t)a[0], bytes = (uint64_t)a[1];

    switch (number) {
    case SYS_mprotect:
        if (!(a[2] & PROT_READ))
            stacks_doubt(address, bytes);
        break;
    case SYS_pkey_mprotect:
    case SYS_munmap: stacks_doubt(address, bytes); break;
    case SYS_mmap:
        if (a[3] & MAP_FIXED)
            stacks_doubt(address, bytes);
        break;
    case SYS_mremap:
        stacks_doubt(address, bytes);
        if (a[3] & MREMAP_FIXED)
            stacks_doubt((uint64_t)a[4], (uint64_t)a[2]);
        break;
    default: break;
    }
}

static void watch(long number, const long a[6])
{
    stacks_watch(number, a);
    reach_watch(number, a);
}

EXPORT int mprotect(void *address, size_t bytes, int rights)
{
    watch(SYS_mprotect, (const long[6]){(long)address, (long)bytes, rights});
    return REAL(mprotect)(address, bytes, rights);
}

EXPORT int pkey_mprotect(void *address, size_t bytes, int rights, int key)
{
    stacks_watch(SYS_pkey_mprotect, (const long[6]){(long)address, (long)bytes, rights, key});
    return REAL(pkey_mprotect)(address, bytes, rights, key);
}

EXPORT int munmap(void *address, size_t bytes)
{
    stacks_watch(SYS_munmap, (const long[6]){(long)address, (long)bytes});
    __typeof__(&munmap) real = REAL_IF_KNOWN(munmap);
    return real ? real(address, bytes)
                : (int)raw_as_libc(raw_syscall(SYS_munmap, (long)address, (long)bytes, 0, 0, 0, 0));
}

EXPORT void *mmap(void *address, size_t bytes, int rights, int flags, int fd, off_t offset)
{
    watch(SYS_mmap, (const long[6]){(long)address, (long)bytes, rights, flags});
    __typeof__(&mmap) real = REAL_IF_KNOWN(mmap);
    return real ? real(address, bytes, rights, flags, fd, offset)
                : (void *)raw_as_libc(raw_syscall(SYS_mmap, (long)address, (long)bytes, rights, flags, fd, offset));
}

EXPORT void *mmap64(void *address, size_t bytes, int rights, int flags, int fd, off64_t offset)
    __attribute__((alias("mmap")));

EXPORT void *mremap(void *address, size_t bytes, size_t wanted, int flags, ...)
{
    va_list list;

    va_start(list, flags);
    void *to = va_arg(list, void *);
    va_end(list);
    stacks_watch(SYS_mremap, (const long[6]){(long)address, (long)bytes, (long)wanted, flags, (long)to});
    return REAL(mremap)(address, bytes, wanted, flags, to);
}

/* An allocator may call these from within the search for the next definition: that is made now, by calls that fail. */
static __attribute__((constructor)) void find_next(void)
{
    int before = errno;

    mmap(NULL, 0, PROT_NONE, 0, -1, 0);
    munmap(NULL, 0);
    mprotect(NULL, 0, PROT_READ);
    mremap(NULL, 0, 0, 0);
    errno = before;
}
