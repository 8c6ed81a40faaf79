/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for a `hq record` that a race has started. A signal that ends commands is passed on to it, and so to the
 * program: whoever ends the race ends what it runs, and nothing is left running. Of the terminal's ^C the program knows
 * itself. A program that hangs would keep a race for ever, so it can be given up.
 */
#ifndef HQ_REPL_GATE_WATCH_H
#define HQ_REPL_GATE_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct watched {
    int status;      /* exit status, or 128 and the number of the signal that ended it */
    int interrupted; /* the signal that came for this process meanwhile: its caller is to end by it; 0 none */
    bool given_up;   /* it ran longer than it might, and was ended with all that it had started */
};

/* Blocks the signals that the wait is about, before the child is there; *mask is what it was, and is to be the child's.
 */
void watch_begin(sigset_t *mask);
/* Waits for the child, `most` seconds at most (0: as long as it takes), and restores the mask. */
struct watched watch_end(pid_t pid, double most, const sigset_t *mask);

#endif
