/* SPDX-License-Identifier: BSD-3-Clause */
/* confined WAY: gives up something in one of the ways there are, then burns 0.5 s on new call paths, so that its file
 * must grow. Exit status 3. confined forbid NUMBER errno|trap|kill: a filter for one system call, then threads, forked
 * children and programs that are executed in four ways, each of which has to end as it does by itself; with forbid-only
 * nothing more. confined contend: a filter for sched_yield while threads allocate; confined all
 * NUMBER: one for a call of all threads, of which one is at work and ends. confined users DIRECTORY: becomes who it is
 * a hundred times; 3 if the files there hold 16 MiB at most.
 */
#define _GNU_SOURCE
#include "burn.h"
#include "closing.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset /* since Linux 5.13 */
#define SYS_landlock_create_ruleset 444
#endif
#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

static unsigned state = 12345;

static __attribute__((noinline, noipa)) void left(int depth);
static __attribute__((noinline, noipa)) void right(int depth);

static __attribute__((noinline, noipa)) void both(int depth)
{
    state = state * 1103515245 + 12345;
    if (depth > 0)
        (state >> 16 & 1 ? left : right)(depth - 1);
    __asm__ volatile("");
}

static void left(int depth)
{
    both(depth);
    __asm__ volatile("# left");
}
static void right(int depth)
{
    both(depth);
    __asm__ volatile("# right");
}

#define SYSCALL(n, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), BPF_STMT(BPF_RET | BPF_K, action)
#define LOAD_NUMBER        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))

static unsigned for_all; /* SECCOMP_FILTER_FLAG_TSYNC: threads that there are, too; by SYS_seccomp alone */

