/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tick of the software clock comes at a chosen instruction of a thread that is setting that clock up. This program
 * traces a child of its own, which begins threads one after the other. The n-th is stepped by n instructions from where
 * it has the pages of the clock; there it stands still, in an endless loop of two bytes, until the kernel's tick is
 * there. So each instruction between the clock's first and the program's own code has a tick at it. To be measured with
 * --clock=perf, at a rate that makes the first tick replace the clock (the first period of a thread is a shorter one).
 *
 *     clock_starts       prints how many threads had a tick at their instruction, and exits 1 if the child did not end
 * well
 */
#define _GNU_SOURCE
#include <elf.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 160, PAGES_OF_A_CLOCK = 2 * 4096 };

/* ---- The child ---- */

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *work(void *nothing)
{
    for (double from = cpu(); cpu() < from + 0.0015;)
        ;
    return nothing;
}

static int child(void)
{
    pthread_t thread;

    raise(SIGSTOP); /* the tracer has seized it by then, or will have */
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
            return 1;
    return 0;
}

/* ---- The tracer ---- */

static long met, missed;

static struct user_regs_struct registers(pid_t thread)
{
    struct user_regs_struct regs;

    ptrace(PTRACE_GETREGS, thread, 0, &regs);
    return regs;
}

static bool takes_ticks(pid_t thread)
{
    uint64_t mask = 0;

    return ptrace(PTRACE_GETSIGMASK, thread, sizeof mask, &mask) == 0 && !(mask >> (SIGTRAP - 1) & 1);
}

static bool is_tick(pid_t thread)
{
    enum { TRAP_OF_PERF = 6 };
    siginfo_t info;

    return ptrace(PTRACE_GETSIGINFO, thread, 0, &info) == 0 && info.si_code == TRAP_OF_PERF;
}

/* The thread is stopped within its start. True: it has a tick, which is yet to be delivered. */
static bool wait_for_tick(pid_t thread)
{
    enum { JUMP_TO_ITSELF = 0xfeeb };
    uint64_t place = registers(thread).rip;
    long code = ptrace(PTRACE_PEEKTEXT, thread, place, 0);
    int status;

    ptrace(PTRACE_POKETEXT, thread, place, (code & ~0xffffL) | JUMP_TO_ITSELF);
    ptrace(PTRACE_CONT, thread, 0, 0);
    waitpid(thread, &status, __WALL);
    ptrace(PTRACE_POKETEXT, thread, place, code);
    return WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP && is_tick(thread);
}

/* Steps to the n-th instruction behind the call that maps the clock, and has the tick come there. Returns the signal to
 * go on with. */
static int meet(pid_t thread, int n)
{
    int status;

    for (int i = 0; i < n; i++) {
        if ((ptrace(PTRACE_PEEKTEXT, thread, registers(thread).rip, 0) & 0xffff) == 0x050f || !takes_ticks(thread)) {
            missed++;
            return 0; /* it goes to the kernel: the program's own code is near */
        }
        ptrace(PTRACE_SINGLESTEP, thread, 0, 0);
        if (waitpid(thread, &status, __WALL) < 0 || !WIFSTOPPED(status))
            return 0;
        if (is_tick(thread))
            return met++, SIGTRAP;
    }
    if (!takes_ticks(thread)) {
        missed++;
        return 0;
    }
    return wait_for_tick(thread) ? (met++, SIGTRAP) : 0;
}

static bool maps_a_clock(const struct user_regs_struct *regs)
{
    return regs->orig_rax == SYS_mmap && regs->rsi == PAGES_OF_A_CLOCK && regs->r10 == MAP_SHARED && (int)regs->r8 >= 0;
}

/* Follows all threads until the child ends, whose status it returns. A new thread is met once, at its first clock. */
static int follow(pid_t process)
{
    static bool is_met[1 << 22], inside[1 << 22]; /* by the thread's number: pid_max is no more */
    int status, n = 0;

    for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
        int signal = 0;

        if (!WIFSTOPPED(status)) {
            if (thread == process)
                return status;
            continue;
        }
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            struct user_regs_struct regs = registers(thread);

            inside[thread] = !inside[thread];
            if (!inside[thread] && thread != process && !is_met[thread] && maps_a_clock(&regs) && (long)regs.rax > 0) {
                is_met[thread] = true;
                signal = meet(thread, n++);
            }
        } else if (status >> 16 == 0) {
            signal = WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);
        }
        ptrace(thread == process || !is_met[thread] ? PTRACE_SYSCALL : PTRACE_CONT, thread, 0, (long)signal);
    }
    return -1;
}

int main(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(child());
    waitpid(pid, &status, WUNTRACED);
    if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)) {
        perror("PTRACE_SEIZE");
        return 77;
    }
    kill(pid, SIGCONT);
    status = follow(pid);
    printf("%ld ticks, %ld not, status %x\n", met, missed, (unsigned)status);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
