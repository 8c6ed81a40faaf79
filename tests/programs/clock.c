/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock WAY: what a program may do to the descriptors and the signal of a clock that samples it. Exit status 0 if all
 * went as it does without a collector; else a sentence and 1.
 *
 *   calls SECONDS BYTES   rounds of 3 ms of work on average in `user_work` and one read of so many bytes in `long_call`
 *   changes SECONDS       rounds of 0.6 ms of work on average in `user_work` and 60 round trips to another thread
 *                         Both print the percentage of the CPU time that was not in `user_work`, how many rounds,
 *                         and the seconds in `user_work`
 *   lowest, close, closefrom, close_range, dup2, dup3, bare
 *                         something with descriptors, between 0.2 s and 0.5 s of work
 *   fork, threads, limit, many, drop, filter
 *                         see below; each burns 0.3 s or more
 *   exec, bare-exec [trapped]
 *                         each of 60 programs runs, or ends by SIGTRAP if it may
 *   trap, handled, sent   SIGTRAP of an instruction or by kill
 */
#define _GNU_SOURCE
#include "burn.h"
#include "closing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBERS = 4096 };

static int wrong(const char *what)
{
    fprintf(stderr, "clock: %s: %s\n", what, strerror(errno));
    return 1;
}

/* ---- calls that take longer than a period ---- */

static __attribute__((noinline)) double user_work(double seconds)
{
    double start = thread_seconds();

    burn(seconds);
    return thread_seconds() - start;
}

static __attribute__((noinline)) double long_call(int fd, char *to, size_t bytes)
{
    double start = thread_seconds();

    if (read(fd, to, bytes) != (ssize_t)bytes)
        exit(wrong("the read was cut short"));
    return thread_seconds() - start;
}

static int calls(double seconds, size_t bytes)
{
    int zeros = open("/dev/zero", O_RDONLY);
    double user = 0, kernel = 0;
    char *to = malloc(bytes);
    long rounds = 0;

    memset(to, 1, bytes); /* the pages are there: a first read would take longer, and is not in the sums below */
    for (; user + kernel < seconds; rounds++) {
        user += user_work(0.0015 + 0.003 * drand48());
        kernel += long_call(zeros, to, bytes);
    }
    printf("%.3f %ld %.3f\n", 100 * kernel / (user + kernel), rounds, user);
    return 0;
}

static int there[2], back[2];

static void *answer(void *unused)
{
    char c;

    while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
        continue;
    return unused;
}

static __attribute__((noinline)) double round_trips(int count)
{
    double start = thread_seconds();
    char c = 0;

    for (int i = 0; i < count; i++)
        if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
            exit(wrong("no answer"));
    return thread_seconds() - start;
}

static int changes(double seconds)
{
    double user = 0, kernel = 0;
    pthread_t thread;
    long rounds = 0;

    if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, answer, NULL))
        return wrong("no pipes");
    for (; user + kernel < seconds; rounds++) {
        user += user_work(0.0003 + 0.0006 * drand48());
        kernel += round_trips(60);
    }
    close(there[1]);
    pthread_join(thread, NULL);
    printf("%.3f %ld %.3f\n", 100 * kernel / (user + kernel), rounds, user);
    return 0;
}

/* ---- descriptors ---- */

static int is_perf_event(int fd)
{
    char name[32], target[64] = "";

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return readlink(name, target, sizeof target - 1) > 0 && strstr(target, "perf_event");
}

static int perf_events(void)
{
    int count = 0;

    for (int i = 0; i < NUMBERS; i++)
        count += is_perf_event(i);
    return count;
}

static int mapped_perf_events(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int count = 0;

    while (maps && fgets(line, sizeof line, maps))
        count += strstr(line, "perf_event") != NULL;
    if (maps)
        fclose(maps);
    return count;
}

static int lowest(void)
{
    closefrom(3);
    for (int i = 3; i < 16; i++)
        if (dup(2) != i)
            return wrong("not the lowest number");
    return 0;
}

static int close_all(void)
{
    if (perf_events())
        return wrong("a descriptor that it has not opened");
    for (int i = 3; i < NUMBERS; i++)
        close(i);
    return 0;
}

static int over_all(int (*duplicate)(int))
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 3; i < NUMBERS && (rlim_t)i < limit.rlim_cur; i++)
        if (duplicate(i) != i || close(i) != 0 || dup2(i, 2) != -1)
            return wrong("cannot have this number");
    return 0;
}

static int by_dup2(int to)
{
    return dup2(2, to);
}

static int by_dup3(int to)
{
    return dup3(2, to, O_CLOEXEC);
}

static long bare3(long number, long a, long b, long c)
{
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

/* ---- processes and threads ---- */

static void *burn_a_little(void *seconds)
{
    burn(*(double *)seconds);
    return NULL;
}

static double together_seconds;

static void *burn_together(void *barrier)
{
    pthread_barrier_wait(barrier);
    burn(together_seconds);
    return NULL;
}

/* So many threads at once. */
static int together(unsigned count, double seconds)
{
    pthread_t thread[256];
    pthread_barrier_t all;

    together_seconds = seconds;
    pthread_barrier_init(&all, NULL, count);
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&thread[i], NULL, burn_together, &all))
            return wrong("no thread");
    for (unsigned i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    return 0;
}

