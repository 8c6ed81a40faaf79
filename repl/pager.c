/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/pager.h"
#include "common/mem.h"
#include "repl/interrupt.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
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

/* Into the command; false if it reads no more. */
static bool write_all(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t n = write(fd, text, len);

        if (n < 0 && errno == EINTR && !interrupt_flag)
            continue;
        if (n <= 0)
            return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

static struct hq_error *start(struct pager *p)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return hq_error_errno(HQ_DATA, "no pipe to '%s'", p->command);
    int error = spawn(p->command, ends[0], ends[1], &p->pid);

    close(ends[0]);
    if (error) {
        close(ends[1]);
        errno = error;
        return hq_error_errno(HQ_DATA, "cannot start '%s'", p->command);
    }
    p->fd = ends[1];
    return NULL;
}

static bool start_with_held(struct pager *p)
{
    p->error = start(p);
    return !p->error && write_all(p->fd, p->held.s, p->held.len);
}

/* Lines as the terminal has them: what does not fit goes on in the next one. */
static void count(struct pager *p, unsigned char c)
{
    if (c == '\n') {
        p->seen++;
        p->column = 0;
    } else if (p->escape || c == '\033') {
        p->escape = !isalpha(c);
    } else if ((c & 0xc0) != 0x80 && ++p->column > p->width && p->width) {
        p->seen++;
        p->column = 1;
    }
}

static ssize_t on_write(void *cookie, const char *text, size_t len)
{
    struct pager *p = cookie;

    if (p->stopped || interrupt_flag) {
        p->stopped = true;
        return 0;
    }
    if (p->fd >= 0) {
        p->stopped = !write_all(p->fd, text, len);
    } else {
        for (size_t i = 0; i < len; i++)
            count(p, (unsigned char)text[i]);
        str_addn(&p->held, text, len);
        if (p->seen >= p->lines)
            p->stopped = !start_with_held(p);
    }
    return p->stopped ? 0 : (ssize_t)len;
}

struct hq_error *pager_open(struct pager *p, const char *command, size_t lines, size_t width)
{
    *p = (struct pager){.command = command, .lines = lines, .width = width, .fd = -1};
    p->stream = fopencookie(p, "w", (cookie_io_functions_t){.write = on_write});
    return p->stream ? NULL : &hq_error_no_memory;
}

struct hq_error *pager_close(struct pager *p, struct hq_error *error)
{
    int status = 0;

    fclose(p->stream);
    if (p->fd >= 0) {
        close(p->fd);
        status = wait_for(p->pid);
    } else if (p->held.len && !p->stopped) {
        fwrite(p->held.s, 1, p->held.len, stdout);
        fflush(stdout);
    }
    str_deinit(&p->held);
    if (p->stopped) {
        hq_error_free(error);
        error = NULL;
    }
    if (p->error)
        error = p->error;
    if (!error && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        error = hq_error_new(HQ_USAGE, "'%s' could not be run%s", p->command,
                             p->lines ? "; `set pager off` does without it, `last` shows the answer again" : "");
    return error;
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
