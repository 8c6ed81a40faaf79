/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of pieces.c: each moves BYTES bytes from or to `end`, with somebody at `other`, or, if it works and does
 * not wait, LARGE ones.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

enum { LARGE = 32 << 20, BYTES = 1500000, PARTS = 40, MESSAGES = 100, MESSAGE = 2000 };

static int end, other; /* the ends, of the thread that makes the call and of the one that watches it */
static char *bytes;    /* what is sent, or where it is received */
static char large[LARGE];

/* ---- The calls ---- */

/* In parts of unlike size, some of them empty. */
static int parts_of(struct iovec *parts)
{
    size_t at = 0;

    for (int i = 0; i < PARTS; i++) {
        size_t size = i % 7 == 3 ? 0 : i == PARTS - 1 ? BYTES - at : (size_t)i * 1500;
        parts[i] = (struct iovec){bytes + at, size};
        at += size;
    }
    return PARTS;
}

static ssize_t do_write(void)
{
    return write(end, bytes, BYTES);
}
static ssize_t do_writev(void)
{
    struct iovec parts[PARTS];
    return writev(end, parts, parts_of(parts));
}
static ssize_t do_send(void)
{
    return send(end, bytes, BYTES, 0);
}
static ssize_t do_sendto(void)
{
    return sendto(end, bytes, BYTES, 0, NULL, 0);
}
static ssize_t do_sendmsg(void)
{
    struct iovec parts[PARTS];
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)parts_of(parts)};
    return sendmsg(end, &message, 0);
}
static ssize_t do_recv(void)
{
    return recv(end, bytes, BYTES, MSG_WAITALL);
}
static ssize_t do_recvfrom(void)
{
    return recvfrom(end, bytes, BYTES, MSG_WAITALL, NULL, NULL);
}
static ssize_t do_recvmsg(void)
{
    struct iovec parts[PARTS];
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)parts_of(parts)};
    return recvmsg(end, &message, MSG_WAITALL);
}

/* In messages, on a stream. Returns their bytes. */
static ssize_t move_in_messages(long number, int flags)
{
    struct iovec parts[PARTS];
    struct mmsghdr messages[PARTS];
    int count = parts_of(parts);
    ssize_t sum = 0;

    for (int i = 0; i < count; i++)
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &parts[i], .msg_iovlen = 1}};
    int moved = number == SYS_sendmmsg   ? sendmmsg(end, messages, (unsigned)count, flags)
                : number == SYS_recvmmsg ? recvmmsg(end, messages, (unsigned)count, flags, NULL)
                                         : (int)syscall(-number, end, messages, count, flags, NULL);
    for (int i = 0; i < moved; i++)
        sum += messages[i].msg_len;
    return moved < 0 ? -1 : sum;
}

static ssize_t do_sendmmsg_stream(void)
{
    return move_in_messages(SYS_sendmmsg, 0);
}
static ssize_t do_recvmmsg_stream(void)
{
    return move_in_messages(SYS_recvmmsg, MSG_WAITALL);
}

/* ---- By their numbers ---- */

static ssize_t by_number_write(void)
{
    return syscall(SYS_write, end, bytes, BYTES);
}
static ssize_t by_number_writev(void)
{
    struct iovec parts[PARTS];
    return syscall(SYS_writev, end, parts, parts_of(parts));
}
static ssize_t by_number_sendto(void)
{
    return syscall(SYS_sendto, end, bytes, BYTES, 0, NULL, 0);
}
static ssize_t by_number_sendmsg(void)
{
    struct iovec parts[PARTS];
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)parts_of(parts)};
    return syscall(SYS_sendmsg, end, &message, 0);
}
static ssize_t by_number_sendmmsg(void)
{
    return move_in_messages(-SYS_sendmmsg, 0);
}
static ssize_t by_number_recvfrom(void)
{
    return syscall(SYS_recvfrom, end, bytes, BYTES, MSG_WAITALL, NULL, NULL);
}
static ssize_t by_number_recvmsg(void)
{
    struct iovec parts[PARTS];
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)parts_of(parts)};
    return syscall(SYS_recvmsg, end, &message, MSG_WAITALL);
}
static ssize_t by_number_recvmmsg(void)
{
    return move_in_messages(-SYS_recvmmsg, MSG_WAITALL);
}
static ssize_t by_number_getrandom(void)
{
    return syscall(SYS_getrandom, large, LARGE, 0);
}
static ssize_t by_number_read(void)
{
    return syscall(SYS_read, end, large, LARGE);
}

/* From a file of the right bytes. */
static int open_file(size_t size)
{
    int file = memfd_create("", 0);

    if (ftruncate(file, (off_t)size) || pwrite(file, bytes, BYTES, 0) != BYTES)
        exit(2);
    return file;
}

static ssize_t do_sendfile(void)
{
    off_t at = 0;
    int from = open_file(BYTES);
    ssize_t sent = sendfile(end, from, &at, BYTES);
    close(from);
    return sent == at ? sent : -1;
}

static ssize_t do_getrandom(void)
{
    return getrandom(large, LARGE, 0);
}
static ssize_t do_read(void)
{
    return read(end, large, LARGE);
}
static ssize_t do_copy_file_range(void)
{
    int from = open_file(LARGE), to = open_file(BYTES);
    ssize_t copied = copy_file_range(from, NULL, to, NULL, LARGE, 0);
    close(from);
    close(to);
    return copied;
}

/* ---- Where they go to, or come from ---- */

static void to_pipe(void)
{
    int pipes[2];

    if (pipe(pipes))
        exit(2);
    end = pipes[1], other = pipes[0];
}