static int in_a_row(int count, double seconds)
{
    pthread_t thread;

    for (int i = 0; i < count; i++)
        if (pthread_create(&thread, NULL, burn_a_little, &seconds) || pthread_join(thread, NULL))
            return wrong("no thread");
    return 0;
}

static pthread_barrier_t both;

static void *wait_there(void *unused)
{
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    return unused;
}

/* A child has its own clock alone, though its parent has more threads. */
static int forked(void)
{
    pthread_t thread;
    int status;

    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, wait_there, NULL);
    pthread_barrier_wait(&both);
    pid_t pid = fork();
    if (pid == 0) {
        burn(0.3);
        _exit(perf_events() || mapped_perf_events() > 1);
    }
    waitpid(pid, &status, 0);
    pthread_barrier_wait(&both);
    pthread_join(thread, NULL);
    return status ? wrong("the child has inherited clocks") : 0;
}

/*
 * The clock of a forked child, which has no file yet, fires in the middle of exec unless it is stopped before. Nobody
 * can stop it before an instruction of the program's own; then the kernel may hand the new program a SIGTRAP, and
 * nothing else.
 */
static int execs(int by_instruction, int may_trap)
{
    static char *arguments[] = {"true", NULL};

    for (int i = 0; i < 60; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            burn(0.00002 * (i % 30));
            if (by_instruction)
                bare3(SYS_execve, (long)"/bin/true", (long)arguments, (long)environ);
            else
                execv("/bin/true", arguments);
            _exit(2);
        }
        if (waitpid(pid, &status, 0) != pid ||
            (status && !(may_trap && WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP)))
            return wrong("a program ended at its start");
    }
    burn(0.1);
    return 0;
}

static int limited(void)
{
    struct rlimit few = {24, 24};

    setrlimit(RLIMIT_NOFILE, &few);
    return together(30, 0.05) || perf_events() ? wrong("a descriptor of a clock") : 0;
}

static int ended(void)
{
    int before = mapped_perf_events();

    return in_a_row(200, 0.002) || perf_events() || mapped_perf_events() != before
               ? wrong("threads leave clocks behind")
               : 0;
}

/* Any call that a clock needs ends the program. */
static int filtered(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return wrong("no filter");
    burn(0.3);
    return in_a_row(3, 0.05) || close_all();
}

static int dropped(void)
{
    if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
        return wrong("no rights to give up");
    return in_a_row(3, 0.1);
}

/* ---- the signal ---- */

static volatile int trapped;

static void on_trap(int number)
{
    trapped += number == SIGTRAP;
}

static int trap(int by_kill, int handled)
{
    if (handled)
        signal(SIGTRAP, on_trap);
    burn(0.1);
    if (by_kill)
        kill(getpid(), SIGTRAP);
    else
        __asm__ volatile("int3");
    burn(0.1);
    return trapped == handled ? 0 : wrong("not trapped");
}

/* A tracer that knows nothing of clocks sees the SIGTRAP of exec alone. */
static int traced(const char *program)
{
    int status, traps = 0;
    pid_t pid = fork();

    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execl(program, program, "lowest", NULL);
        _exit(1);
    }
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        int number = WSTOPSIG(status);
        traps += number == SIGTRAP;
        ptrace(PTRACE_CONT, pid, NULL, (void *)(long)(number == SIGTRAP ? 0 : number));
    }
    return status || traps != 1 ? wrong("the tracer is disturbed") : 0;
}

static int between(const char *way)
{
    if (!strcmp(way, "lowest"))
        return lowest();
    if (!strcmp(way, "close"))
        return close_all();
    if (!strcmp(way, "closefrom")) {
        closefrom(3);
        return 0;
    }
    if (!strcmp(way, "close_range"))
        return close_range(3, 5000, 0) || close_range(4000, ~0u, 0) ? wrong(way) : 0;
    if (!strcmp(way, "dup2"))
        return over_all(by_dup2);
    if (!strcmp(way, "dup3"))
        return over_all(by_dup3);
    if (!strcmp(way, "bare")) {
        for (int i = 3; i < NUMBERS; i++)
            bare3(SYS_close, i, 0, 0);
        return 0;
    }
    fprintf(stderr, "clock: there is no way %s\n", way);
    return 1;
}

int main(int count, char **argument)
{
    const char *way = count > 1 ? argument[1] : "";
    int failed;

    if (!strcmp(way, "calls"))
        return calls(atof(argument[2]), (size_t)atol(argument[3]));
    if (!strcmp(way, "changes"))
        return changes(atof(argument[2]));
    if (!strcmp(way, "fork"))
        return forked();
    if (!strcmp(way, "exec"))
        return execs(0, 0);
    if (!strcmp(way, "bare-exec"))
        return execs(1, count > 2 && !strcmp(argument[2], "trapped"));
    if (!strcmp(way, "threads"))
        return ended();
    if (!strcmp(way, "limit"))
        return limited();
    if (!strcmp(way, "many"))
        return together(200, 0.01);
    if (!strcmp(way, "drop"))
        return dropped();
    if (!strcmp(way, "filter"))
        return filtered();
    if (!strcmp(way, "trap"))
        return trap(0, 0);
    if (!strcmp(way, "handled"))
        return trap(0, 1);
    if (!strcmp(way, "traced"))
        return traced(argument[0]);
    if (!strcmp(way, "sent"))
        return trap(1, 0);
    burn(0.2);
    failed = between(way);
    burn(0.5);
    return failed;
}
