/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A signal of the collector (T) and one of the program (B) meet a call that waits, in every order: this program traces
 * a child of its own that makes the call, and sends either when the child stands just there. To be measured under
 * REALTIME with a period so long that no T comes by itself; what the kernel lists of the child's timers tells how T
 * looks.
 *
 *     orders            all calls, at a few points
 *     orders every      sigsuspend, pause, ppoll, nanosleep and read, at every instruction
 *
 * A second T comes while the handler of B is being entered, where it was T that B came behind.
 *
 * The model, whatever the order: a call that B's handler was entered during ends with EINTR, at the latest when one
 * more T has come; one that only T came to goes on; the handler of B runs once, is told the mask that was before, and
 * what the call's own mask blocks (C) waits until it is over; the mask afterwards is that before.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "waiting_calls.h"

enum { B = SIGUSR2, C = SIGUSR1 };
enum mask { NONE, FULL, EMPTY, SWITCHED, MASKS }; /* of the call; NONE: it has none */
static const char *const mask_names[] = {"its mask", "a full mask", "an empty mask", "another mask"};

/* What the child is to do, and what it saw. */
static struct shared {
    int call, mask;
    int result, error;
    int entered, c_before, c_entered; /* handlers of B; of C when B's was entered, and at the end */
    bool mask_told, mask_after;
} * shared;

/* ---- The child ---- */

/* System calls that nobody else makes tell the tracer where the child is. */
enum { BEGINS = SYS_getuid, ENDS = SYS_geteuid, HANDLES = SYS_getgid };

static void mark(long number)
{
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "a"(number) : "rcx", "r11", "memory");
}

static uint64_t bits(const sigset_t *set)
{
    uint64_t word;

    memcpy(&word, set, sizeof word);
    return word;
}

static uint64_t mask_before;

static void on_b(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    shared->c_before = shared->c_entered;
    shared->mask_told = bits(&((ucontext_t *)context)->uc_sigmask) == mask_before;
    shared->entered++;
    mark(HANDLES);
}

static void on_c(int number)
{
    (void)number;
    shared->c_entered++;
}

static void set_masks(bool blocked, sigset_t *mask)
{
    sigset_t set;

    sigemptyset(&set);
    sigemptyset(mask);
    if (blocked)
        sigaddset(&set, B); /* the call alone lets it in */
    if (shared->mask == FULL) {
        sigfillset(mask);
        sigdelset(mask, B);
    } else if (shared->mask == SWITCHED) {
        sigaddset(mask, C);
    }
    sigprocmask(SIG_SETMASK, &set, NULL);
    sigprocmask(SIG_BLOCK, NULL, &set);
    mask_before = bits(&set);
}

static _Noreturn void child(void)
{
    struct sigaction action = {.sa_sigaction = on_b, .sa_flags = SA_SIGINFO};
    sigset_t mask, after;

    if (shared->mask == FULL)
        sigfillset(&action.sa_mask);
    sigaction(B, &action, NULL);
    signal(C, on_c);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    for (;;) {
        set_masks(calls[shared->call].masked, &mask);
        errno = 0;
        mark(BEGINS);
        shared->result = calls[shared->call].make(shared->mask == NONE ? NULL : &mask);
        shared->error = errno;
        sigprocmask(SIG_BLOCK, NULL, &after);
        shared->mask_after = bits(&after) == mask_before;
        mark(ENDS);
    }
}

/* ---- The tracer ---- */

static pid_t pid;
static int t_number;
static long t_value;
static long bad, tried;

enum stop { ENTRY, EXIT, SIGNAL, STEP, GONE, ASLEEP };
static bool inside; /* between entry and exit of a system call */
static long number; /* of that call */

static struct user_regs_struct registers(void)
{
    struct user_regs_struct regs;

    ptrace(PTRACE_GETREGS, pid, 0, &regs);
    return regs;
}

static int pass; /* the signal that is delivered when it goes on */

/* A T that is delivered gets the looks of a timer's. */
static void note_signal(int signal)
{
    siginfo_t info;

    pass = signal;
    if (signal != t_number || ptrace(PTRACE_GETSIGINFO, pid, 0, &info) || info.si_code != SI_TKILL)
        return;
    memset(&info, 0, sizeof info);
    info.si_signo = signal;
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = (void *)t_value;
    ptrace(PTRACE_SETSIGINFO, pid, 0, &info);
}

static enum stop stopped(int status)
{
    int signal = WSTOPSIG(status);

    if (!WIFSTOPPED(status))
        return GONE;
    if (signal == (SIGTRAP | 0x80)) {
        inside = !inside;
        number = (long)registers().orig_rax;
        return inside ? ENTRY : EXIT;
    }
    if (signal == SIGTRAP)
        return STEP;
    note_signal(signal);
    return SIGNAL;
}

