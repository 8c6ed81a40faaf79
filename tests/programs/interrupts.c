/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes every system call that a signal handler can end early, for 60 ms each, and prints the names of those that came
 * back too soon or with an error that nobody asked for. With `own`, a signal of the program interrupts them: then each
 * must fail with EINTR.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static const struct timespec wait_for = {0, 60000000};
static int bad, pair[2], pipes[2], queue, semaphores, epoll;
static sem_t semaphore;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct timespec later(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 60000000;
    if (t.tv_nsec >= 1000000000)
        t.tv_sec++, t.tv_nsec -= 1000000000;
    return t;
}

static int do_nanosleep(void)
{
    return nanosleep(&wait_for, NULL);
}
static int do_clock_nanosleep(void)
{
    errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &wait_for, NULL);
    return errno ? -1 : 0;
}
static int do_usleep(void)
{
    return usleep(60000);
}
static int do_thrd_sleep(void)
{
    return thrd_sleep(&wait_for, NULL);
}
static int do_sleep(void)
{
    return sleep(1) ? -1 : 0;
}
static int do_poll(void)
{
    struct pollfd p = {pair[0], POLLIN, 0};
    return poll(&p, 1, 60);
}
static int do_ppoll(void)
{
    struct pollfd p = {pair[0], POLLIN, 0};
    return ppoll(&p, 1, &wait_for, NULL);
}
static int do_epoll_wait(void)
{
    struct epoll_event e;
    return epoll_wait(epoll, &e, 1, 60);
}
static int do_epoll_pwait(void)
{
    struct epoll_event e;
    return epoll_pwait(epoll, &e, 1, 60, NULL);
}

static int do_select(void)
{
    struct timeval t = {0, 60000};
    fd_set set;

    FD_ZERO(&set);
    FD_SET(pair[0], &set);
    return select(pair[0] + 1, &set, NULL, NULL, &t);
}

static int do_pselect(void)
{
    fd_set set;

    FD_ZERO(&set);
    FD_SET(pair[0], &set);
    return pselect(pair[0] + 1, &set, NULL, NULL, &wait_for, NULL);
}

static int do_sem_timedwait(void)
{
    struct timespec t = later();
    return sem_timedwait(&semaphore, &t);
}
static int do_sigtimedwait(void)
{
    sigset_t s;
    sigemptyset(&s);
    sigaddset(&s, SIGUSR2);
    return sigtimedwait(&s, NULL, &wait_for);
}
static int do_recv(void)
{
    char c;
    return (int)recv(pair[0], &c, 1, 0);
}
static int do_read(void)
{
    char c;
    return (int)read(pair[0], &c, 1);
}
static int do_semtimedop(void)
{
    struct sembuf b = {0, -1, 0};
    return semtimedop(semaphores, &b, 1, &wait_for);
}

static int do_aio_suspend(void)
{
    static char c;
    static struct aiocb a;
    const struct aiocb *list[] = {&a};
    int result;

    a = (struct aiocb){.aio_fildes = pipes[0], .aio_buf = &c, .aio_nbytes = 1};
    aio_read(&a);
    result = aio_suspend(list, 1, &wait_for);
    int error = errno;
    if (write(pipes[1], "x", 1) != 1)
        abort();
    while (aio_error(&a) == EINPROGRESS)
        ;
    errno = error;
    return result;
}

/* Ends when another thread has sent a message: 60 ms later. */
static void *send_later(void *unused)
{
    struct {
        long type;
        char text;
    } message = {1, 'x'};

    nanosleep(&wait_for, NULL);
    msgsnd(queue, &message, 1, 0);
    return unused;
}

static int do_msgrcv(void)
{
    struct {
        long type;
        char text;
    } message;
    pthread_t thread;
    int result, error;

    pthread_create(&thread, NULL, send_later, NULL);
    result = msgrcv(queue, &message, 1, 0, 0) < 0 ? -1 : 0;
    error = errno;
    pthread_join(thread, NULL);
    msgrcv(queue, &message, 1, 0, IPC_NOWAIT);
    errno = error;
    return result;
}

static const struct {
    const char *name;
    int (*call)(void);
    int error;
} calls[] = {
    {"nanosleep", do_nanosleep, 0},
    {"clock_nanosleep", do_clock_nanosleep, 0},
    {"usleep", do_usleep, 0},
    {"thrd_sleep", do_thrd_sleep, 0},
    {"sleep", do_sleep, 0},
    {"poll", do_poll, 0},
    {"ppoll", do_ppoll, 0},
    {"select", do_select, 0},
    {"pselect", do_pselect, 0},
    {"epoll_wait", do_epoll_wait, 0},
    {"epoll_pwait", do_epoll_pwait, 0},
    {"sem_timedwait", do_sem_timedwait, ETIMEDOUT},
    {"sigtimedwait", do_sigtimedwait, EAGAIN},
    {"recv", do_recv, EAGAIN},
    {"read", do_read, EAGAIN},
    {"semtimedop", do_semtimedop, EAGAIN},
    {"aio_suspend", do_aio_suspend, EAGAIN},
    {"msgrcv", do_msgrcv, 0},
};

static void on_signal(int number)
{
    (void)number;
}

static void arm(long microseconds)
{
    struct itimerval timer = {{0, 0}, {0, microseconds}};

    setitimer(ITIMER_REAL, &timer, NULL);
}

static int call_error(int i)
{
    errno = 0;
    return calls[i].call() < 0 ? errno : 0;
}

static void try_alone(int i)
{
    double start = now();
    int error = call_error(i);

    if (error != calls[i].error || now() - start < 0.059)
        bad++, printf("%s: %s after %.0f ms\n", calls[i].name, strerror(error), (now() - start) * 1000);
}

static void try_interrupted(int i)
{
    int error = 0;

    /* Threads may take the signal in the main thread's place; those calls are left out. */
    if (!strcmp(calls[i].name, "msgrcv") || !strcmp(calls[i].name, "sleep") || !strcmp(calls[i].name, "thrd_sleep"))
        return;
    /* A machine that is busy elsewhere may let the signal come before the call, or after its time. */
    for (int attempt = 0; attempt < 5 && error != EINTR; attempt++) {
        arm(20000);
        error = call_error(i);
        arm(0);
    }
    if (error != EINTR)
        bad++, printf("%s: not interrupted by the program's own signal (%s)\n", calls[i].name, strerror(error));
}

int main(int argc, char **argv)
{
    int own = argc > 1 && strcmp(argv[1], "own") == 0;
    struct timeval limit = {0, 60000};
    struct epoll_event event = {.events = EPOLLIN};
    struct sigaction action = {.sa_handler = on_signal};

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(pipes) || sem_init(&semaphore, 0, 0))
        return 2;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    queue = msgget(IPC_PRIVATE, 0600);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &event);
    sigaction(SIGALRM, &action, NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        own ? try_interrupted((int)i) : try_alone((int)i);
    msgctl(queue, IPC_RMID, NULL);
    semctl(semaphores, 0, IPC_RMID);
    return bad ? 1 : 0;
}
