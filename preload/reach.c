/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/reach.h"

#include "preload/export.h"

struct reach_thread reach_threads[REACH_PLACES];
_Atomic uint64_t reach_bases[REACH_PLACES];
static bool keys_possible;

void reach_prepare(void)
{
    options.gives_base = arch_gives_base();
    keys_possible = arch_has_rights();
}

/* Notes a base; false: there is no room. */
static bool note_base(uint64_t base)
{
    for (uint32_t i = 0; i < REACH_PROBES; i++) {
        uint64_t none = 0;

        if (atomic_load(reach_base_place(base, i)) == base ||
            atomic_compare_exchange_strong(reach_base_place(base, i), &none, base))
            return true;
    }
    return false;
}

static void forget_base(uint64_t base)
{
    for (uint32_t i = 0; i < REACH_PROBES; i++)
        if (atomic_load(reach_base_place(base, i)) == base)
            atomic_store(reach_base_place(base, i), 0);
}

void reach_begin(void)
{
    int tid = raw_frozen ? 0 : raw_gettid();

    for (uint32_t i = 0; tid && options.gives_base && i < REACH_PROBES; i++) {
        struct reach_thread *thread = reach_place(tid, i);
        int none = 0;

        if (atomic_load(&thread->tid) == tid || atomic_compare_exchange_strong(&thread->tid, &none, tid)) {
            atomic_store(&thread->base, arch_base());
            options.gives_base = note_base(arch_base());
            return;
        }
    }
    if (tid)
        options.gives_base = false;
}

void reach_end(void)
{
    struct reach_thread *thread = options.gives_base && !raw_frozen ? reach_find(raw_gettid()) : NULL;

    if (!thread)
        return;
    forget_base(atomic_load(&thread->base));
    atomic_store(&thread->base, 0);
    atomic_store(&thread->tid, 0);
}

uint64_t reach_mark(uint8_t code)
{
    const struct reach_thread *thread = options.gives_base && !raw_frozen ? reach_find(raw_gettid()) : NULL;
    uint64_t base = thread ? atomic_load(&thread->base) : 0;

    return (base >> 48 ? 0 : base << 16) | 0x6800 | code;
}

/* Keys are the kernel's to give. For code that can be run and not read it takes one by itself. */
void reach_watch(long number, const long a[6])
{
    bool maps = number == SYS_mprotect || number == SYS_mmap;

    if (keys_possible && (number == SYS_pkey_alloc || (maps && (a[2] & (PROT_READ | PROT_EXEC)) == PROT_EXEC)))
        options.has_keys = true;
}

EXPORT int pkey_alloc(unsigned flags, unsigned rights)
{
    reach_watch(SYS_pkey_alloc, (const long[6]){flags, rights});
    return REAL(pkey_alloc)(flags, rights);
}
