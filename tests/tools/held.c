/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held COMMAND...: runs COMMAND in a session of its own, and sends signals as the lines of standard input say. A line
 * is `WHO NUMBER`: the signal goes to `all` of its process group, to the `first` process (COMMAND) or to the one of
 * this id.
 *
 * The kernel uses the numbers of processes again, so one that was read somewhere may by now be anybody's. Here nothing
 * is waited for before standard input ends: until then the numbers of COMMAND and of its group stay taken. A process
 * that is known by its number alone gets the signal through a descriptor, if it is of the session: what has this number
 * after the look at it has another descriptor.
 *
 * At the end of input it waits until everything that COMMAND left has ended, too, and ends as COMMAND did: with its
 * status, or 128 and the signal's number. 2: it could not be run, or a line says nothing.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Sends a signal to a process of the session, or to nobody. */
static void send_to(pid_t session, pid_t pid, int number)
{
    int held = (int)syscall(SYS_pidfd_open, pid, 0); /* functions since glibc 2.36 */

    if (held < 0)
        return; /* has ended */
    if (getsid(pid) == session)
        syscall(SYS_pidfd_send_signal, held, number, NULL, 0);
    close(held);
}

static void run(char **command)
{
    int nothing = open("/dev/null", O_RDONLY);

    setsid();
    dup2(nothing, 0);
    close(nothing);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

int main(int argc, char **argv)
{
    int number, status, result = 2, bad = argc < 2;
    char who[32];
    pid_t first, ended;

    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what outlives its parent becomes a child of ours */
    first = bad ? -1 : fork();
    if (first == 0)
        run(argv + 1);
    while (first > 0 && !bad && scanf("%31s %d", who, &number) == 2) {
        pid_t pid = (pid_t)atoi(who);

        /* COMMAND may not have come to its setsid yet. */
        if (!strcmp(who, "all"))
            while (kill(-first, number) && kill(first, 0) == 0 && getsid(first) != first)
                ;
        else if (!strcmp(who, "first"))
            kill(first, number);
        else if (pid > 1)
            send_to(first, pid, number);
        else
            bad = 1;
    }
    while (first > 0 && (ended = wait(&status)) > 0)
        if (ended == first)
            result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return bad ? 2 : result;
}
