/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/signals/signals.h"

#include "preload/signals/blocked.h"
#include "preload/file/cut.h"
#include "preload/signals/entry.h"
#include "preload/export.h"
#include "preload/waits/interruption.h"
#include "preload/options.h"
#include "preload/process.h"
#include "preload/raw.h"
#include "preload/signals/trap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

enum { HAS_RESTORER = 0x04000000 }; /* a flag of the kernel's */

static uint64_t ours;               /* bit n - 1: signal n */
static bool guards_file;            /* SIGBUS has our handler where the program has none: file/cut.h */
static struct sigaction shadow[65]; /* what the program asked for with our numbers */

/* Handlers of the reserved signal: ours, and the C library's once it has one. */
static void (*reserved_handler)(int, siginfo_t *, void *);
static void (*library_handler)(int, siginfo_t *, void *);
static void (*trap_handler)(int, siginfo_t *, void *);    /* ours */
static void (*adopted_handler)(int, siginfo_t *, void *); /* of signals that a descriptor sends (F_SETSIG) */

static uint64_t bit(int number)
{
    return number >= 1 && number <= 64 ? 1ull << (number - 1) : 0;
}

bool signal_is_shared(int number)
{
    return ours & bit(number) && number != SIGNAL_RESERVED;
}

/* The C library's way back from a handler, which unwinders know: read from where it has set up one. 0: that is the
 * kernel's. */
static uint64_t find_restorer(void)
{
    struct sigaction action = {.sa_sigaction = reserved_handler};
    struct raw_action before, made = {0};

    if (raw_sigaction(SIGRTMAX, NULL, &before) == 0 && REAL(sigaction)(SIGRTMAX, &action, NULL) == 0) {
        raw_sigaction(SIGRTMAX, NULL, &made);
        raw_sigaction(SIGRTMAX, &before, NULL);
    }
    return made.flags & HAS_RESTORER ? made.restorer : 0;
}

/* All others wait: a handler of the program that jumped out of ours would leave the guard up for good. SIGBUS does not,
 * for it is how the kernel says that a page of the file is gone. */
static void install(int number, void (*handler)(int, siginfo_t *, void *))
{
    static uint64_t restorer;

    if (!restorer)
        restorer = find_restorer();
    raw_sigaction(number,
                  &(struct raw_action){(uint64_t)handler,
                                       SA_SIGINFO | SA_RESTART | SA_ONSTACK | (restorer ? HAS_RESTORER : 0), restorer,
                                       ~(uint64_t)CUT_BIT},
                  NULL);
}

/* AddressSanitizer, where it is asked to, keeps its handler of SIGBUS from the C library's functions. */
static void insist(int number, sighandler_t kept, sighandler_t wanted)
{
    struct raw_action now;

    if (raw_sigaction(number, NULL, &now) != 0 || now.handler != (uint64_t)kept)
        return;
    now.handler = (uint64_t)wanted;
    raw_sigaction(number, &now, NULL);
}

/* A handler that was set up before the start, or by another function than sigaction, which alone knows its flags, gets
 * the right entry and mask. */
static void settle(int number)
{
    struct sigaction action;

    if (REAL(sigaction)(number, NULL, &action) != 0 || action.sa_sigaction == cut_on_bus)
        return;
    sighandler_t kept = action.sa_handler;
    sigset_t mask = action.sa_mask;
    action.sa_handler = entry_of(number, entry_behind(kept), action.sa_flags);
    signal_without_ours(&mask, &action.sa_mask);
    if (number == SIGBUS && guards_file && kept == SIG_DFL) {
        shadow[number] = action;
        install(number, cut_on_bus);
    } else if (action.sa_handler != kept || memcmp(&action.sa_mask, &mask, sizeof ours) != 0) {
        REAL(sigaction)(number, &action, NULL);
        insist(number, kept, action.sa_handler);
    }
}

/* Keeps the handler that is set: if it is not ours, it is the C library's. False if ours is set. */
static bool keep_reserved(void)
{
    struct raw_action now;

    if (raw_sigaction(SIGNAL_RESERVED, NULL, &now) != 0 || now.handler == (uint64_t)reserved_handler)
        return false;
    library_handler = (void (*)(int, siginfo_t *, void *))now.handler;
    return true;
}

bool signal_may_be_handled(void)
{
    struct raw_action now;

    return raw_sigaction(SIGNAL_RESERVED, NULL, &now) == 0 && raw_sigaction(SIGNAL_RESERVED, &now, NULL) == 0;
}

/* An action that the process has already, set up by a constructor or handed on by exec, is the program's; of the
 * reserved one the C library's: before glibc 2.34 libpthread has set up its handler when it was initialised, before us.
 */
