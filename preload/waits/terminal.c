/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/waits/terminal.h"

#include "preload/export.h"
#include "preload/waits/interruption.h"
#include "preload/raw.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <termios.h>

bool terminal_waits(unsigned long request)
{
    return request == TCSBRK || request == TCSBRKP || request == TIOCSBRK || request == TIOCSETD;
}

EXPORT int tcdrain(int fd)
{
    return AGAIN_WHILE_OURS(REAL(tcdrain)(fd));
}

EXPORT int tcsendbreak(int fd, int duration)
{
    return AGAIN_WHILE_OURS(REAL(tcsendbreak)(fd, duration));
}

/* Stands in the way of every driver: other requests are passed on at once, before the start to the kernel itself. */
EXPORT int ioctl(int fd, unsigned long request, ...)
{
    __typeof__(&ioctl) real = REAL_IF_KNOWN(ioctl);
    va_list list;

    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (!real)
        return (int)raw_as_libc(raw_syscall(SYS_ioctl, fd, (long)request, (long)argument, 0, 0, 0));
    return terminal_waits(request) ? AGAIN_WHILE_OURS(real(fd, request, argument)) : real(fd, request, argument);
}
