/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that move many bytes and, once some of them are moved, return what these are when a signal comes: each is made
 * by a thread while another one, at the other end, waits until it sleeps, sends it a signal of the collector's, and
 * only then moves a part of the bytes on. Says which calls did not move all, or not the right ones. To be measured
 * under REALTIME with a period so long that no signal of the collector comes by itself; the kernel's list of the
 * process's timers tells how one looks.
 *
 *     pieces            nobody else sends a signal: each call moves all, as without hq, and a call after it
 *                       is restarted as ever
 *     pieces own        after one of the collector's comes one of the program's, whose handler restarts calls: each
 *                       call returns a part, as without hq
 *     pieces closed     after one of the collector's the other end is closed, with bytes in it that nobody has read:
 *                       prints what this call and the next return, to be compared with a run without hq
 *
 * Calls that work and do not wait get the collector's signals as long as they work.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "moving_calls.h"

enum { PORTION = 200000 };

static int bad;
static volatile pid_t thread;
static volatile bool done, locks;
static int lock;
static ssize_t moved;

static char byte_at(size_t i)
{
    return (char)(i * 2654435761u >> 13);
}

static void *make_call(void *argument)
{
    const struct call *call = argument;

    thread = (pid_t)syscall(SYS_gettid);
    moved = call->make();
    done = true;
    while (thread && !locks) /* until nobody looks at it */
        sched_yield();
    if (locks) {
        flock(lock, LOCK_EX);
        done = true;
    }
    while (thread)
        sched_yield();
    return NULL;
}

/* ---- The other end ---- */

static bool read_state(const char *name, char *text, size_t room)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)thread, name);
    int fd = open(path, O_RDONLY);
    ssize_t got = fd >= 0 ? read(fd, text, room - 1) : -1;
    text[got > 0 ? got : 0] = 0;
    if (fd >= 0)
        close(fd);
    return got > 0;
}

/* Until it sleeps in its call, and stays so, or has made it. */
static void wait_until_asleep(void)
{
    char text[512];

    for (int asleep = 0; asleep < 20 && !done;) {
        const char *behind = read_state("stat", text, sizeof text) ? strrchr(text, ')') : NULL;
        asleep = behind && behind[2] == 'S' ? asleep + 1 : 0;
        sched_yield();
    }
}

static void wait_until_taken(int number)
{
    char text[4096], *at;

    do {
        sched_yield();
        at = read_state("status", text, sizeof text) ? strstr(text, "SigPnd:") : NULL;
    } while (!done && at && strtoull(at + 7, NULL, 16) >> (number - 1) & 1);
}

/* As if the collector's timer of that thread had fired; nothing without hq. */
static void post_timer(void)
{
    FILE *timers = fopen("/proc/self/timers", "r");
    char line[256];
    int number = 0, of;
    unsigned long mark = 0;
    siginfo_t info = {.si_code = SI_TIMER};

    while (timers && fgets(line, sizeof line, timers)) {
        sscanf(line, "signal: %d/%lx", &number, &mark);
        if (sscanf(line, "notify: signal/tid.%d", &of) == 1 && of == thread)
            info.si_signo = number, info.si_value.sival_ptr = (void *)mark;
    }
    if (timers)
        fclose(timers);
    if (!info.si_signo)
        return;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, info.si_signo, &info);
    wait_until_taken(info.si_signo);
}

static void post_own(void)
{
    syscall(SYS_tgkill, getpid(), thread, SIGUSR1);
    wait_until_taken(SIGUSR1);
}

/* Takes, or gives, up to so many bytes from `at` on, without waiting for what the thread has not moved yet. */
static size_t move(enum kind kind, char *here, size_t at, size_t most)
{
    size_t sum = 0;
    ssize_t got = 1;

    while (got > 0 && sum < most) {
        got = kind == SENDS ? read(other, here + at + sum, most - sum) : write(other, here + at + sum, most - sum);
        sum += got > 0 ? (size_t)got : 0;
    }
    return sum;
}

static char there[BYTES];

static bool right_bytes(const char *got, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (got[i] != byte_at(i))
            return false;
    return true;
}

static void fill(char *with)
{
    for (size_t i = 0; i < BYTES; i++)
        with[i] = byte_at(i);
}

static void start(const struct call *call, pthread_t *made)
{
    call->connect();
    fcntl(other, F_SETFL, O_NONBLOCK);
    memset(bytes, 0, BYTES);
    memset(there, 0, BYTES);
    fill(call->kind == RECEIVES || call->kind == RECEIVES_MESSAGES ? there : bytes);
    thread = 0;
    done = false;
    if (pthread_create(made, NULL, make_call, (void *)call))
        exit(2);
    while (!thread)
        sched_yield();
}

/* The call is made, and sleeps when a part is moved. */
static size_t begin(const struct call *call, pthread_t *made)
{
    size_t at = 0;

    start(call, made);
    if (call->kind == RECEIVES)
        at = move(RECEIVES, there, 0, 1000);
    wait_until_asleep();
    post_timer();
    wait_until_asleep();
    return at;
}

static void finish(pthread_t made)
{
    thread = 0;
    pthread_join(made, NULL);
    close(end);
    close(other);
}

