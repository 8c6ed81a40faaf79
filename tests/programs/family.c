/* SPDX-License-Identifier: BSD-3-Clause */
/* family WAY: makes a child in one of the ways there are; the child burns 0.3 s in child_work. `family work` is that
 * child after exec. */
#define _GNU_SOURCE
#include "burn.h"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *self;

static __attribute__((noinline, noipa)) int child_work(void *unused)
{
    (void)unused;
    burn(0.3);
    return 0;
}

static int reap(pid_t pid)
{
    int status;

    return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

static int by_fork(void)
{
    pid_t pid = fork();

    if (pid == 0)
        exit(child_work(NULL));
    return reap(pid);
}

static int by__fork(void)
{
#if __GLIBC_PREREQ(2, 34)
    pid_t pid = _Fork();
#else
    pid_t pid = fork();
#endif

    if (pid == 0)
        _exit(child_work(NULL));
    return reap(pid);
}

static int by_vfork(void)
{
    pid_t pid = vfork();

    if (pid == 0) {
        execl(self, self, "work", (char *)NULL);
        _exit(1);
    }
    return reap(pid);
}

static int by_clone(void)
{
    char *stack = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return reap(clone(child_work, stack + (1 << 20), SIGCHLD, NULL));
}

static int by_spawn(void)
{
    char *arguments[] = {self, "work", NULL};
    pid_t pid;

    return posix_spawn(&pid, self, NULL, NULL, arguments, environ) || reap(pid);
}

static int by_exec(void)
{
    execle(self, self, "work", (char *)NULL, environ);
    return 1;
}

static int by_failed_exec(void)
{
    execlp("/nonexistent/program", "program", (char *)NULL);
    return child_work(NULL);
}

static int by_system(void)
{
    char line[4096];

    snprintf(line, sizeof line, "exec '%s' work", self);
    return system(line);
}

static int by_popen(void)
{
    char line[4096];
    FILE *pipe;

    snprintf(line, sizeof line, "'%s' work", self);
    pipe = popen(line, "r");
    return !pipe || pclose(pipe);
}

/* Comes back when the grandchild, which holds the other end of the pipe, has ended. */
static int by_daemon(void)
{
    int ends[2];
    char c;
    pid_t pid;

    if (pipe(ends))
        return 1;
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        exit(daemon(1, 1) ? 1 : child_work(NULL));
    }
    close(ends[1]);
    return reap(pid) || read(ends[0], &c, 1) != 0;
}

/* The C library knows nothing of these children. */
static int by_clone3(void)
{
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &arguments, sizeof arguments);

    if (pid == 0)
        _exit(child_work(NULL));
    return reap((pid_t)pid);
}

/* And nobody of this one: it must do no harm to its parent's data. */
static int by_instruction(void)
{
    long pid;

    __asm__ volatile("syscall" : "=a"(pid) : "a"((long)SYS_fork) : "rcx", "r11", "memory");
    if (pid == 0)
        _exit(child_work(NULL));
    return reap((pid_t)pid);
}

static int by_spawn_without_environment(void)
{
    char *arguments[] = {self, "work", NULL}, *nothing[] = {NULL};
    pid_t pid;

    return posix_spawn(&pid, self, NULL, NULL, arguments, nothing) || reap(pid);
}

static int by_exec_without_environment(void)
{
    char *arguments[] = {self, "work", NULL}, *nothing[] = {NULL};
    pid_t pid = fork();

    if (pid == 0) {
        execve(self, arguments, nothing);
        _exit(1);
    }
    return reap(pid);
}

static int by_system_call(void)
{
    long pid = syscall(SYS_fork);

    if (pid == 0)
        _exit(child_work(NULL));
    return reap((pid_t)pid);
}

static const struct {
    const char *name;
    int (*run)(void);
} ways[] = {
    {"fork", by_fork},
    {"_Fork", by__fork},
    {"vfork", by_vfork},
    {"clone", by_clone},
    {"spawn", by_spawn},
    {"exec", by_exec},
    {"failed-exec", by_failed_exec},
    {"system", by_system},
    {"popen", by_popen},
    {"daemon", by_daemon},
    {"syscall", by_system_call},
    {"clone3", by_clone3},
    {"instruction", by_instruction},
    {"spawn-without-environment", by_spawn_without_environment},
    {"exec-without-environment", by_exec_without_environment},
};

int main(int argc, char **argv)
{
    self = realpath("/proc/self/exe", NULL);
    if (argc > 1 && !strcmp(argv[1], "work"))
        return child_work(NULL);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && !strcmp(argv[1], ways[i].name))
            return ways[i].run();
    return 2;
}