/* What has stopped a child that goes on, or slept. */
static enum stop woken(void)
{
    int status;

    return waitpid(pid, &status, 0) == pid ? stopped(status) : GONE;
}

static void go_on(int request)
{
    ptrace(request, pid, 0, (long)pass);
    pass = 0;
}

static enum stop advance(int request)
{
    go_on(request);
    return woken();
}

static char state(void)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, sizeof line, file))
        line[0] = 0;
    if (file)
        fclose(file);
    char *behind = strrchr(line, ')');
    return behind ? behind[2] : 'X';
}

static void post(int signal)
{
    syscall(SYS_tgkill, pid, pid, signal);
}

/* True if the child, which runs, falls asleep or stays so, false if it stops, which *stop tells. Only the calls under
 * test sleep for long. */
static bool stays_asleep(enum stop *stop)
{
    int status;

    for (int asleep = 0; asleep < 20;) { /* it sleeps for a moment when it waits for a lock, too */
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got) {
            *stop = stopped(status);
            return false;
        }
        asleep = state() == 'S' ? asleep + 1 : 0;
        sched_yield();
    }
    return true;
}

static bool sleeps(enum stop *stop)
{
    go_on(PTRACE_SYSCALL);
    return stays_asleep(stop);
}

static void find_timer(void)
{
    char path[64], line[256];

    snprintf(path, sizeof path, "/proc/%d/timers", (int)pid);
    FILE *file = fopen(path, "r");
    t_number = 0;
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "signal: %d/%lx", &t_number, &t_value);
    if (file)
        fclose(file);
}

static void start_child(void)
{
    int status;

    fflush(stdout);
    pid = fork();
    if (pid == 0)
        child();
    waitpid(pid, &status, 0);
    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    inside = false;
    pass = 0;
    find_timer();
}

static void end_child(void)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Where the second signal is sent; the first is sent when the call sleeps. */
enum point { TOGETHER, AT_HANDLER, AT_SIGRETURN, BEHIND_SIGRETURN, LATER, POINTS };
static const char *const point_names[] = {"with it", "in its handler", "before it returns", "when it has returned",
                                          "instructions later"};

struct schedule {
    int first, second; /* B, T, or 0 */
    enum point point;
    int steps;
    int third; /* a T more, so many instructions into the entry of B's handler; 0: none */
};

/* False if the call does not sleep. */
static bool to_wait(void)
{
    enum stop stop = EXIT;

    while (!(stop == ENTRY && number == BEGINS))
        if ((stop = advance(PTRACE_SYSCALL)) == GONE)
            return false;
    advance(PTRACE_SYSCALL);
    for (;;) {
        stop = advance(PTRACE_SYSCALL);
        if (stop == GONE || (stop == ENTRY && number == ENDS))
            return false;
        if (stop != ENTRY)
            continue;
        if (sleeps(&stop))
            return true;
    }
}

static void describe(const struct schedule *s, const char *what)
{
    const char *first = s->first == B ? "B" : "T", *second = s->second == B ? "B" : "T";

    bad++;
    printf("%s with %s: %s first", calls[shared->call].name, mask_names[shared->mask], first);
    if (s->second)
        printf(", %s %s", second, point_names[s->point]);
    if (s->point == LATER)
        printf(" (%d)", s->steps);
    if (s->third)
        printf(", T again when B's handler is entered (%d)", s->third);
    printf(": %s\n", what);
}

/* Sends the second signal at its point. False: there is no such point. */
static bool send_second(const struct schedule *s, enum stop stop)
{
    bool behind = false;

    if (!s->second || s->point == TOGETHER)
        return true;
    /* B's handler marks itself; T's is passed at once, for nothing can be delivered in it. */
    for (;;) {
        if (stop == GONE)
            return true;
        if (stop == ENTRY && number == ENDS)
            return false;
        if (s->point == AT_HANDLER && stop == ENTRY &&
            (s->first == B ? number == HANDLES : number == SYS_rt_sigpending || number == SYS_rt_sigreturn)) {
            post(s->second);
            return true;
        }
        if (stop == ENTRY && number == SYS_rt_sigreturn) {
            if (s->point == AT_SIGRETURN) {
                post(s->second);
                return true;
            }
            behind = true;
        }
        if (behind && stop == EXIT)
            break;
        if (s->point == LATER && s->first == B && stop == SIGNAL)
            break; /* its handler can be interrupted: from its first instruction on */
        stop = advance(PTRACE_SYSCALL);
    }
    if (s->point == BEHIND_SIGRETURN) {
        post(s->second);
        return true;
    }
    for (int i = 0; i < s->steps; i++) {
        long code = ptrace(PTRACE_PEEKTEXT, pid, registers().rip, 0);
        long call = (long)registers().rax;
        if ((code & 0xffff) == 0x050f && !pass && call != SYS_rt_sigreturn && call != HANDLES)
            return false; /* back in a system call */
        if (advance(PTRACE_SINGLESTEP) == GONE)
            return true;
    }
    inside = false;
    post(s->second);
    return true;
}

