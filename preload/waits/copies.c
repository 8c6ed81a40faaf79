/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that copy in the kernel, or fill a buffer, and return a part where a signal comes in the middle of their work:
 * after ours alone they go on with the rest (whole.h).
 */
#include "preload/export.h"
#include "preload/waits/direct.h"
#include "preload/waits/interruption.h"
#include "preload/raw.h"
#include "preload/thread.h"
#include "preload/waits/whole.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* The call asks for as many bytes as the program has; what goes on, for the rest of those that one call moves. */
static size_t left(size_t bytes, ssize_t done)
{
    return done > 0 ? whole_most(bytes) - (size_t)done : bytes;
}

/* `rest` is the call for what is behind the first `done` bytes. */
#define IN_PIECES(done, bytes, may_go_on, rest) \
    do { \
        ssize_t done = 0, more_; \
        uint32_t before_ = interruption_begin(); \
        do \
            more_ = rest; \
        while (more_ < 0 && interrupted_by_us(before_)); \
        done = more_; \
        if (__builtin_expect(self.call & CALL_CUT, 0) && done > 0 && (may_go_on)) { \
            int error_ = errno; \
            while (self.call & CALL_CUT && more_ > 0 && (size_t)done < whole_most(bytes) && \
                   interruption_goes_on(before_)) { \
                more_ = rest; \
                done += more_ > 0 ? more_ : 0; \
            } \
            errno = error_; \
        } \
        interruption_end(); \
        return done; \
    } while (0)

/* Before the start it is the kernel's own: allocators call it while they begin. */
EXPORT ssize_t getrandom(void *buffer, size_t bytes, unsigned flags)
{
    __typeof__(&getrandom) real = REAL_IF_KNOWN(getrandom);

    if (!real)
        return raw_as_libc(raw_syscall(SYS_getrandom, (long)buffer, (long)bytes, flags, 0, 0, 0));
    IN_PIECES(done, bytes, true, real((char *)buffer + done, left(bytes, done), flags));
}

EXPORT ssize_t sendfile(int to, int from, off_t *offset, size_t bytes)
{
    IN_PIECES(done, bytes, whole_is_copied(to), REAL(sendfile)(to, from, offset, left(bytes, done)));
}

EXPORT ssize_t sendfile64(int to, int from, off64_t *offset, size_t bytes)
{
    return sendfile(to, from, offset, bytes);
}

EXPORT ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t bytes, unsigned flags)
{
    IN_PIECES(done, bytes, whole_is_copied(to),
              REAL(copy_file_range)(from, from_offset, to, to_offset, left(bytes, done), flags));
}

/* Those calls again, made by syscall(2) with these arguments. */
long direct_copy(long number, const long a[6], direct_next *next)
{
    switch (number) {
    case SYS_getrandom:
        IN_PIECES(done, (size_t)a[1], true,
                  next(number, (const long[6]){a[0] + done, (long)left((size_t)a[1], done), a[2]}));
    case SYS_sendfile:
        IN_PIECES(done, (size_t)a[3], whole_is_copied((int)a[0]),
                  next(number, (const long[6]){a[0], a[1], a[2], (long)left((size_t)a[3], done)}));
    case SYS_copy_file_range:
        IN_PIECES(done, (size_t)a[4], whole_is_copied((int)a[2]),
                  next(number, (const long[6]){a[0], a[1], a[2], a[3], (long)left((size_t)a[4], done), a[5]}));
    default: return next(number, a);
    }
}
