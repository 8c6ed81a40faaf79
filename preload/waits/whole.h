/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that move many bytes piece by piece. When a signal comes and some are moved they return what these are,
 * whatever SA_RESTART says: a write to a pipe that is full, recv with MSG_WAITALL, a read of /dev/zero. Nobody but our
 * signal would have ended them, so they go on with the rest; programs that take it for granted that a blocking write
 * writes all would lose it. What is short for another reason stays so (a descriptor or call that does not block, a
 * datagram, a read that takes what is there), and so does what a signal of the program has ended. The end of the other
 * side, errors and time limits find the program as they would have: what is moved is returned first.
 */
#ifndef HQ_PRELOAD_WAITS_WHOLE_H
#define HQ_PRELOAD_WAITS_WHOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

enum whole_kind { WHOLE_READ, WHOLE_RECEIVE, WHOLE_WRITE, WHOLE_SEND };

/* The call as the program has made it: `before` as interruption_begin returned it, `since` when that was. */
struct whole {
    int fd;
    enum whole_kind kind;
    uint32_t before;
    int64_t since;
    const struct iovec *parts;
    size_t count;
    int flags;
    bool bare; /* made by syscall(2), so nothing here is a cancellation point */
};

/* The call has returned `result`, and our signal has come when it was at its end (CALL_CUT). Returns what the call
 * would have returned without. */
ssize_t whole_finish(struct whole *w, ssize_t result);

/* Likewise of recvmmsg and sendmmsg, which have moved `done` of `count` messages, on a stream perhaps the last of them
 * in part; parts are of no account. Where sending has a time limit, for each message anew, it stays at that. */
int whole_messages(const struct whole *w, struct mmsghdr *messages, unsigned count, struct timespec *timeout, int done);

/* As many of these bytes as one call moves at most. */
size_t whole_most(size_t bytes);

/* Would a copy of a file into this descriptor have been whole? It does not go on into a file whose size is limited: a
 * write at the limit is short, and the next one raises a signal. */
bool whole_is_copied(int to);

/* The option of sockets that limits it. */
static inline int whole_limit(enum whole_kind kind)
{
    return kind >= WHOLE_WRITE ? SO_SNDTIMEO : SO_RCVTIMEO;
}

/* Returns the rest of a socket's time limit in nanoseconds; 0: it has passed, below 0: there is none. */
int64_t limit_rest(int fd, int option, int64_t since);

/* A call on a socket that was made first at `since` has failed with EINTR: should it be made again? Without a time
 * limit the kernel has done that already. */
bool limit_again(int fd, int option, int64_t since, uint32_t before, bool bare);

#endif
