/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's signal handlers are entered through the collector, for three reasons.
 *
 * Whether a system call was ended by our signal alone or by one of the program too cannot be seen afterwards: when both
 * handlers have returned, the thread stands behind the call with EINTR either way. So where our signals can end calls
 * each handler of the program is counted (self.theirs) before it runs.
 *
 * The kernel's alternate stack is ours (altstack.h). A handler that wants to run on the program's (SA_ONSTACK) is moved
 * there, with the frame that the kernel has made for it.
 *
 * And a handler of SIGBUS is not told of our own file's pages (file/cut.h).
 *
 * The kernel is given an entry, a few instructions that jump on to the handler with registers and stack as the kernel
 * would have made them: no frame of ours is in between. Which handler an entry stands for never changes. So all is
 * right also in a child of vfork, which shares our memory but not the kernel's table of handlers, for a program that
 * reads that table without the C library, and when a handler is replaced while it is being called. A program that makes
 * handlers as it runs needs more of them than there are: then the entries of the signal itself are used in turn.
 */
#ifndef HQ_PRELOAD_SIGNALS_ENTRY_H
#define HQ_PRELOAD_SIGNALS_ENTRY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Returns the entry that the kernel is to call for a handler of a signal with these flags (SA_*). SIG_DFL, SIG_IGN and
 * their like, and a handler that needs no entry, are returned as they are. Safe in signal handlers. */
sighandler_t entry_of(int number, sighandler_t handler, int flags);

/* Signals that come where the program is, and not while the collector is at work, as bits. */
enum { ENTRY_FAULTS = 1 << (SIGSEGV - 1) | 1 << (SIGBUS - 1) | 1 << (SIGFPE - 1) | 1 << (SIGILL - 1) };

/* From here on handlers run where the kernel has put them, also on an alternate stack of ours. Go asks the kernel for
 * that stack, past the C library, takes it for its own, and ends a program whose handlers run elsewhere. */
void entry_stay(void);
bool entry_stays(void);

/* Called in a handler of ours, with what it was called with: goes on as if the kernel had called the program's handler
 * instead, on the stack and with the mask that this has asked for, less the signals of `never_masked`. */
void entry_hand_over(int number, siginfo_t *info, void *context, const struct sigaction *action, uint64_t never_masked)
    __attribute__((noreturn));

/* The handler behind what the kernel calls. */
sighandler_t entry_behind(sighandler_t address);

/* Is a handler of the program about to be entered: is this in an entry, or in what that looks at? */
bool entry_is_at(uint64_t pc);

/* ---- the processor's own part: preload/arch/ ---- */

enum { ENTRIES = 1024, ENTRY_BYTES = 16 };

/* The values with which the handler is to be entered, as the entries keep them on the stack. */
struct entered {
    char *frame; /* the kernel's: where the stack pointer was */
    ucontext_t *context;
    siginfo_t *info;
    uint64_t number, frame_pointer, entry;
};

/* In the entries' section: a second handler may be entered at any instruction, and knows by the section that it is not
 * the program's. */
#define ENTRY __attribute__((section("hq_entry")))

/* ENTRIES times ENTRY_BYTES of code: each calls entry_note with its number, and goes on to the handler that it returns,
 * with the frame where struct entered says it is then. */
extern const char entry_first[] __attribute__((visibility("hidden")));
ENTRY __attribute__((used, noinline)) sighandler_t entry_note(struct entered *e);

/* In a handler of ours: fills in the rest of what is known by the context. */
void entry_begin(struct entered *e);

/* The frame was copied to `distance` above where it was; e->frame, context and info are right already. */
ENTRY void entry_moved(struct entered *e, uint64_t distance);

/* To the handler, as the kernel would have called it. */
void entry_go(const struct entered *e, sighandler_t handler) __attribute__((noreturn));

#endif
