/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ALLOC_BYTES, ALLOC_CALLS and ALLOC_LEAKED: what malloc and its like give out, by call path, and what is never given
 * back.
 *
 * To take a block back from the call path that allocated it, the block's address leads to its cell: a table in parts,
 * each with a lock that is held for a few instructions. Whoever holds one has the guard of exact.c up or is not in a
 * signal handler of ours, so no handler waits for it.
 */
#include "preload/exact/blocks.h"
#include "preload/exact/exact.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* dlsym may itself allocate: such requests, before the real functions are known, come from here and are never freed. */
static char early[16 << 10] __attribute__((aligned(16)));
static _Atomic size_t early_used;
static __thread int looking __attribute__((tls_model("initial-exec")));
static _Atomic bool begun;
static _Atomic bool has_own_new;

static void *allocate_early(size_t bytes)
{
    size_t at = atomic_fetch_add(&early_used, (bytes + 15) & ~(size_t)15);

    return at + bytes <= sizeof early ? early + at : NULL;
}

static bool is_early(const void *block)
{
    return (const char *)block >= early && (const char *)block < early + sizeof early;
}

/*
 * A look-up takes away the text of a mistake of the program's, also from dlerror itself, which asks for memory while it
 * puts it into words (until glibc 2.33). No mistake has a text before memory is asked for, so that is when all of this
 * library are looked up: constructors that run before ours may make mistakes (AddressSanitizer's does).
 */
static void find_first(void)
{
    atomic_store(&begun, true);
    real_find_all(real_next);
    atomic_store(&has_own_new, hq_exact_together(real_next("malloc"), real_next("_Znwm")));
}

/* An allocator that has C++'s operator new beside its malloc (tcmalloc, jemalloc, mimalloc): the one does not call the
 * other, so the wrapper of that sees nothing. */
static __attribute__((noinline, cold)) void tell_of_new(void)
{
    if (atomic_exchange(&has_own_new, false))
        hq_exact_warn("the program's allocator has an operator new that does not call malloc: what C++ code allocates "
                      "by it is not counted");
}

#define FIND(function) \
    ({ \
        looking++; \
        if (!atomic_load_explicit(&begun, memory_order_relaxed)) \
            find_first(); \
        __typeof__(&function) real_ = REAL(function); \
        looking--; \
        real_; \
    })

/* In a wrapper. */
#define COUNT(function, block, bytes) count(__builtin_frame_address(0), FIND(function), block, bytes)

static void count(const void *frame, const void *function, void *block, size_t bytes)
{
    struct exact_amount amounts[] = {
        {.event = EVENT("ALLOC_BYTES"), .amount = bytes, .count = 1},
        {.event = EVENT("ALLOC_CALLS"), .amount = 1, .count = 1},
        {.event = EVENT("ALLOC_LEAKED"), .shared = true, .amount = bytes, .count = 1},
    };

    if (!block || amounts[0].event == EXACT_EARLY || looking)
        return;
    if (amounts[0].event < 0 && amounts[1].event < 0 && amounts[2].event < 0)
        return;
    if (amounts[2].event >= 0)
        blocks_expect(block);
    hq_exact_add_from(frame, function, amounts, 3);
    if (amounts[2].cell)
        blocks_add(block, bytes, amounts[2].cell);
    if (__builtin_expect(atomic_load_explicit(&has_own_new, memory_order_relaxed), 0) &&
        (amounts[0].cell || amounts[1].cell || amounts[2].cell))
        tell_of_new(); /* not from within the collector */
}

static void take_back(void *block)
{
    struct hqm_cell *cell;
    size_t bytes;

    if (block && EVENT("ALLOC_LEAKED") >= 0 && blocks_remove(block, &bytes, &cell))
        hq_exact_take_back(cell, bytes);
}

EXPORT void *malloc(size_t bytes)
{
    if (looking)
        return allocate_early(bytes);
    /* By a jump, so that the caller stays the loader: LeakSanitizer has nothing against what that keeps. */
    if (EVENT("ALLOC_BYTES") == EXACT_EARLY)
        return FIND(malloc)(bytes);
    void *block = FIND(malloc)(bytes);
    COUNT(malloc, block, bytes);
    return block;
}

EXPORT void *calloc(size_t items, size_t size)
{
    if (looking)
        return size && items > SIZE_MAX / size ? NULL : allocate_early(items * size);
    void *block = FIND(calloc)(items, size);
    COUNT(calloc, block, items * size);
    return block;
}

/* To look for free makes the loader free the text of an earlier mistake (a dlsym that failed): this one text is left.
 */
EXPORT void free(void *block)
{
    static _Atomic bool known;

    if (is_early(block) || (looking && !known))
        return;
    take_back(block);
    FIND(free)(block);
    known = true;
}

/* A block that stays where it is, is counted as a new one of the new size. */
EXPORT void *realloc(void *block, size_t bytes)
{
    struct hqm_cell *cell = NULL;
    size_t before = 0;

    if (looking || is_early(block)) {
        void *fresh = looking ? allocate_early(bytes) : malloc(bytes);
        if (fresh && block) {
            size_t rest = (size_t)(early + sizeof early - (char *)block);
            memcpy(fresh, block, bytes < rest ? bytes : rest);
        }
        return fresh;
    }
    bool known = block && EVENT("ALLOC_LEAKED") >= 0 && blocks_remove(block, &before, &cell);
    void *fresh = FIND(realloc)(block, bytes);
    if (known && !fresh && bytes)
        blocks_add(block, before, cell); /* it failed: the old block stands */
    else if (known)
        hq_exact_take_back(cell, before);
    COUNT(realloc, fresh, bytes);
    return fresh;
}

EXPORT void *reallocarray(void *block, size_t items, size_t size)
{
    if (size && items > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, items * size);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    int error = FIND(posix_memalign)(block, alignment, bytes);

    if (!error)
        COUNT(posix_memalign, *block, bytes);
    return error;
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    void *block = FIND(aligned_alloc)(alignment, bytes);

    COUNT(aligned_alloc, block, bytes);
    return block;
}

EXPORT void *memalign(size_t alignment, size_t bytes)
{
    void *block = FIND(memalign)(alignment, bytes);

    COUNT(memalign, block, bytes);
    return block;
}

EXPORT void *valloc(size_t bytes)
{
    void *block = FIND(valloc)(bytes);

    COUNT(valloc, block, bytes);
    return block;
}

EXPORT void *pvalloc(size_t bytes)
{
    void *block = FIND(pvalloc)(bytes);

    COUNT(pvalloc, block, bytes);
    return block;
}