static void from_zero(void)
{
    end = open("/dev/zero", O_RDONLY);
    other = dup(end);
}

static void from_urandom(void)
{
    end = open("/dev/urandom", O_RDONLY);
    other = dup(end);
}

static struct mmsghdr *messages_of(void)
{
    static struct iovec parts[MESSAGES];
    static struct mmsghdr messages[MESSAGES];

    for (int i = 0; i < MESSAGES; i++) {
        parts[i] = (struct iovec){bytes + i * MESSAGE, MESSAGE};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &parts[i], .msg_iovlen = 1}};
    }
    return messages;
}
static ssize_t do_sendmmsg(void)
{
    return sendmmsg(end, messages_of(), MESSAGES, 0);
}
static ssize_t do_recvmmsg(void)
{
    return recvmmsg(end, messages_of(), MESSAGES, 0, NULL);
}

static void to_messages(void)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends))
        exit(2);
    end = ends[0];
    other = ends[1];
}

static void to_local(void)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        exit(2);
    end = pair[0], other = pair[1];
}

static void limit_time(int seconds)
{
    struct timeval limit = {seconds, 0};

    setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

static void to_limited(void)
{
    to_local();
    limit_time(1000);
}

static void to_network(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0), small = 50000;

    end = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listening, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    setsockopt(listening, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    setsockopt(end, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    setsockopt(end, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    if (bind(listening, (struct sockaddr *)&address, length) || listen(listening, 1) ||
        getsockname(listening, (struct sockaddr *)&address, &length) ||
        connect(end, (struct sockaddr *)&address, length) || (other = accept(listening, NULL, NULL)) < 0)
        exit(2);
    close(listening);
}

static void to_network_limited(void)
{
    to_network();
    limit_time(1000);
}

static void to_terminal(void)
{
    struct termios raw;

    other = posix_openpt(O_RDWR | O_NOCTTY);
    if (other < 0 || grantpt(other) || unlockpt(other) || (end = open(ptsname(other), O_RDWR | O_NOCTTY)) < 0)
        exit(2);
    tcgetattr(end, &raw);
    cfmakeraw(&raw);
    tcsetattr(end, TCSANOW, &raw);
}

enum kind { SENDS, RECEIVES, SENDS_MESSAGES, RECEIVES_MESSAGES, WORKS };
static const struct call {
    const char *name;
    ssize_t (*make)(void);
    void (*connect)(void);
    enum kind kind;
} calls[] = {
    {"write to a pipe", do_write, to_pipe, SENDS},
    {"writev to a pipe", do_writev, to_pipe, SENDS},
    {"write to a terminal", do_write, to_terminal, SENDS},
    {"write to a local socket", do_write, to_local, SENDS},
    {"writev to a local socket", do_writev, to_local, SENDS},
    {"send to a local socket", do_send, to_local, SENDS},
    {"send to a local socket with a limit", do_send, to_limited, SENDS},
    {"sendmsg to a local socket", do_sendmsg, to_local, SENDS},
    {"write to the network", do_write, to_network, SENDS},
    {"sendto the network", do_sendto, to_network, SENDS},
    {"sendmsg to the network", do_sendmsg, to_network, SENDS},
    {"sendmsg to the network with a limit", do_sendmsg, to_network_limited, SENDS},
    {"sendfile to a local socket", do_sendfile, to_local, SENDS},
    {"sendfile to the network", do_sendfile, to_network, SENDS},
    {"sendmmsg", do_sendmmsg, to_messages, SENDS_MESSAGES},
    {"recvmmsg", do_recvmmsg, to_messages, RECEIVES_MESSAGES},
    {"getrandom", do_getrandom, to_pipe, WORKS},
    {"read of /dev/zero", do_read, from_zero, WORKS},
    {"read of /dev/urandom", do_read, from_urandom, WORKS},
    {"copy_file_range", do_copy_file_range, to_pipe, WORKS},
    {"sendmmsg to a local stream", do_sendmmsg_stream, to_local, SENDS},
    {"sendmmsg to the network", do_sendmmsg_stream, to_network, SENDS},
    {"write to a pipe by number", by_number_write, to_pipe, SENDS},
    {"writev to a local socket by number", by_number_writev, to_local, SENDS},
    {"sendto the network by number", by_number_sendto, to_network, SENDS},
    {"sendmsg to the network with a limit by number", by_number_sendmsg, to_network_limited, SENDS},
    {"sendmmsg to a local stream by number", by_number_sendmmsg, to_local, SENDS},
    {"getrandom by number", by_number_getrandom, to_pipe, WORKS},
    {"read of /dev/zero by number", by_number_read, from_zero, WORKS},
    {"recv from a local socket", do_recv, to_local, RECEIVES},
    {"recv from a local socket with a limit", do_recv, to_limited, RECEIVES},
    {"recvmsg from a local socket", do_recvmsg, to_local, RECEIVES},
    {"recvfrom the network", do_recvfrom, to_network, RECEIVES},
    {"recvmsg from the network", do_recvmsg, to_network, RECEIVES},
    {"recv from the network with a limit", do_recv, to_network_limited, RECEIVES},
    {"recvmmsg from a local stream", do_recvmmsg_stream, to_local, RECEIVES},
    {"recvmmsg from the network", do_recvmmsg_stream, to_network, RECEIVES},
    {"recvfrom the network by number", by_number_recvfrom, to_network, RECEIVES},
    {"recvmsg from the network with a limit by number", by_number_recvmsg, to_network_limited, RECEIVES},
    {"recvmmsg from a local stream by number", by_number_recvmmsg, to_local, RECEIVES},
};
