/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/waits/interruption.h"

#include "preload/signals/entry.h"
#include "preload/hot.h"
#include "preload/raw.h"
#include "preload/signals/signals.h"
#include "preload/thread.h"

#include <errno.h>
#include <string.h>

bool interruption_possible;

/* The program's signals that wait until our handler is done. */
static uint64_t waiting(const ucontext_t *context)
{
    uint64_t pending = 0, blocked;

    memcpy(&blocked, &context->uc_sigmask, sizeof blocked);
    raw_syscall(SYS_rt_sigpending, (long)&pending, 8, 0, 0, 0, 0);
    return pending & ~blocked & ~signal_ours();
}

/* Will one of them enter a handler? Of those with the flags `but` it does not matter. */
static bool handled(uint64_t signals, uint64_t but)
{
    for (int number = 1; number <= 64; number++) {
        struct raw_action action;

        if (signals >> (number - 1) & 1 && raw_sigaction(number, NULL, &action) == 0 && action.handler > 1 &&
            !(action.flags & but))
            return true;
    }
    return false;
}

/* Calls that wait, and that the kernel makes again after a handler with SA_RESTART. */
static bool is_restarted(long number)
{
    switch (number) {
    /* clang-format off */
    case SYS_read: case SYS_readv: case SYS_write: case SYS_writev: case SYS_recvfrom: case SYS_recvmsg:
    case SYS_sendto: case SYS_sendmsg: case SYS_accept: case SYS_accept4: case SYS_connect: case SYS_wait4:
    case SYS_waitid: case SYS_futex: case SYS_flock: case SYS_fcntl: case SYS_openat: case SYS_ioctl:
#ifdef SYS_open
    case SYS_open:
#endif
    case SYS_mq_timedsend: case SYS_mq_timedreceive: case SYS_getrandom:
    case SYS_sendfile: case SYS_copy_file_range: case SYS_splice: case SYS_tee: case SYS_vmsplice:
    case SYS_recvmmsg: case SYS_sendmmsg:
        /* clang-format on */
        return true;
    default: return false;
    }
}

void interruption_end_repetition(ucontext_t *context)
{
    long number;

    if (arch_call_at(context, &number) == ARCH_REPEATS && is_restarted(number))
        arch_end_repetition(context);
}

/* Until the call is made again nothing is delivered that it blocks. The program's handlers, which are told what the
 * mask was, are told the truth: signals/entry.c. */
static void widen_mask(ucontext_t *context)
{
    uint64_t mask;

    if (!self.wait.masked || self.wait.widened)
        return;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    self.wait.before = mask;
    mask |= self.wait.blocked;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
    self.wait.widened = true;
}

/* A signal of the program that was not handled yet is handled before the wrapper goes on, and may have ended it. */
static void note_end(const ucontext_t *context, uint8_t how)
{
    self.call = (self.call & CALL_GOES_ON) | (waiting(context) ? 0 : how);
}

/*
 * The kernel has set the result of a call to EINTR and is about to return behind the syscall instruction. A handler of
 * the program that has come too is counted when it is entered; for one that was set up behind the C library's back it
 * is looked whether a signal is pending. Where the kernel is about to make the call again, because our handler wants
 * that, a signal of the program must still end it: the call gets the result that it would have had without us. One that
 * comes when this handler is at its end finds the place in `repeated`.
 */
static COLD void note_interruption(ucontext_t *context, enum arch_call call, long number)
{
    if (raw_frozen)
        return;
    if (call == ARCH_ENDED) {
        widen_mask(context);
        note_end(context, CALL_ENDED);
    } else if (is_restarted(number)) {
        bool goes_on = self.call & CALL_GOES_ON;
        self.repeated = arch_pc(context);
        if (handled(waiting(context), goes_on ? 0 : SA_RESTART)) /* one that was set up to end system calls */
            interruption_end_repetition(context);
    }
}

HOT void interruption_note(ucontext_t *context)
{
    enum arch_call call;
    long number;

    if (!interruption_possible || entry_is_at(arch_pc(context)))
        return; /* `repeated` is for the handler that is being entered */
    self.repeated = 0;
    call = arch_call_at(context, &number);
    if (call != ARCH_NO_CALL)
        note_interruption(context, call, number);
    else if (self.idle.inside && arch_has_called(context) && !raw_frozen)
        note_end(context, CALL_CUT);
}

uint32_t interruption_begin(void)
{
    self.call = 0;
    thread_runs();
    self.idle.inside = true;
    return self.theirs;
}

void interruption_end(void)
{
    self.call = 0;
    self.idle.inside = false;
    if (self.idle.rests)
        idle_end(false);
}

bool interrupted_by_us(uint32_t before)
{
    bool was = self.call & CALL_ENDED;

    self.call &= ~CALL_ENDED;
    return was && errno == EINTR && self.theirs == before;
}

bool interruption_goes_on(uint32_t before)
{
    self.call = CALL_GOES_ON;
    return self.theirs == before;
}

bool interrupted_before_due(uint32_t before)
{
    uint64_t pending = 0;

    if (interrupted_by_us(before))
        return true;
    return errno == EINTR && self.theirs == before && self.wait.masked && !raw_frozen &&
           raw_syscall(SYS_rt_sigpending, (long)&pending, 8, 0, 0, 0, 0) == 0 &&
           handled(pending & ~self.wait.blocked, 0);
}

void interruption_mask(const sigset_t *mask)
{
    self.wait.masked = self.wait.widened = false;
    if (!mask)
        return;
    memcpy(&self.wait.blocked, mask, sizeof self.wait.blocked);
    self.wait.masked = true;
}

void interruption_unmask(void)
{
    self.wait.masked = false;
    if (self.wait.widened) {
        self.wait.widened = false;
        raw_sigmask(SIG_SETMASK, &self.wait.before, NULL);
    }
}