static int filter(struct sock_filter *code, unsigned short length, long by)
{
    struct sock_fprog program = {length, code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return 1;
    if (by == SYS_seccomp)
        return (int)syscall(by, SECCOMP_SET_MODE_FILTER, for_all, &program);
    return by == SYS_prctl ? (int)syscall(by, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                           : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Only what the rest of this program needs: opening a file ends it. */
static int narrow(long by)
{
    struct sock_filter code[] = {
        LOAD_NUMBER,
        SYSCALL(SYS_exit_group, SECCOMP_RET_ALLOW),
        SYSCALL(SYS_write, SECCOMP_RET_ALLOW),
        SYSCALL(SYS_rt_sigreturn, SECCOMP_RET_ALLOW),
        SYSCALL(SYS_clock_gettime, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };

    return filter(code, sizeof code / sizeof *code, by);
}

/* Not even the return from a signal handler. */
static int narrowest(void)
{
    struct sock_filter code[] = {
        LOAD_NUMBER,
        SYSCALL(SYS_exit_group, SECCOMP_RET_ALLOW),
        SYSCALL(SYS_clock_gettime, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };

    return filter(code, sizeof code / sizeof *code, 0);
}

/* A list of what is forbidden. */
static int wide(void)
{
    struct sock_filter code[] = {
        LOAD_NUMBER,
        SYSCALL(SYS_execve, SECCOMP_RET_KILL_PROCESS),
        SYSCALL(SYS_ptrace, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    return filter(code, sizeof code / sizeof *code, 0);
}

static int no_descriptors(void)
{
    struct rlimit none = {3, 3};

    closefrom(3);
    close_range(3, ~0u, 0);
    return setrlimit(RLIMIT_NOFILE, &none);
}

/* No file may be opened, nor made. */
static int landlock(void)
{
    unsigned long handled = (1 << 13) - 1; /* what its first version knows of */
    int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);

    return rules < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_landlock_restrict_self, rules, 0);
}

/* As containers are begun. */
static int other_root(void)
{
    return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
           mount("none", "/mnt", "tmpfs", 0, NULL) || chdir("/mnt") || syscall(SYS_pivot_root, ".", ".") ||
           umount2(".", MNT_DETACH);
}

static int give_up(const char *way)
{
    if (!strcmp(way, "closefrom"))
        return closefrom(3), 0;
    if (!strcmp(way, "close_range"))
        return close_range(3, ~0u, 0);
    if (!strcmp(way, "descriptors"))
        return no_descriptors();
    if (!strcmp(way, "chroot"))
        return chroot("/proc/self") || chdir("/");
    if (!strcmp(way, "setuid"))
        return setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setuid(65534);
    if (!strcmp(way, "ask")) /* whether the kernel knows filters, as libseccomp, systemd and browsers do */
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == 0 || filter(NULL, 1, 0) == 0 ||
               filter((struct sock_filter *)8, 1, SYS_prctl) == 0 || prctl(PR_SET_SECCOMP, 77) == 0 ||
               syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) == 0;
    if (!strcmp(way, "chroot-syscall"))
        return syscall(SYS_chroot, "/proc/self") || chdir("/");
    if (!strcmp(way, "landlock"))
        return landlock();
    if (!strcmp(way, "pivot_root"))
        return other_root();
    if (!strcmp(way, "setuid-syscall"))
        return syscall(SYS_setresuid, 65534, 65534, 65534) != 0;
    if (!strcmp(way, "strict"))
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (!strcmp(way, "filter"))
        return narrow(0);
    if (!strcmp(way, "filter-syscall"))
        return narrow(SYS_seccomp);
    if (!strcmp(way, "filter-prctl"))
        return narrow(SYS_prctl);
    if (!strcmp(way, "narrowest"))
        return narrowest();
    if (!strcmp(way, "data")) /* is what descriptor 2 leads to; then as above */
        return close(2) || open("data", O_WRONLY | O_CREAT | O_TRUNC, 0644) != 2 || narrowest();
    if (!strcmp(way, "copy"))
        return dup2(dup(2), 2) != 2 || narrowest();
    return strcmp(way, "wide") ? 1 : wide();
}

/* One call that the program makes none of; `writing`: only with an argument that is not 0. */
static int forbid(unsigned number, const char *action, int writing)
{
    unsigned result = !strcmp(action, "errno")  ? SECCOMP_RET_ERRNO | 1
                      : !strcmp(action, "trap") ? SECCOMP_RET_TRAP
                                                : SECCOMP_RET_KILL_PROCESS;
    struct sock_filter code[] = {
        LOAD_NUMBER,
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, result),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    if (!writing)
        code[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, result);
    return filter(code, sizeof code / sizeof *code, for_all ? SYS_seccomp : 0);
}

/* Without a clock, which may be forbidden. */
static void spin(long rounds)
{
    for (volatile long i = 0; i < rounds; i++)
        ;
}

enum { SHORT = 3000000 };

static void *spinning(void *argument)
{
    spin(SHORT);
    return argument;
}

static void *burning(void *argument)
{
    burn(0.005);
    return argument;
}

static int in_thread(void *(*routine)(void *))
{
    pthread_t id;

    return pthread_create(&id, NULL, routine, NULL) || pthread_join(id, NULL);
}

static int ends_with(pid_t child, int wanted)
{
    int status;

    return child <= 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != wanted;
}

/* A child of vfork, whose memory is ours, has a filter that its parent has not. */
static int confine_child(char *self)
{
    char *arguments[] = {self, "short", NULL};
    pid_t child = vfork();

    if (child == 0) {
        if (!forbid(SYS_sched_getaffinity, "kill", 0))
            execv(self, arguments);
        _exit(1);
    }
    if (ends_with(child, 5))
        return puts("exec by a child of vfork"), 1;
    for (int i = 0; i < 60; i++)
        if (in_thread(burning))
            return puts("a thread"), 1;
    return 0;
}

static int begin_others(char *self)
{
    char *arguments[] = {self, "short", NULL};
    pid_t child;

    if (in_thread(spinning))
        return puts("a thread"), 1;
    if ((child = fork()) == 0) {
        spin(SHORT);
        exit(in_thread(spinning) ? 1 : 4);
    }
    if (ends_with(child, 4))
        return puts("a forked child"), 1;
    if ((child = fork()) == 0) {
        execv(self, arguments);
        _exit(1);
    }
    if (ends_with(child, 5))
        return puts("exec"), 1;
    if ((child = vfork()) == 0) {
        execv(self, arguments);
        _exit(1);
    }
    if (ends_with(child, 5))
        return puts("exec by a child of vfork"), 1;
    if (posix_spawn(&child, self, NULL, NULL, arguments, environ) || ends_with(child, 5))
        return puts("posix_spawn"), 1;
    if (setenv("SELF", self, 1) || WEXITSTATUS(system("\"$SELF\" short")) != 5)
        return puts("system"), 1;
    spin(SHORT);
    return 0;
}

enum { CHANGES = 300000 };

static volatile int contending;
static pthread_t first;

/* Changes the size of a block that stands beside those of the other threads, until all are to stop. */
static void *resizing(void *block)
{
    for (long i = 0; i < CHANGES || (contending && !pthread_equal(pthread_self(), first)); i++)
        if (!(block = realloc(block, 20 + (size_t)(i & 1) * 4)))
            break;
    return block;
}

/* Threads that always meet at what one block's count is kept by, when nobody may let another have the processor. */
static int contend(void)
{
    pthread_t ids[2];
    void *blocks[3];

    for (int i = 0; i < 3; i++)
        blocks[i] = malloc(24);
    first = pthread_self();
    contending = 1;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&ids[i], NULL, resizing, blocks[i]))
            return 1;
    if (forbid(SYS_sched_yield, "kill", 0))
        return 1;
    blocks[2] = resizing(blocks[2]);
    contending = 0;
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], &blocks[i]);
    for (int i = 0; i < 3; i++)
        free(blocks[i]);
    return 0;
}

