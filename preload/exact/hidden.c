/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of a library that is preloaded before ours, or of the program's own, are called in place of the wrappers:
 * that calls may be missing is told. Whether such a function passes calls on to the next one, which is ours, cannot be
 * seen from outside. */
#include "preload/exact/exact.h"
#include "preload/exact/front.h"

#include <stdbool.h>
#include <string.h>

#define PASSED_ON     "calls that these do not pass on are not counted"
#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { MANY = 128 };

/* free counts nothing. */
static const char *const alloc[] = {"malloc",        "calloc",   "realloc", "reallocarray", "posix_memalign",
                                    "aligned_alloc", "memalign", "valloc",  "pvalloc",      "free"};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static bool locks(const char *name)
{
    return !strncmp(name, "pthread_", 8) || !strncmp(name, "mtx_", 4) || !strncmp(name, "cnd_", 4);
}

/* Of locks, or of input and output. The table has a function for each place that calls it. */
static void tell_others(bool of_locks)
{
    const char *names[MANY];
    size_t count = 0;

    for (struct real *real = __start_hq_real; real != __stop_hq_real; real++)
        if (count < MANY && locks(real->name) == of_locks && !is_one_of(real->name, alloc, LENGTH(alloc)) &&
            !is_one_of(real->name, names, count))
            names[count++] = real->name;
    front_tell(names, count, PASSED_ON);
}

static __attribute__((constructor)) void tell_what_is_hidden(void)
{
    if (EVENT("ALLOC_BYTES") >= 0 || EVENT("ALLOC_CALLS") >= 0 || EVENT("ALLOC_LEAKED") >= 0)
        front_tell(alloc, LENGTH(alloc) - 1, PASSED_ON);
    if (EVENT("LOCK_WAIT") >= 0)
        tell_others(true);
    if (EVENT("IO_READ") >= 0 || EVENT("IO_WRITE") >= 0)
        tell_others(false);
}