void signal_take(int number, void (*handler)(int, siginfo_t *, void *))
{
    if (number == SIGNAL_RESERVED) {
        keep_reserved();
        reserved_handler = handler;
    }
    if (number == SIGTRAP) {
        trap_handler = handler;
        REAL(sigaction)(number, NULL, &shadow[number]);
    }
    install(number, handler);
    ours |= bit(number);
}

void signal_retake(void)
{
    if (raw_frozen || !options.active)
        return;
    if (reserved_handler && keep_reserved())
        install(SIGNAL_RESERVED, reserved_handler);
    settle(SIGBUS);
}

/* True if it was the kernel's default action. */
static bool retake_trap(void)
{
    struct raw_action now;

    if (!signal_is_shared(SIGTRAP) || raw_sigaction(SIGTRAP, NULL, &now) != 0 || now.handler == (uint64_t)trap_handler)
        return false;
    install(SIGTRAP, trap_handler);
    return now.handler == (uint64_t)SIG_DFL;
}

/* clone3 can give a child no handlers at all (CLONE_CLEAR_SIGHAND), and another thread may just have been handing on
 * that the signal is ignored. */
void signal_after_fork(void)
{
    if (retake_trap())
        shadow[SIGTRAP] = (struct sigaction){0};
    settle(SIGBUS);
}

/* The clock's signals are lost meanwhile, but not what they stand for: the next sample finds that in the ring. A
 * breakpoint would end the program. */
void signal_before_exec(void)
{
    if (signal_is_shared(SIGTRAP) && shadow[SIGTRAP].sa_handler == SIG_IGN && !options.marked)
        raw_sigaction(SIGTRAP, &(struct raw_action){.handler = (uint64_t)SIG_IGN}, NULL);
}

void signal_after_exec(void)
{
    retake_trap();
}

void signal_interrupts(void)
{
    interruption_possible = true;
}

void signal_start(void)
{
    guards_file = !trap_is_go(); /* Go asks the kernel for the handlers that were there before it */
    if (!guards_file)
        entry_stay();
    for (int number = 1; number <= 64; number++)
        if (!signal_is_shared(number))
            settle(number);
}

uint64_t signal_ours(void)
{
    return ours;
}

void signal_unblock(void)
{
    uint64_t before = 0;

    raw_sigmask(SIG_BLOCK, NULL, &before);
    if (signal_is_shared(SIGTRAP))
        blocked_begin(blocked_is() || before & bit(SIGTRAP));
    raw_sigmask(SIG_UNBLOCK, &ours, NULL); /* what waits comes at once */
}

/* Somebody has sent it, and the program would end by it: the C library has no threads to tell anything. It comes when
 * our handler returns. A debugger that hands a signal on at another stop than the signal's own (ltrace) counts as its
 * sender: that may be one of ours. */
static void end_by_reserved(const siginfo_t *info)
{
    if (info->si_code != SI_USER && info->si_code != SI_TKILL && info->si_code != SI_QUEUE)
        return;
    if (info->si_code == SI_USER && info->si_pid && info->si_pid == trap_tracer())
        return;
    raw_sigaction(SIGNAL_RESERVED, &(struct raw_action){0}, NULL);
    signal_send_again(SIGNAL_RESERVED, info);
}

void signal_foreign(int number, siginfo_t *info, void *context)
{
    struct sigaction action = shadow[number];

    if (number == SIGNAL_RESERVED) {
        if (info->si_code > 0 && adopted_handler)
            adopted_handler(number, info, context);
        else if ((uint64_t)library_handler > 1)
            library_handler(number, info, context);
        else if ((uint64_t)library_handler == (uint64_t)SIG_DFL)
            end_by_reserved(info);
        return;
    }
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
        return;
    if (action.sa_flags & SA_RESETHAND)
        shadow[number].sa_handler = SIG_DFL;
    entry_hand_over(number, info, context, &action, ours);
}

bool signal_is_left_to_kernel(int number, bool raised)
{
    const struct sigaction *action = &shadow[number];

    return action->sa_handler == SIG_DFL || (raised && action->sa_handler == SIG_IGN);
}

/* A child of vfork has handlers of its own, and no clock; it has breakpoints. */
static int shadow_action(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction before = shadow[number];

    if (!options.marked && !process_is_this()) {
        if (REAL(sigaction)(number, action, &before) != 0)
            return -1;
        if (before.sa_sigaction == trap_handler)
            before = shadow[number];
    } else if (action) {
        shadow[number] = *action;
    }
    if (old)
        *old = before;
    return 0;
}

