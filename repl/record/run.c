/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq record`: starts the program, passes signals on, waits, and ends as it ended (record.h). */
#include "repl/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Passes a signal on to the program, except those that the terminal sends: the program gets them itself, since it is in
 * the same process group. */
static void pass_on(pid_t child, const siginfo_t *info)
{
    if (info->si_code == SI_KERNEL &&
        (info->si_signo == SIGINT || info->si_signo == SIGQUIT || info->si_signo == SIGTSTP))
        return;
    if (info->si_signo == SIGWINCH || info->si_signo == SIGTTIN || info->si_signo == SIGTTOU)
        return;
    kill(child, info->si_signo);
}

static bool has_terminal(void)
{
    int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Ctrl-Z and the like. Who has stopped the program by another signal, or without a terminal, continues it by itself:
 * nobody would continue this process. */
static bool stopped_by_terminal(int signal)
{
    return (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) && has_terminal();
}

/* True when the program has ended. When the terminal has stopped it, this process stops too, that the shell gets its
 * terminal back. */
static bool ended(pid_t child, int *status)
{
    while (waitpid(child, status, WNOHANG | WUNTRACED) == child) {
        if (!WIFSTOPPED(*status))
            return true;
        if (!stopped_by_terminal(WSTOPSIG(*status)))
            continue;
        raise(SIGSTOP);
        kill(child, SIGCONT);
    }
    return false;
}

static void wait_for(pid_t child, const sigset_t *all, int *status)
{
    siginfo_t info;

    while (!ended(child, status))
        if (sigwaitinfo(all, &info) > 0 && info.si_signo != SIGCHLD)
            pass_on(child, &info);
}

static struct sigaction at_size_limit; /* what this process had for SIGXFSZ when it was started */
static bool survives;

void record_survive_size_limit(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    survives = sigaction(SIGXFSZ, &ignore, &at_size_limit) == 0;
}

/* With a `start` the program waits for a byte; none comes when that has failed. */
static void become(const char *path, char *const *arguments, const sigset_t *mask, int report, int go)
{
    char byte;

    if (go >= 0 && read(go, &byte, 1) != 1)
        _exit(126);
    if (survives)
        sigaction(SIGXFSZ, &at_size_limit, NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(path, arguments);
    int error = errno;
    /* The pipe closes by itself when exec succeeds. */
    if (write(report, &error, sizeof error) < 0)
        _exit(127);
    _exit(126);
}

struct hq_error *record_become(const char *path, char *const *arguments)
{
    if (survives)
        sigaction(SIGXFSZ, &at_size_limit, NULL);
    execvp(path, arguments);
    return record_cannot_start(path);
}

static double children_before; /* exec keeps what the children of an earlier image of this process took */

static double children_time(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_CHILDREN, &usage) != 0)
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

double record_cpu_time(void)
{
    return children_time() - children_before;
}

struct hq_error *record_run(const char *path, char *const *arguments, const struct record_start *start, int *status,
                            pid_t *pid)
{
    sigset_t all, mask;
    int report[2], go[2] = {-1, -1}, error = 0;
    struct hq_error *refused = NULL;

    if (pipe2(report, O_CLOEXEC) != 0 || (start && pipe2(go, O_CLOEXEC) != 0))
        return hq_error_errno(HQ_DATA, "cannot start %s", path);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    children_before = children_time();
    /* SIGCHLD must arrive even if it was ignored when this command was started. */
    struct sigaction old, action = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &action, &old);
    *pid = fork();
    if (*pid == 0) {
        sigaction(SIGCHLD, &old, NULL);
        if (start)
            close(go[1]);
        become(path, arguments, &mask, report[1], go[0]);
    }
    close(report[1]);
    if (start) {
        refused = *pid > 0 ? start->begin(start->arg, *pid) : NULL;
        close(go[0]);
        if (!refused && write(go[1], "", 1) != 1)
            refused = hq_error_errno(HQ_DATA, "cannot start %s", path);
        close(go[1]);
    }
    if (*pid < 0)
        return refused ? refused : hq_error_errno(HQ_DATA, "cannot start %s", path);
    ssize_t told = read(report[0], &error, sizeof error);
    close(report[0]);
    wait_for(*pid, &all, status);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (refused)
        return refused;
    if (told == sizeof error) {
        errno = error;
        return record_cannot_start(path);
    }
    return NULL;
}

int record_end_like(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);

    /* One core file, the program's, is enough. */
    struct rlimit none = {0, 0};
    sigset_t set;
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}
