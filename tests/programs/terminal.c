/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes N rounds of the requests to a terminal that fail with EINTR if a signal is pending; prints the names of those
 * that did, and how often. With `own`, a signal of the program comes in each: then it says which never failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>

enum { DRAIN, BREAK, REQUEST_DRAIN, REQUEST_BREAK, LINE, DIRECT, CALLS };
static const char *const names[CALLS] = {"tcdrain", "tcsendbreak", "TCSBRK", "TCSBRKP", "TIOCSETD", "syscall"};

static int make(int call, int fd)
{
    int line = 0;

    switch (call) {
    case DRAIN: return tcdrain(fd);
    case BREAK: return tcsendbreak(fd, 0);
    case REQUEST_DRAIN: return ioctl(fd, TCSBRK, 1);
    case REQUEST_BREAK: return ioctl(fd, TCSBRKP, 0);
    case LINE: return ioctl(fd, TIOCSETD, &line);
    default: return (int)syscall(SYS_ioctl, fd, TCSBRK, 1);
    }
}

static void on_signal(int number)
{
    (void)number;
}

int main(int argc, char **argv)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), fd;
    bool own = argc > 2 && !strcmp(argv[2], "own");
    long rounds = argc > 1 ? atol(argv[1]) : 1000, failed[CALLS] = {0};
    struct winsize size = {24, 80, 0, 0}, told;

    if (master < 0 || grantpt(master) || unlockpt(master) || (fd = open(ptsname(master), O_RDWR | O_NOCTTY)) < 0)
        return 77;
    if (own) {
        struct itimerval timer = {{0, 200}, {0, 200}};
        sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART}, NULL);
        setitimer(ITIMER_REAL, &timer, NULL);
    }
    for (long i = 0; i < rounds; i++)
        for (int call = 0; call < CALLS; call++) {
            errno = 0;
            int result = make(call, fd);
            if (result && errno != EINTR)
                return perror(names[call]), 1;
            failed[call] += result != 0;
        }
    for (int call = 0; call < CALLS; call++)
        if (own ? !failed[call] : failed[call])
            printf("%s: %ld\n", names[call], failed[call]);
    /* Other requests are as they were. */
    if (ioctl(fd, TIOCSWINSZ, &size) || ioctl(fd, TIOCGWINSZ, &told) || told.ws_row != 24 ||
        ioctl(-1, TIOCGWINSZ, &told) != -1 || errno != EBADF)
        puts("TIOCGWINSZ is another");
    return 0;
}