static struct sigaction from_kernel(const struct raw_action *action)
{
    struct sigaction made = {.sa_handler = (sighandler_t)action->handler, .sa_flags = (int)action->flags};

    made.sa_restorer = (void (*)(void))action->restorer;
    memcpy(&made.sa_mask, &action->mask, sizeof action->mask);
    return made;
}

static struct raw_action to_kernel(const struct sigaction *action)
{
    struct raw_action made = {.handler = (uint64_t)action->sa_handler,
                              .flags = (uint64_t)(unsigned)action->sa_flags,
                              .restorer = (uint64_t)action->sa_restorer};

    memcpy(&made.mask, &action->sa_mask, sizeof made.mask);
    return made;
}

/* The program's own action of the reserved signal is all that it can have had in mind. */
static void change_reserved(const struct sigaction *action, struct sigaction *old)
{
    *old = (struct sigaction){.sa_sigaction = library_handler,
                              .sa_flags = (uint64_t)library_handler > 1 ? SA_SIGINFO | SA_RESTART : 0};
    if (action)
        library_handler = action->sa_sigaction;
}

bool signal_bare_action(const long a[6], long *result)
{
    const struct raw_action *action = (const void *)a[1];
    struct raw_action *old = (void *)a[2];
    struct sigaction wanted, before;
    int number = (int)a[0];

    if (!(ours & bit(number)) || raw_frozen || a[3] != sizeof ours ||
        (action && !(raw_readable((uint64_t)action) && raw_readable((uint64_t)&action->mask))) ||
        (number == SIGNAL_RESERVED && !process_is_this()))
        return false;
    *result = raw_as_libc(raw_sigaction(number, NULL, old)); /* can it be written? */
    if (*result != 0)
        return true;
    if (action)
        wanted = from_kernel(action);
    if (number == SIGNAL_RESERVED)
        change_reserved(action ? &wanted : NULL, &before);
    else
        *result = shadow_action(number, action ? &wanted : NULL, &before);
    if (old && *result == 0)
        *old = to_kernel(&before);
    return true;
}

static __thread bool adopting __attribute__((tls_model("initial-exec")));

void signal_adopt(bool on)
{
    adopting = on;
}

/* A library that works for the collector takes a signal: it gets the reserved one. */
static int adopt(const struct sigaction *action)
{
    if (action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
        adopted_handler = action->sa_sigaction;
        if (!reserved_handler)
            signal_take(SIGNAL_RESERVED, signal_foreign);
    }
    return 0;
}

EXPORT int fcntl(int fd, int command, ...)
{
    va_list list;

    va_start(list, command);
    long argument = va_arg(list, long);
    va_end(list);
    return REAL(fcntl)(fd, command, adopting && command == F_SETSIG ? SIGNAL_RESERVED : argument);
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction copy, unhandled = shadow[SIGBUS];

    if (adopting)
        return adopt(action);
    if (signal_is_shared(number))
        return shadow_action(number, action, old);
    if (action && (ours || options.active)) { /* the alternate stack is ours also where no signal is */
        if (number == SIGURG && action->sa_flags & SA_ONSTACK && trap_is_go()) /* a library of Go that was opened */
            entry_stay();
        copy = *action;
        signal_without_ours(&action->sa_mask, &copy.sa_mask);
        copy.sa_handler = entry_of(number, action->sa_handler, action->sa_flags);
        action = &copy;
    }
    int result = REAL(sigaction)(number, action, old);
    if (result == 0 && action && number == SIGBUS)
        settle(number);
    if (result == 0 && old && old->sa_sigaction == cut_on_bus)
        *old = unhandled;
    else if (result == 0 && old)
        old->sa_handler = entry_behind(old->sa_handler);
    return result;
}

static sighandler_t shadow_handler(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler}, old;

    shadow_action(number, &action, &old);
    return old.sa_handler;
}

static sighandler_t set_handler(int number, sighandler_t handler, sighandler_t (*set)(int, sighandler_t))
{
    sighandler_t before;

    if (signal_is_shared(number))
        return shadow_handler(number, handler);
    before = set(number, entry_of(number, handler, SA_RESTART));
    settle(number);
    return (uintptr_t)before == (uintptr_t)cut_on_bus ? SIG_DFL : entry_behind(before);
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, REAL(signal));
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, REAL(sysv_signal));
}

EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return sysv_signal(number, handler);
}

EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

EXPORT sighandler_t ssignal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

/* Programs still use these functions, although they are deprecated. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
    return set_handler(number, handler, REAL(sigset));
}

EXPORT int siginterrupt(int number, int interrupts)
{
    int result = REAL(siginterrupt)(number, interrupts);

    if (result == 0)
        settle(number);
    return result;
}

#pragma GCC diagnostic pop
