/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/blocked.h"

#include "preload/arch/arch.h"
#include "preload/options.h"
#include "preload/raw.h"
#include "preload/signals.h"
#include "preload/sources/perf.h"
#include "preload/sources/timer.h"
#include "preload/thread.h"

#include <string.h>

static const uint64_t trap = 1ull << (SIGTRAP - 1);

static __thread struct {
    volatile bool blocks, really;
    volatile bool keeps; /* `kept` waits to be unblocked */
    siginfo_t kept;
} own __attribute__((tls_model("initial-exec")));

static volatile bool frozen;

void blocked_freeze(void)
{
    frozen = true;
}

bool blocked_is(void)
{
    return own.blocks;
}

bool blocked_really(void)
{
    return own.really;
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
    own.blocks = blocks;
    if (!blocks && own.really)
        raw_sigmask(SIG_UNBLOCK, &trap, NULL);
    if (!blocks && own.keeps) {
        siginfo_t kept = own.kept;
        own.keeps = false;
        signal_send_again(SIGTRAP, &kept);
    }
}

void blocked_for_call(bool blocks)
{
    own.blocks = blocks;
}

void blocked_begin(bool blocks)
{
    own.blocks = blocks;
    own.really = own.keeps = false;
}

bool blocked_waits(const siginfo_t *info, ucontext_t *context)
{
    uint64_t mask;
    long number;

    if (!own.blocks || signal_is_raised(info))
        return false;
    if (options.marked || raw_frozen || frozen) {
        own.kept = *info;
        own.keeps = !raw_frozen && !frozen;
        return true;
    }
    timer_take_over();
    drop_ours();
    own.really = true;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    mask |= trap;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
    signal_send_again(SIGTRAP, info);
    if (arch_call_at(context, &number) == ARCH_ENDED)
        self.interrupted = true; /* a call that waits is made again */
    return true;
}

static bool is_to_be_told(void)
{
    return own.blocks && !own.really && !options.marked && signal_ours() & trap;
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