static void *working(void *argument)
{
    while (contending)
        spin(SHORT);
    return argument;
}

/* A filter for all threads, while one is at work. */
static int forbid_all(unsigned number)
{
    pthread_t id;

    contending = 1;
    if (pthread_create(&id, NULL, working, NULL))
        return 1;
    spin(5L * SHORT);
    for_all = SECCOMP_FILTER_FLAG_TSYNC;
    if (forbid(number, "kill", 0))
        return 1;
    spin(20L * SHORT);
    contending = 0;
    return pthread_join(id, NULL);
}

/* Forked children that can open no file. */
static int fork_without(void)
{
    if (no_descriptors())
        return 1;
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            burn(0.05);
            _exit(4);
        }
        if (ends_with(child, 4))
            return 1;
    }
    return 0;
}

/* A program that may only read and write has no clock. */
static long rounds_of_half_a_second(void)
{
    double start = thread_seconds();
    long rounds = 0;

    for (; thread_seconds() < start + 0.05; rounds += 100000)
        spin(100000);
    return rounds * 10;
}

/* As a server of files does for each request. */
static int change_users(const char *measurements)
{
    DIR *directory = opendir(measurements);
    struct stat st;
    long blocks = 0;

    burn(0.01);
    for (int i = 0; i < 100; i++)
        if (seteuid(geteuid()))
            return 1;
    for (struct dirent *e; directory && (e = readdir(directory));)
        blocks += fstatat(dirfd(directory), e->d_name, &st, 0) ? 0 : st.st_blocks;
    return blocks * 512 <= 16 << 20 ? 3 : 2;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "users"))
        return change_users(argv[2]);
    if (argc > 1 && !strcmp(argv[1], "short"))
        return in_thread(spinning) ? 1 : 5;
    if (argc > 1 && !strcmp(argv[1], "contend"))
        return contend() ? 1 : 3;
    if (argc > 2 && !strcmp(argv[1], "all"))
        return forbid_all((unsigned)atoi(argv[2])) ? 1 : 3;
    if (argc > 1 && !strcmp(argv[1], "children"))
        return fork_without() ? 1 : 3;
    if (argc > 1 && !strcmp(argv[1], "vfork"))
        return confine_child(argv[0]) ? 1 : 3;
    if (argc > 3 && !strncmp(argv[1], "forbid", 6)) {
        burn(0.005);
        int bad = forbid((unsigned)atoi(argv[2]), argv[3], !strcmp(argv[1], "forbid-writing"));
        if (!bad && !strcmp(argv[1], "forbid-only"))
            return 3;
        return bad ? 77 : begin_others(argv[0]) ? 1 : 3;
    }

    long rounds = rounds_of_half_a_second();
    char byte;
    int pair[2];

    if (pipe(pair))
        return 1;
    burn(0.05);
    if (argc < 2 || give_up(argv[1]))
        return 1;
    if (!strcmp(argv[1], "strict")) {
        spin(rounds);
        if (write(pair[1], "x", 1) != 1 || read(pair[0], &byte, 1) != 1)
            syscall(SYS_exit, 4);
        syscall(SYS_exit, 3);
    }
    for (double end = thread_seconds() + 0.5; thread_seconds() < end;)
        for (int i = 0; i < 1000; i++)
            both(30);
    return 3;
}
