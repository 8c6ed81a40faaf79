/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/pager.h"
#include "common/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

extern char **environ;

/* sh -c COMMAND with `input` (-1: our own) as standard input. Signals are as a shell would give them. */
static int spawn(const char *command, int input, int unwanted, pid_t *pid)
{
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t set;

    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    if (input >= 0) {
        posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
        posix_spawn_file_actions_addclose(&files, unwanted);
    }
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &set);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int status = posix_spawn(pid, "/bin/sh", &files, &attributes, argv, environ);

    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return status;
}

static int wait_for(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* Ctrl-C is for the program in front; writing goes on until that program has gone. */
static void write_all(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t n = write(fd, text, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text += n;
        len -= (size_t)n;
    }
}

struct hq_error *pager_pipe(const char *command, const char *text, size_t len)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return hq_error_errno(HQ_DATA, "no pipe to '%s'", command);
    int error = spawn(command, ends[0], ends[1], &pid);

    close(ends[0]);
    if (error) {
        close(ends[1]);
        errno = error;
        return hq_error_errno(HQ_DATA, "cannot start '%s'", command);
    }
    /* A reader that quits early must not end us. */
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;

    sigaction(SIGPIPE, &ignore, &before);
    write_all(ends[1], text, len);
    close(ends[1]);
    sigaction(SIGPIPE, &before, NULL);
    int status = wait_for(pid);

    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return hq_error_new(HQ_USAGE, "'%s' could not be run", command);
    return NULL;
}

struct hq_error *pager_run(const char *command)
{
    pid_t pid;
    int error = spawn(command, -1, -1, &pid);

    if (error) {
        errno = error;
        return hq_error_errno(HQ_DATA, "cannot start '%s'", command);
    }
    int status = wait_for(pid);

    if (status)
        return hq_error_new(HQ_USAGE, "'%s' failed", command);
    return NULL;
}

const char *pager_command(void)
{
    const char *terminal = getenv("TERM");
    const char *own = getenv("HQ_PAGER");

    if (!own)
        own = getenv("PAGER");
    if (!terminal || !strcmp(terminal, "dumb"))
        return NULL;
    if (!own)
        return "LESS=${LESS-FRX} less";
    return *own && strcmp(own, "cat") ? own : NULL;
}

bool pager_is_taller(const char *text, size_t len, int fd)
{
    struct winsize size;
    size_t lines = 0;

    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) || !size.ws_row)
        return false;
    for (const char *p = text; p < text + len; p++)
        if (*p == '\n' && ++lines >= size.ws_row)
            return true;
    return false;
}
