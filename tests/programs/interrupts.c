/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes every system call that a signal handler can end early, for 60 ms each, and prints the names of those that came
 * back too soon or with an error that nobody asked for. With `own`, a signal of the program interrupts them: then each
 * must fail with EINTR. With `late MS`, each in a thread of its own for that time, those that came back too soon or
 * after twice their time; on a machine that is busy elsewhere the best of five counts.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int ms = 60;
static struct timespec wait_for;
static int bad, pair[2], pipes[2], queue, semaphores, epoll, full, listening, connecting;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static mqd_t messages;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

#include "numbered_calls.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct timespec later(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000L;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
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
    return usleep((useconds_t)ms * 1000);
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
    return poll(&p, 1, ms);
}
static int do_ppoll(void)
{
    struct pollfd p = {pair[0], POLLIN, 0};
    return ppoll(&p, 1, &wait_for, NULL);
}
static int do_epoll_wait(void)
{
    struct epoll_event e;
    return epoll_wait(epoll, &e, 1, ms);
}
static int do_epoll_pwait(void)
{
    struct epoll_event e;
    return epoll_pwait(epoll, &e, 1, ms, NULL);
}

static int do_select(void)
{
    struct timeval t = {0, ms * 1000};
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
    struct timespec t = later(CLOCK_REALTIME);
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
static int do_clock_nanosleep_until(void)
{
    struct timespec t = later(CLOCK_MONOTONIC);
    errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    return errno ? -1 : 0;
}
static int do_epoll_pwait2(void)
{
    struct epoll_event e;
#if __GLIBC_PREREQ(2, 35)
    return epoll_pwait2(epoll, &e, 1, &wait_for, NULL);
#else
    return epoll_pwait(epoll, &e, 1, (int)(wait_for.tv_nsec / 1000000 + wait_for.tv_sec * 1000), NULL);
#endif
}
static int do_sem_clockwait(void)
{
    struct timespec t = later(CLOCK_MONOTONIC);
    return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &t);
}
static int do_cond_timedwait(void)
{
    struct timespec t = later(CLOCK_REALTIME);
    pthread_mutex_lock(&mutex);
    do
        errno = pthread_cond_timedwait(&condition, &mutex, &t);
    while (errno == 0);
    pthread_mutex_unlock(&mutex);
    return -1;
}
static int do_mq_timedreceive(void)
{
    struct timespec t = later(CLOCK_REALTIME);
    char text[64];
    return (int)mq_timedreceive(messages, text, sizeof text, NULL, &t);
}
static int do_readv(void)
{
    char c;
    return (int)readv(pair[0], &(struct iovec){&c, 1}, 1);
}
static int do_recvfrom(void)
{
    char c;
    return (int)recvfrom(pair[0], &c, 1, 0, NULL, NULL);
}
static int do_recvmsg(void)
{
    char c;
    return (int)recvmsg(pair[0], &(struct msghdr){.msg_iov = &(struct iovec){&c, 1}, .msg_iovlen = 1}, 0);
}
static int do_recvmmsg(void)
{
    char c;
    struct mmsghdr m = {.msg_hdr = {.msg_iov = &(struct iovec){&c, 1}, .msg_iovlen = 1}};
    return recvmmsg(pair[0], &m, 1, 0, NULL);
}
static int do_accept(void)
{
    return accept(listening, NULL, NULL);
}
static int do_accept4(void)
{
    return accept4(listening, NULL, NULL, SOCK_CLOEXEC);
}
static int do_connect(void)
{
    return connect(connecting, (struct sockaddr *)&address, sizeof address);
}
static int do_write(void)
{
    return (int)write(full, "x", 1);
}
static int do_writev(void)
{
    return (int)writev(full, &(struct iovec){"x", 1}, 1);
}
static int do_send(void)
{
    return (int)send(full, "x", 1, 0);
}
static int do_sendto(void)
{
    return (int)sendto(full, "x", 1, 0, NULL, 0);
}
static int do_sendmsg(void)
{
    return (int)sendmsg(full, &(struct msghdr){.msg_iov = &(struct iovec){"x", 1}, .msg_iovlen = 1}, 0);
}
static int do_sendmmsg(void)
{
    struct mmsghdr m = {.msg_hdr = {.msg_iov = &(struct iovec){"x", 1}, .msg_iovlen = 1}};
    return sendmmsg(full, &m, 1, 0);
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

/* clang-format off */
static const struct { const char *name; int (*call)(void); int error; } calls[] = {
    { "nanosleep", do_nanosleep, 0 }, { "clock_nanosleep", do_clock_nanosleep, 0 }, { "usleep", do_usleep, 0 },
    { "thrd_sleep", do_thrd_sleep, 0 }, { "sleep", do_sleep, 0 }, { "poll", do_poll, 0 }, { "ppoll", do_ppoll, 0 },
    { "select", do_select, 0 }, { "pselect", do_pselect, 0 }, { "epoll_wait", do_epoll_wait, 0 },
    { "epoll_pwait", do_epoll_pwait, 0 }, { "sem_timedwait", do_sem_timedwait, ETIMEDOUT },
    { "sigtimedwait", do_sigtimedwait, EAGAIN }, { "recv", do_recv, EAGAIN }, { "read", do_read, EAGAIN },
    { "semtimedop", do_semtimedop, EAGAIN }, { "aio_suspend", do_aio_suspend, EAGAIN }, { "msgrcv", do_msgrcv, 0 },
    { "clock_nanosleep until", do_clock_nanosleep_until, 0 }, { "epoll_pwait2", do_epoll_pwait2, 0 },
    { "sem_clockwait", do_sem_clockwait, ETIMEDOUT }, { "pthread_cond_timedwait", do_cond_timedwait, ETIMEDOUT },
    { "mq_timedreceive", do_mq_timedreceive, ETIMEDOUT }, { "readv", do_readv, EAGAIN },
    { "recvfrom", do_recvfrom, EAGAIN }, { "recvmsg", do_recvmsg, EAGAIN }, { "recvmmsg", do_recvmmsg, EAGAIN },
    { "accept", do_accept, EAGAIN }, { "accept4", do_accept4, EAGAIN }, { "connect", do_connect, EAGAIN },
    { "write", do_write, EAGAIN }, { "writev", do_writev, EAGAIN }, { "send", do_send, EAGAIN },
    { "sendto", do_sendto, EAGAIN }, { "sendmsg", do_sendmsg, EAGAIN }, { "sendmmsg", do_sendmmsg, EAGAIN },
    { "futex by number", do_futex_by_number, ETIMEDOUT }, { "io_getevents by number", do_getevents_by_number, 0 },
    { "epoll_pwait by number", do_epoll_by_number, 0 }, { "nanosleep by number", do_nanosleep_by_number, 0 },
    { "clock_nanosleep by number", do_sleep_on_by_number, 0 }, { "ppoll by number", do_ppoll_by_number, 0 },
    { "ppoll by number, masked", do_ppoll_by_number_masked, 0 },
    { "ppoll by number, limit kept", do_ppoll_by_number_kept, 0 }, { "pselect6 by number", do_pselect_by_number, 0 },
    { "epoll_pwait2 by number", do_epoll_pwait2_by_number, 0 }, { "read by number", do_read_by_number, EAGAIN },
    { "accept4 by number", do_accept_by_number, EAGAIN }, { "write by number", do_write_by_number, EAGAIN },
};
/* clang-format on */

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

    if (error != calls[i].error || now() - start < ms / 1e3 - 0.001)
        bad++, printf("%s: %s after %.0f ms\n", calls[i].name, strerror(error), (now() - start) * 1000);
}