/* None where B's handler is entered by the call when it is made again. */
static void send_third(const struct schedule *s)
{
    for (enum stop stop = STEP; pass != B; stop = advance(PTRACE_SYSCALL))
        if (stop == GONE || (stop == ENTRY && (number == ENDS || number == HANDLES)))
            return;
    for (int i = 0; i < s->third; i++)
        if (advance(PTRACE_SINGLESTEP) == GONE)
            return;
    inside = false;
    post(t_number);
}

/* Lets the call come to its end; asleep without a reason it gets what the model promises to end it. */
static const char *finish(const struct schedule *s, bool sent)
{
    enum stop stop = EXIT;
    int more = 0;
    bool b_sent = s->first == B || (sent && s->second == B);

    for (;;) {
        if (stop == GONE)
            return "the child died";
        if (stop == ENTRY && number == ENDS)
            return NULL;
        if (!sleeps(&stop))
            continue;
        if (!b_sent) {
            if (shared->mask == SWITCHED)
                post(C);
            post(B);
            b_sent = true;
        } else if (shared->entered && more++ == 0) {
            post(t_number); /* the next period */
        } else {
            return shared->entered ? "waits though B has come" : "B is lost";
        }
        if (stays_asleep(&stop))
            return "a signal does not come";
    }
}

static bool try(struct schedule s)
{
    enum stop stop = ASLEEP;
    bool exists;
    const char *what = NULL;

    shared->entered = shared->c_entered = shared->c_before = 0;
    shared->mask_told = shared->mask_after = false;
    if (!to_wait()) {
        describe(&s, "the child did not come to wait");
        end_child();
        start_child();
        return false;
    }
    if (s.point == TOGETHER && s.second)
        post(s.second);
    if (shared->mask == SWITCHED && s.second)
        post(C);
    post(s.first);
    tried++;
    exists = !stays_asleep(&stop) && send_second(&s, stop);
    if (exists && s.third)
        send_third(&s);
    what = stop == ASLEEP ? "it does not come" : finish(&s, exists);
    if (what) {
        describe(&s, what);
        end_child();
        start_child();
        return exists;
    }
    if (shared->result != -1 || shared->error != EINTR)
        describe(&s, "did not fail with EINTR");
    if (shared->entered != 1)
        describe(&s, shared->entered ? "B's handler ran twice" : "B's handler did not run");
    if (!shared->mask_told)
        describe(&s, "B's handler was told another mask");
    if (!shared->mask_after)
        describe(&s, "the mask has changed");
    if (shared->mask == SWITCHED && shared->c_before)
        describe(&s, "C was delivered though the call blocked it");
    return exists;
}

static void try_call(bool every)
{
    const int order[2][2] = {{t_number, B}, {B, t_number}};

    try((struct schedule){.first = t_number});
    for (int third = 1; third < 128; third += every ? 3 : 1 + third)
        try((struct schedule){t_number, B, AT_SIGRETURN, 0, third});
    for (int i = 0; i < 2; i++) {
        for (int point = TOGETHER; point < LATER; point++)
            try((struct schedule){order[i][0], order[i][1], (enum point)point, 0, 0});
        for (int steps = every ? 0 : 1; steps < 2000; steps += every ? 1 : 1 + steps)
            if (!try((struct schedule){order[i][0], order[i][1], LATER, steps, 0}))
                break;
    }
}

int main(int argc, char **argv)
{
    bool every = argc > 1 && !strcmp(argv[1], "every");

    setvbuf(stdout, NULL, _IOLBF, 0);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    prepare_calls();
    for (int call = 0; call < CALLS && bad < 20; call++) {
        if (every && !calls[call].every)
            continue;
        shared->call = call;
        for (int mask = calls[call].masked ? FULL : NONE; mask < (calls[call].masked ? MASKS : FULL); mask++) {
            shared->mask = mask;
            start_child();
            if (t_number)
                try_call(every);
            else
                bad++, puts("the child has no timer");
            end_child();
        }
    }
    end_calls();
    printf("%ld orders, %ld wrong\n", tried, bad);
    return bad ? 1 : 0;
}
