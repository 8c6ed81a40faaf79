/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of signals that the program gives or gets: masks, and what it waits for (signals.h). */
#include "preload/signals/signals.h"

#include "preload/signals/blocked.h"
#include "preload/file/cut.h"
#include "preload/waits/deadline.h"
#include "preload/export.h"
#include "preload/waits/interruption.h"
#include "preload/raw.h"
#include "preload/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>

#define TRAP_BIT (1ull << (SIGTRAP - 1))

/* Nearly always a variable of who calls: then nobody has to be asked. */
static bool is_on_stack(uint64_t address)
{
    uint64_t here = (uint64_t)__builtin_frame_address(0), low, high;

    thread_stack(here, &low, &high);
    return here >= low && address >= here && address < high;
}

const sigset_t *signal_if_given(const sigset_t *set)
{
    return set && (is_on_stack((uint64_t)set) || raw_given(set)) ? set : NULL;
}

/* A copy of the set without our signals. */
const sigset_t *signal_without_ours(const sigset_t *set, sigset_t *copy)
{
    uint64_t bits, ours = signal_ours();

    if (!set || !ours)
        return set;
    *copy = *set;
    memcpy(&bits, copy, sizeof bits);
    bits &= ~(blocked_really() ? ours & ~TRAP_BIT : ours);
    memcpy(copy, &bits, sizeof bits);
    return copy;
}

/* A set to be waited for: one that is sent by somebody may be SIGTRAP. */
static const sigset_t *waited_for(const sigset_t *set, sigset_t *copy)
{
    if (!signal_if_given(set))
        return set;
    bool trap = signal_in(set, SIGTRAP);

    set = signal_without_ours(set, copy);
    if (trap && set == copy)
        signal_put(copy, SIGTRAP, true);
    return set;
}

/* Notes what a change of the mask does to SIGTRAP, before the kernel is asked for the rest. */
static void change_shared(int how, const sigset_t *set)
{
    bool has = set && signal_in(set, SIGTRAP);

    if (set && (how == SIG_SETMASK || has))
        blocked_set(has && how != SIG_UNBLOCK);
}

static int change_mask(int how, const sigset_t *set, sigset_t *old, int (*change)(int, const sigset_t *, sigset_t *))
{
    bool before = signal_is_shared(SIGTRAP) && blocked_is();
    sigset_t copy;

    if (signal_is_shared(SIGTRAP) && (how == SIG_BLOCK || how == SIG_UNBLOCK || how == SIG_SETMASK))
        change_shared(how, set);
    int result = change(how, how == SIG_UNBLOCK ? set : signal_without_ours(set, &copy), old);
    if (result == 0)
        cut_note_mask(how, set);
    if (result == 0 && old && before)
        signal_put(old, SIGTRAP, true);
    return result;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(how, set, old, REAL(sigprocmask));
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(how, set, old, REAL(pthread_sigmask));
}

static int change_bare(int how, const sigset_t *set, sigset_t *old)
{
    return (int)raw_as_libc(raw_sigmask(how, (const uint64_t *)set, (uint64_t *)old));
}

bool signal_bare_mask(const long a[6], long *result)
{
    sigset_t set = {0};

    if (!signal_ours() || raw_frozen || a[3] != sizeof(uint64_t) || (a[1] && !raw_readable((uint64_t)a[1])))
        return false;
    if (a[1])
        memcpy(&set, (const void *)a[1], sizeof(uint64_t));
    *result = change_mask((int)a[0], a[1] ? &set : NULL, (sigset_t *)a[2], change_bare);
    return true;
}

bool signal_wait_begins(const sigset_t *mask)
{
    bool before = signal_is_shared(SIGTRAP) && blocked_is();

    if (mask && signal_is_shared(SIGTRAP))
        blocked_for_call(signal_in(mask, SIGTRAP));
    return before;
}

void signal_wait_ends(bool before, const sigset_t *mask)
{
    int error = errno;

    if (mask && signal_is_shared(SIGTRAP))
        blocked_set(before);
    errno = error;
}

EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t copy;

    return REAL(signalfd)(fd, waited_for(set, &copy), flags);
}

/* Waiting for a set: ours are taken out of it; being interrupted by them is not the program's concern. */
EXPORT int sigwait(const sigset_t *set, int *number)
{
    sigset_t copy;

    return REAL(sigwait)(waited_for(set, &copy), number); /* goes on after EINTR by itself */
}

EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict timeout)
{
    struct timeout limit = timeout_of(timeout);
    sigset_t copy;

    set = waited_for(set, &copy);
    return AGAIN_WHILE_OURS(REAL(sigtimedwait)(set, info, timeout_left(&limit)));
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}
