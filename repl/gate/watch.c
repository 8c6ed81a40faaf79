/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/watch.h"
#include "common/clock.h"
#include "common/process.h"
#include "common/vec.h"
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double grace = 5; /* seconds, for a program that is asked to end */

/* SIGCHLD, and of those that end commands the ones that are not ignored (nohup). */
static void signals(sigset_t *set)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    struct sigaction action;

    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!sigaction(ends[i], NULL, &action) && action.sa_handler != SIG_IGN)
            sigaddset(set, ends[i]);
}

void watch_begin(sigset_t *mask)
{
    sigset_t set;

    signals(&set);
    sigprocmask(SIG_BLOCK, &set, mask);
}

/* ---- what it has started ---- */

struct process {
    pid_t pid, parent;
    bool below; /* this process */
};

typedef VEC(struct process) processes;

static void add_process(processes *all, pid_t pid)
{
    pid_t parent = (pid_t)process_number(pid, PROCESS_PARENT);

    if (parent)
        vec_push(all, (struct process){.pid = pid, .parent = parent});
}

/* All processes below this one get the signal, but not the child itself, which waits for the program. */
static void signal_below(pid_t child, int number)
{
    processes all = {0};
    DIR *d = opendir("/proc");
    bool more = true;

    for (const struct dirent *e; d && (e = readdir(d));)
        if (*e->d_name >= '1' && *e->d_name <= '9')
            add_process(&all, (pid_t)strtol(e->d_name, NULL, 10));
    if (d)
        closedir(d);
    while (more) {
        more = false;
        vec_foreach(p, &all) {
            bool below = p->parent == getpid();

            for (size_t i = 0; !below && i < all.len; i++)
                below = all.data[i].below && all.data[i].pid == p->parent;
            more |= below && !p->below;
            p->below = below;
        }
    }
    vec_foreach(p, &all)
        if (p->below && p->pid != child)
            kill(p->pid, number);
    vec_deinit(&all);
}

/* ---- waiting ---- */

/* Waits until a time for a child to end, or for somebody who ends the command. */
static void wait_signal(pid_t pid, double end, const sigset_t *set, struct watched *w)
{
    double left = fmin(end - clock_seconds(), 1000);
    siginfo_t info;

    if (left <= 0)
        return;
    int number = sigtimedwait(set, &info, &(struct timespec){(time_t)left, (long)(1e9 * (left - floor(left)))});

    if (number <= 0 || number == SIGCHLD)
        return;
    w->interrupted = number;
    /* The terminal has told the child itself. */
    if (pid && info.si_code != SI_KERNEL)
        kill(pid, number);
}

/* Whether the child ended before a time. */
static bool ends_before(pid_t pid, double end, const sigset_t *set, struct watched *w)
{
    int status;

    for (;;) {
        if (waitpid(pid, &status, WNOHANG) == pid) {
            w->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            return true;
        }
        if (clock_seconds() >= end)
            return false;
        wait_signal(pid, end, set, w);
    }
}

/* Asks all that it has started to end, then ends it. What loses its parent by that comes below this process, which
 * waits until it is gone: somebody who looks behind the command finds nothing of it. */
static void give_up(pid_t pid, const sigset_t *set, struct watched *w)
{
    w->given_up = true;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    signal_below(pid, SIGTERM);
    kill(pid, SIGTERM);
    bool ended = ends_before(pid, clock_seconds() + grace, set, w);

    signal_below(pid, SIGKILL);
    if (!ended && !ends_before(pid, clock_seconds() + grace, set, w)) {
        kill(pid, SIGKILL);
        ends_before(pid, INFINITY, set, w);
    }
    double end = clock_seconds() + grace;
    pid_t gone;

    while ((gone = waitpid(-1, NULL, WNOHANG)) >= 0 && clock_seconds() < end)
        if (!gone)
            wait_signal(0, end, set, w);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

struct watched watch_end(pid_t pid, double most, const sigset_t *mask)
{
    struct watched w = {0};
    sigset_t set;

    signals(&set);
    if (!ends_before(pid, most > 0 ? clock_seconds() + most : INFINITY, &set, &w))
        give_up(pid, &set, &w);
    sigprocmask(SIG_SETMASK, mask, NULL);
    return w;
}
