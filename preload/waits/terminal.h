/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Terminals: the kernel lets some requests fail with EINTR if a signal is pending when the output has been sent,
 * whether they had to wait for that or not, and whatever SA_RESTART says. They are made again if it was ours alone; a
 * break that it has ended is sent once more.
 */
#ifndef HQ_PRELOAD_WAITS_TERMINAL_H
#define HQ_PRELOAD_WAITS_TERMINAL_H

#include <stdbool.h>

/* Whether this request of ioctl(2) is one of them. */
bool terminal_waits(unsigned long request);

#endif
