/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g -pthread */
/* early KIND: has set up handlers before anything else begins, or leaves SIGTRAP, which the software clock uses, to
 * others (guest.h). */
#define _GNU_SOURCE
#include "burn.h"
#include "guest.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static char *path;

static void count(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    hits++;
}

static void work(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    spin(1);
    hits++;
}

static const char *action_of(int number)
{
    struct sigaction now;

    sigaction(number, NULL, &now);
    return now.sa_handler == SIG_DFL ? "default" : now.sa_handler == SIG_IGN ? "ignored" : "handled";
}

/* Whoever set it up before has it now. */
static void handled(void)
{
    spin(20);
    printf("%s", action_of(SIGTRAP));
    raise(SIGTRAP);
    printf(" %d", hits);
    __asm__ volatile("int3");
    printf(" %d\n", hits);
}

/* Its mask has all signals, and the procedure that it calls may have breakpoints in it. */
static void masked(void)
{
    spin(20);
    raise(SIGUSR1);
    printf("%d\n", hits);
}

static int status_of(pid_t child)
{
    int status = -1;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Hands on that it ignores the signal, in each way there is. */
static void ignored(void)
{
    char *arguments[] = {"early", "raises", NULL};
    pid_t child;

    spin(20);
    signal(SIGTRAP, SIG_IGN);
    if (posix_spawn(&child, path, NULL, NULL, arguments, environ) == 0)
        printf("%d", status_of(child));
    if ((child = fork()) == 0) {
        execv(path, arguments);
        _exit(9);
    }
    printf(" %d", status_of(child));
    if ((child = vfork()) == 0) {
        execv(path, arguments);
        _exit(9);
    }
    printf(" %d", status_of(child));
    setenv("EARLY", path, 1);
    printf(" %d", WEXITSTATUS(system("exec \"$EARLY\" raises")));
    printf(" %d", WEXITSTATUS(pclose(popen("exec \"$EARLY\" raises", "r"))));
    execv("/", arguments);
    raise(SIGTRAP);
    spin(20);
    printf(" %s", action_of(SIGTRAP));
    signal(SIGTRAP, SIG_DFL);
    printf(" %s\n", action_of(SIGTRAP));
    fflush(stdout);
    signal(SIGTRAP, SIG_IGN);
    execv(path, arguments);
}

/* Another program, which believes what it has been handed. */
static void raises(void)
{
    spin(20);
    raise(SIGTRAP);
    exit(!strcmp(action_of(SIGTRAP), "ignored") ? 7 : 8);
}

/* What a child of vfork does with its handlers is not its parent's. */
static void vforked(void)
{
    pid_t child;

    handle(SIGTRAP, count, 0);
    spin(20);
    if ((child = vfork()) == 0) {
        bool had = !strcmp(action_of(SIGTRAP), "handled");
        signal(SIGTRAP, SIG_DFL);
        _exit(2 * had + !strcmp(action_of(SIGTRAP), "default"));
    }
    printf("%d %s", status_of(child), action_of(SIGTRAP));
    raise(SIGTRAP);
    printf(" %d\n", hits);
}

static void slow(void)
{
    spin(20);
    puts("done");
}

enum { REAL_ONE = 0x600d }; /* the second argument, of which the call knows nothing, of those that are made really */

/* Another's handler may take its time between any two steps of a start: here while a clock is tried. */
static void close_slowly(int number, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    char name[64], file[64] = "";

    (void)number, (void)info;
#ifdef __x86_64__
    greg_t *argument = &context->uc_mcontext.gregs[REG_RDI], *result = &context->uc_mcontext.gregs[REG_RAX];
#else
    unsigned long long *argument = context->uc_mcontext.regs, *result = argument;
#endif
    snprintf(name, sizeof name, "/proc/self/fd/%d", (int)*argument);
    if (!hits && readlink(name, file, sizeof file - 1) > 0 && strstr(file, "perf_event")) {
        hits++;
        burn(1.2);
    }
    *result = syscall(SYS_close, (int)*argument, REAL_ONE);
}

static void trap_closes(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, REAL_ONE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

    handle(SIGSYS, close_slowly, SA_NODEFER);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Before the constructors of any library. */
static void begin(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = work, .sa_flags = SA_SIGINFO};

    if (argc < 2)
        return;
    path = argv[0];
    if (!strcmp(argv[1], "handled-early"))
        handle(SIGTRAP, count, 0);
    if (!strcmp(argv[1], "slow-at-start"))
        trap_closes();
    if (!strcmp(argv[1], "masked-early")) {
        sigfillset(&action.sa_mask);
        sigaction(SIGUSR1, &action, NULL);
    }
}

static __attribute__((section(".preinit_array"), used)) void (*first)(int, char **) = begin;

int main(int argc, char **argv)
{
    static const struct guest kinds[] = {{"handled-early", handled}, {"masked-early", masked},
                                         {"ignored-trap", ignored},  {"vforked-trap", vforked},
                                         {"slow-at-start", slow},    {"raises", raises}};

    return guest_main(argc, argv, kinds, sizeof kinds / sizeof *kinds);
}
