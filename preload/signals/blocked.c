/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/signals/blocked.h"

#include "preload/arch/arch.h"
#include "preload/options.h"
#include "preload/process.h"
#include "preload/raw.h"
#include "preload/signals/signals.h"
#include "preload/sources/perf.h"
#include "preload/sources/timer.h"
#include "preload/thread.h"

#include <string.h>

static const uint64_t trap = 1ull << (SIGTRAP - 1);

struct belief {
    volatile bool blocks, really;
    volatile bool keeps; /* `kept` waits to be unblocked */
    volatile bool lent;  /* for a call the kernel blocks it, too */
    siginfo_t kept;
};

/* A child of vfork has the memory of the thread that made it, and a mask of its own. */
static __thread struct {
    struct belief thread, child;
    volatile int child_pid; /* whose `child` is */
} own __attribute__((tls_model("initial-exec")));

static volatile bool frozen;

/* A child begins with the mask of the thread. Every call that changes the thread's has come back from a child before.
 */
static struct belief *belief(void)
{
    bool is_child = !process_is_this();
    int pid = is_child ? raw_getpid() : 0;

    if (pid != own.child_pid) {
        own.child = (struct belief){.blocks = own.thread.blocks, .really = own.thread.really};
        own.child_pid = pid;
    }
    return is_child ? &own.child : &own.thread;
}

static bool is_noted(const struct belief *its)
{
    return its->blocks || its->really || its->keeps || its->lent;
}

/* Nearly always: then it does not matter who asks, which only the kernel could tell (belief). */
static bool nobody_blocks(void)
{
    return !is_noted(&own.thread) && !is_noted(&own.child);
}

void blocked_freeze(void)
{
    frozen = true;
}

bool blocked_is(void)
{
    return !nobody_blocks() && belief()->blocks;
}

bool blocked_really(void)
{
    return (own.thread.really || own.child.really) && belief()->really;
}

/* Takes the signals that the clock sent before it was stopped: they would stay pending. Signals of others are sent
 * again. */
static void drop_ours(void)
{
    const struct timespec now = {0, 0};
    siginfo_t info;

    while (raw_syscall(SYS_rt_sigtimedwait, (long)&trap, (long)&info, (long)&now, sizeof trap, 0, 0) == SIGTRAP)
        if (!perf_mark(&info)) {
            signal_send_again(SIGTRAP, &info);
            return;
        }
}

void blocked_set(bool blocks)
{
    if (!blocks && nobody_blocks())
        return;
    struct belief *its = belief();
    bool lent = its->lent;

    its->blocks = blocks;
    its->lent = false;
    if (lent || (!blocks && its->really))
        raw_sigmask(SIG_UNBLOCK, &trap, NULL);
    if (!blocks && its->keeps) {
        siginfo_t kept = its->kept;
        its->keeps = false;
        signal_send_again(SIGTRAP, &kept);
    }
}

/* A signal that is kept is to end the call, not to come before it: so the kernel has it, and gives it to the call. */
void blocked_for_call(bool blocks)
{
    if (!blocks && nobody_blocks())
        return;
    struct belief *its = belief();

    its->blocks = blocks;
    if (!blocks && its->keeps && !raw_frozen && !frozen) {
        siginfo_t kept = its->kept;
        its->keeps = false;
        its->lent = true;
        raw_sigmask(SIG_BLOCK, &trap, NULL);
        signal_send_again(SIGTRAP, &kept);
    }
}

void blocked_begin(bool blocks)
{
    own.thread = (struct belief){.blocks = blocks};
}

bool blocked_waits(const siginfo_t *info, ucontext_t *context)
{
    struct belief *its = belief();
    uint64_t mask;
    long number;

    if (!its->blocks || signal_is_raised(info))
        return false;
    if (options.marked || raw_frozen || frozen) {
        its->kept = *info;
        its->keeps = !raw_frozen && !frozen;
        return true;
    }
    if (its == &own.thread) { /* a child has no clock */
        timer_take_over();
        drop_ours();
    }
    its->really = true;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    mask |= trap;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
    signal_send_again(SIGTRAP, info);
    if (arch_call_at(context, &number) == ARCH_ENDED)
        self.call |= CALL_ENDED; /* a call that waits is made again */
    return true;
}

static bool is_to_be_told(void)
{
    const struct belief *its = belief();

    return its->blocks && !its->really && !options.marked && signal_ours() & trap;
}

void blocked_before_exec(void)
{
    if (is_to_be_told())
        raw_sigmask(SIG_BLOCK, &trap, NULL);
    signal_before_exec();
}

void blocked_after_exec(void)
{
    signal_after_exec();
    if (is_to_be_told())
        raw_sigmask(SIG_UNBLOCK, &trap, NULL);
}