static void try_interrupted(int i)
{
    int error = 0;

    /* Threads may take the signal in the main thread's place; those calls are left out. */
    if (!strcmp(calls[i].name, "msgrcv") || !strcmp(calls[i].name, "sleep") || !strcmp(calls[i].name, "thrd_sleep") ||
        !strcmp(calls[i].name, "pthread_cond_timedwait"))
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

static void *try_late(void *index)
{
    int i = (int)(intptr_t)index;
    double best = 1e9, took;

    for (int attempt = 0; attempt < 5 && best > 2e-3 * ms; attempt++) {
        double start = now();
        int error = call_error(i);
        took = now() - start;
        best = took < best ? took : best;
        if (error != calls[i].error || took < ms / 1e3 - 0.001)
            bad++, printf("%s: %s after %.0f ms\n", calls[i].name, strerror(error), took * 1000);
    }
    if (best > 2e-3 * ms)
        bad++, printf("%s: %.0f ms\n", calls[i].name, best * 1000);
    return NULL;
}

static void try_all_late(void)
{
    pthread_t threads[sizeof calls / sizeof *calls];
    size_t count = 0;

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) /* sleep's unit is the second */
        if (strcmp(calls[i].name, "sleep") && strcmp(calls[i].name, "msgrcv") && strcmp(calls[i].name, "aio_suspend"))
            pthread_create(&threads[count++], NULL, try_late, (void *)(intptr_t)i);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void prepare(void)
{
    struct timeval limit = {ms / 1000, ms % 1000 * 1000};
    struct epoll_event event = {.events = EPOLLIN};
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 64};
    char name[64];
    int both[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || socketpair(AF_UNIX, SOCK_STREAM, 0, both) || pipe(pipes) ||
        sem_init(&semaphore, 0, 0))
        exit(2);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    full = both[0];
    while (send(full, name, 1, MSG_DONTWAIT) > 0)
        ;
    setsockopt(full, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    /* One socket that nobody connects to, and one that has as many waiting as it may. */
    listening = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listening, (struct sockaddr *)&address, sizeof(sa_family_t)); /* the kernel finds a name */
    listen(listening, 1);
    setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    int busy = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "hq-interrupts-%d", (int)getpid());
    bind(busy, (struct sockaddr *)&address, sizeof address);
    listen(busy, 0);
    while (connect(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), (struct sockaddr *)&address, sizeof address) == 0)
        ;
    connecting = socket(AF_UNIX, SOCK_STREAM, 0);
    setsockopt(connecting, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    snprintf(name, sizeof name, "/hq-interrupts-%d", (int)getpid());
    messages = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    mq_unlink(name);
    queue = msgget(IPC_PRIVATE, 0600);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &event);
}

int main(int argc, char **argv)
{
    int own = argc > 1 && !strcmp(argv[1], "own");
    struct sigaction action = {.sa_handler = on_signal};

    if (argc > 2)
        ms = atoi(argv[2]);
    wait_for = (struct timespec){ms / 1000, ms % 1000 * 1000000L};
    prepare();
    sigaction(SIGALRM, &action, NULL);
    if (argc > 2)
        try_all_late();
    else
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            own ? try_interrupted((int)i) : try_alone((int)i);
    msgctl(queue, IPC_RMID, NULL);
    semctl(semaphores, 0, IPC_RMID);
    return bad ? 1 : 0;
}
