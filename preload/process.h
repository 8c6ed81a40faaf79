/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells which process this is: fork, vfork and clone make others, which must not write to the file of their parent. */
#ifndef HQ_PRELOAD_PROCESS_H
#define HQ_PRELOAD_PROCESS_H

#include <stdbool.h>

/* Once, when the library is loaded. */
bool process_start(void);

/* Not so in a child that was forked behind the C library's back. Safe in signal handlers. */
extern volatile int *process_page; /* what it looks at */
static inline __attribute__((always_inline)) bool process_is_known(void)
{
    return process_page && *process_page;
}

/* How many forks lie between the first process of the image and this one. */
extern unsigned process_forks;
static inline unsigned process_epoch(void)
{
    return process_forks;
}

/* Outside signal handlers: makes such a child known. */
void process_check(void);

/* Is this not a child made by vfork? So also in a forked child that has no file yet. */
bool process_is_this(void);

/* Around a call of exec, by the thread that makes it. False: not for this process (a child made by vfork). */
bool process_before_exec(void);
void process_after_failed_exec(void);

#endif