/* Afterwards another call of that thread is restarted as it always was when a signal of the program comes. */
static void waits_on(const char *name)
{
    int file = memfd_create("lock", 0);
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    lock = open(path, O_RDWR);
    flock(file, LOCK_EX);
    done = false;
    locks = true;
    wait_until_asleep();
    post_own();
    wait_until_asleep();
    if (done) {
        printf("a lock after %s was not waited for\n", name);
        bad++;
    }
    flock(file, LOCK_UN);
    while (!done)
        sched_yield();
    locks = false;
    close(lock);
    close(file);
}

static void whole(const struct call *call)
{
    pthread_t made;
    size_t at = begin(call, &made);

    while (!done) {
        at += move(call->kind, there, at, at + PORTION < BYTES ? PORTION : BYTES - at);
        wait_until_asleep();
        post_timer();
    }
    if (call->kind == SENDS)
        at += move(SENDS, there, at, BYTES - at);
    if (moved != BYTES || at != BYTES) {
        printf("%s moved %zd of %d\n", call->name, moved, BYTES);
        bad++;
    } else if (!right_bytes(call->kind == SENDS ? there : bytes, BYTES)) {
        printf("%s moved wrong bytes\n", call->name);
        bad++;
    }
    waits_on(call->name);
    finish(made);
}

/* Takes, or gives, up to so many messages, without waiting. */
static int move_messages(enum kind kind, int at, int most)
{
    int sum = 0;
    ssize_t got = 1;

    for (; got > 0 && sum < most && at + sum<MESSAGES; sum += got> 0) {
        char *here = there + (at + sum) * MESSAGE;
        got = kind == SENDS_MESSAGES ? recv(other, here, MESSAGE, 0) : send(other, here, MESSAGE, 0);
    }
    return sum;
}

/* An error that the kernel has kept would come with the next call. */
static void whole_messages(const struct call *call)
{
    const bool sends = call->kind == SENDS_MESSAGES;
    pthread_t made;
    char more;

    start(call, &made);
    for (int at = 0; !done;) {
        at += move_messages(call->kind, at, 3);
        wait_until_asleep();
        post_timer();
    }
    if (moved != MESSAGES) {
        printf("%s: %zd of %d messages\n", call->name, moved, MESSAGES);
        bad++;
    } else if (!sends && !right_bytes(bytes, MESSAGES * MESSAGE)) {
        printf("%s moved wrong bytes\n", call->name);
        bad++;
    }
    if (!sends && (recv(end, &more, 1, MSG_DONTWAIT) != -1 || errno != EAGAIN)) {
        printf("after %s: %s\n", call->name, strerror(errno));
        bad++;
    }
    waits_on(call->name);
    finish(made);
}

/* The signal comes again and again while it works. */
static void whole_work(const struct call *call)
{
    pthread_t made;

    start(call, &made);
    while (!done)
        post_timer();
    if (moved != LARGE) {
        printf("%s: %zd of %d\n", call->name, moved, LARGE);
        bad++;
    }
    waits_on(call->name);
    finish(made);
}

static void ended_by_own(const struct call *call)
{
    pthread_t made;

    begin(call, &made);
    post_own();
    wait_until_asleep();
    if (!done) {
        printf("%s goes on after a signal of the program\n", call->name);
        bad++;
    }
    while (!done) { /* what it waits for */
        move(call->kind, there, 0, BYTES);
        wait_until_asleep();
    }
    if (moved <= 0 || moved >= BYTES) {
        printf("%s returned %zd\n", call->name, moved);
        bad++;
    }
    finish(made);
}

static void on_own(int number)
{
    (void)number;
}

static volatile int pipe_signals;

static void on_pipe(int number)
{
    (void)number;
    pipe_signals++;
}

static void closed(const struct call *call)
{
    pthread_t made;

    begin(call, &made);
    pipe_signals = 0;
    if (call->kind == RECEIVES && send(end, "unread", 6, 0) != 6)
        exit(2);
    close(other);
    while (!done)
        sched_yield();
    printf("%s: %s, SIGPIPE %d", call->name, moved <= 0 ? "nothing" : moved < BYTES ? "a part" : "all", pipe_signals);
    for (int i = 0; i < 2; i++) {
        ssize_t next = call->make();
        printf(", then %zd %s, SIGPIPE %d", next, next < 0 ? strerror(errno) : "", pipe_signals);
    }
    printf("\n");
    other = open("/dev/null", O_RDONLY);
    finish(made);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_own, .sa_flags = SA_RESTART};
    const char *how = argc > 1 ? argv[1] : "";

    bytes = malloc(BYTES);
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGPIPE, on_pipe);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (*how && calls[i].kind >= SENDS_MESSAGES)
            continue;
        if (!strcmp(how, "own"))
            ended_by_own(&calls[i]);
        else if (!strcmp(how, "closed"))
            closed(&calls[i]);
        else if (calls[i].kind == WORKS)
            whole_work(&calls[i]);
        else if (calls[i].kind >= SENDS_MESSAGES)
            whole_messages(&calls[i]);
        else
            whole(&calls[i]);
    }
    return bad != 0;
}
