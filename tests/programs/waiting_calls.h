/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of orders.c: each waits until a signal comes. `masked`: it takes a mask of signals; `every`: it is also
 * tried with signals at every instruction.
 */
#include <aio.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int pair[2], pipes[2], queue, full_queue, semaphores, epoll;
static sem_t semaphore;
static const struct timespec long_time = {1000, 0};

static struct timespec much_later(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_sec += 1000;
    return t;
}

static int do_sigsuspend(const sigset_t *m)
{
    return sigsuspend(m);
}
static int do_ppoll(const sigset_t *m)
{
    return ppoll(NULL, 0, &long_time, m);
}
static int do_pselect(const sigset_t *m)
{
    return pselect(0, NULL, NULL, NULL, &long_time, m);
}
static int do_epoll_pwait(const sigset_t *m)
{
    return epoll_pwait(epoll, &(struct epoll_event){0}, 1, 1000000, m);
}
static int do_epoll_pwait2(const sigset_t *m)
{
#if __GLIBC_PREREQ(2, 35)
    return epoll_pwait2(epoll, &(struct epoll_event){0}, 1, &long_time, m);
#else
    return epoll_pwait(epoll, &(struct epoll_event){0}, 1, 1000000, m);
#endif
}
static int do_pause(const sigset_t *m)
{
    return (void)m, pause();
}
static int do_nanosleep(const sigset_t *m)
{
    return (void)m, nanosleep(&long_time, NULL);
}
static int do_usleep(const sigset_t *m)
{
    return (void)m, usleep(1000000000);
}
static int do_poll(const sigset_t *m)
{
    return (void)m, poll(NULL, 0, 1000000);
}
static int do_epoll_wait(const sigset_t *m)
{
    return (void)m, epoll_wait(epoll, &(struct epoll_event){0}, 1, 1000000);
}
static int do_sem_wait(const sigset_t *m)
{
    return (void)m, sem_wait(&semaphore);
}
static int do_msgrcv(const sigset_t *m)
{
    return (void)m, (int)msgrcv(queue, &(long[2]){0}, 8, 0, 0);
}
static int do_msgsnd(const sigset_t *m)
{
    return (void)m, (int)msgsnd(full_queue, &(long[2]){1}, 8, 0);
}
static int do_semop(const sigset_t *m)
{
    return (void)m, semop(semaphores, &(struct sembuf){0, -1, 0}, 1);
}
static int do_recv(const sigset_t *m)
{
    return (void)m, (int)recv(pair[0], &(char){0}, 1, 0);
}
static int do_read_socket(const sigset_t *m)
{
    return (void)m, (int)read(pair[0], &(char){0}, 1);
}
static int do_read_pipe(const sigset_t *m)
{
    return (void)m, (int)read(pipes[0], &(char){0}, 1);
}

static int do_clock_nanosleep(const sigset_t *m)
{
    (void)m;
    errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL);
    return errno ? -1 : 0;
}

static int do_clock_nanosleep_until(const sigset_t *m)
{
    struct timespec t = much_later(CLOCK_MONOTONIC);

    (void)m;
    errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    return errno ? -1 : 0;
}

static int do_thrd_sleep(const sigset_t *m)
{
    (void)m;
    errno = thrd_sleep(&long_time, NULL) == -1 ? EINTR : 0;
    return errno ? -1 : 0;
}

static int do_sleep(const sigset_t *m)
{
    (void)m;
    errno = sleep(1000) ? EINTR : 0;
    return errno ? -1 : 0;
}

static int do_select(const sigset_t *m)
{
    struct timeval t = {1000, 0};

    (void)m;
    return select(0, NULL, NULL, NULL, &t);
}

static int do_sem_timedwait(const sigset_t *m)
{
    struct timespec t = much_later(CLOCK_REALTIME);

    (void)m;
    return sem_timedwait(&semaphore, &t);
}

static int do_sem_clockwait(const sigset_t *m)
{
    struct timespec t = much_later(CLOCK_MONOTONIC);

    (void)m;
    return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &t);
}

static int do_sigtimedwait(const sigset_t *m)
{
    sigset_t set;

    (void)m;
    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    return sigtimedwait(&set, NULL, &long_time);
}

static int do_sigwaitinfo(const sigset_t *m)
{
    sigset_t set;

    (void)m;
    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    return sigwaitinfo(&set, NULL);
}

static int do_semtimedop(const sigset_t *m)
{
    (void)m;
    return semtimedop(semaphores, &(struct sembuf){0, -1, 0}, 1, &long_time);
}

static int do_aio_suspend(const sigset_t *m)
{
    static char c;
    static struct aiocb a;
    const struct aiocb *list[] = {&a};

    (void)m;
    if (!a.aio_nbytes) {
        a = (struct aiocb){.aio_fildes = pipes[0], .aio_buf = &c, .aio_nbytes = 1};
        aio_read(&a);
    }
    return aio_suspend(list, 1, &long_time);
}

static const struct call {
    const char *name;
    int (*make)(const sigset_t *);
    bool masked, every;
} calls[] = {
    {"sigsuspend", do_sigsuspend, true, true},
    {"ppoll", do_ppoll, true, true},
    {"pselect", do_pselect, true, false},
    {"epoll_pwait", do_epoll_pwait, true, false},
    {"epoll_pwait2", do_epoll_pwait2, true, false},
    {"pause", do_pause, false, true},
    {"nanosleep", do_nanosleep, false, true},
    {"read (pipe)", do_read_pipe, false, true},
    {"clock_nanosleep", do_clock_nanosleep, false, false},
    {"clock_nanosleep until", do_clock_nanosleep_until, false, false},
    {"usleep", do_usleep, false, false},
    {"thrd_sleep", do_thrd_sleep, false, false},
    {"sleep", do_sleep, false, false},
    {"poll", do_poll, false, false},
    {"select", do_select, false, false},
    {"epoll_wait", do_epoll_wait, false, false},
    {"sem_wait", do_sem_wait, false, false},
    {"sem_timedwait", do_sem_timedwait, false, false},
    {"sem_clockwait", do_sem_clockwait, false, false},
    {"sigtimedwait", do_sigtimedwait, false, false},
    {"sigwaitinfo", do_sigwaitinfo, false, false},
    {"msgrcv", do_msgrcv, false, false},
    {"msgsnd", do_msgsnd, false, false},
    {"semop", do_semop, false, false},
    {"semtimedop", do_semtimedop, false, false},
    {"recv", do_recv, false, false},
    {"read (socket)", do_read_socket, false, false},
    {"aio_suspend", do_aio_suspend, false, false},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* Makes what they wait for. */
static void prepare_calls(void)
{
    struct timeval limit = {1000, 0};

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(pipes) || sem_init(&semaphore, 0, 0))
        exit(2);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    queue = msgget(IPC_PRIVATE, 0600);
    full_queue = msgget(IPC_PRIVATE, 0600);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    epoll = epoll_create1(0);
    while (msgsnd(full_queue, &(long[2]){1}, 8, IPC_NOWAIT) == 0)
        ;
}

/* Removes what outlives the process. */
static void end_calls(void)
{
    msgctl(queue, IPC_RMID, NULL);
    msgctl(full_queue, IPC_RMID, NULL);
    semctl(semaphores, 0, IPC_RMID);
}
