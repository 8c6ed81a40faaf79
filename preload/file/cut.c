/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/file/cut.h"

#include "preload/signals/entry.h"
#include "preload/file/file.h"
#include "preload/process.h"
#include "preload/reach.h"
#include "preload/signals/signals.h"
#include "preload/thread.h"

/* One that was sent while we are at work, and have unblocked it for that, comes when we are done. A handler of ours is
 * known by its mask, which has the signal that no program can block. The program's handler may be one that is entered
 * with the signal unblocked (SA_NODEFER): then what is sent again would come at once, without end. */
static bool waits_for_us(const siginfo_t *info, ucontext_t *context, bool strange)
{
    uint64_t mask, bus = CUT_BIT;

    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    if (raw_frozen || !(mask >> (SIGNAL_RESERVED - 1) & 1 || (!strange && self.opened)))
        return false;
    mask |= CUT_BIT;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
    raw_sigmask(SIG_BLOCK, &bus, NULL);
    /* Go changes masks without the C library, and blocks the signal for moments alone. */
    if (strange || (self.blocks_bus && !entry_stays()))
        signal_send_again(SIGBUS, info);
    else /* this thread would have handled it: to itself it may say who has sent it, and how */
        raw_syscall(SYS_rt_tgsigqueueinfo, raw_getpid(), raw_gettid(), SIGBUS, (long)info, 0, 0);
    return true;
}

bool cut_takes(const siginfo_t *info, ucontext_t *context)
{
    if (info->si_code > 0)
        return file_mend((uint64_t)info->si_addr);
    struct reach outside = reach_enter_any();
    bool waits = waits_for_us(info, context, outside.strange);
    reach_leave(&outside);
    return waits;
}

/* Ends the program, where it is not ours, as it would end without us: by the instruction, which is repeated, or by the
 * signal, which is sent again. */
void cut_on_bus(int number, siginfo_t *info, void *context)
{
    if (cut_takes(info, context))
        return;
    raw_sigaction(number, &(struct raw_action){0}, NULL);
    if (info->si_code <= 0 || info->si_code == BUS_MCEERR_AO)
        raw_syscall(SYS_tgkill, raw_getpid(), raw_gettid(), number, 0, 0, 0); /* when the handler has returned */
}

void cut_note_mask(int how, const sigset_t *set)
{
    bool has = set && signal_in(set, SIGBUS), blocks = has && how != SIG_UNBLOCK;

    /* A child of vfork has a mask of its own. The kernel is asked only where something changes. */
    if (set && (how == SIG_SETMASK || has) && blocks != self.blocks_bus && process_is_this())
        self.blocks_bus = blocks;
}

bool cut_open(void)
{
    uint64_t before = 0, bus = CUT_BIT;

    if (!self.blocks_bus || self.opened || raw_frozen)
        return false;
    self.opened = true;
    raw_sigmask(SIG_UNBLOCK, &bus, &before);
    if (!(before & bus)) /* a handler of ours has done it, or the end of one of the program's */
        self.opened = false;
    return self.opened;
}

void cut_close(bool opened)
{
    const uint64_t bus = CUT_BIT;

    if (!opened)
        return;
    raw_sigmask(SIG_BLOCK, &bus, NULL);
    self.opened = false;
}
