#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Nothing waits for ever that would not without the collector: in plugins whose constructors wait for threads, when threads are told to change their
# rights, in children of programs with threads. What takes longer than LIMIT hangs.
. tests/collector/lib.sh
: "${CC:=cc}"
LIMIT=${LIMIT:-40}

cat >"$TMP/plugin.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *nothing(void *unused) { return unused; }

static void *worker(void *unused)
{
    struct timespec past = {0, 1}, short_time = {0, 1000};
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct sigaction action;
    struct epoll_event event;
    fd_set none;
    sigset_t set;
    sem_t one;
    pthread_t other;
    char byte = 0;
    int ends[2], pair[2];

    poll(0, 0, 1);
    ppoll(0, 0, &short_time, 0);
    FD_ZERO(&none);
    select(0, &none, 0, 0, &(struct timeval){0, 1000});
    pselect(0, &none, 0, 0, &short_time, 0);
    nanosleep(&short_time, 0);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &short_time, 0);
    usleep(1000);
    sem_init(&one, 0, 1);
    sem_wait(&one);
    sem_timedwait(&one, &past);
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &past);
    pthread_mutex_unlock(&mutex);
    sigemptyset(&set);
    sigaction(SIGUSR1, 0, &action);
    sigaction(SIGUSR1, &action, 0);
    sigprocmask(SIG_BLOCK, &set, 0);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    sigtimedwait(&set, 0, &past);
    if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1 ||
        send(pair[0], &byte, 1, 0) != 1 || recv(pair[1], &byte, 1, 0) != 1)
        _exit(3);
    fcntl(ends[0], F_GETFD);
    epoll_wait(epoll_create1(0), &event, 1, 1);
    munmap(mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
    free(malloc(10));
    if (pthread_create(&other, 0, nothing, 0) == 0)
        pthread_join(other, 0);
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)0);
        _exit(4);
    }
    while (waitpid(child, 0, 0) < 0 && errno == EINTR)
        ;
    return unused;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;

    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
}
C
cat >"$TMP/opens.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **arguments) { return count == 2 && dlopen(arguments[1], RTLD_NOW) ? puts("ok") < 0 : puts(dlerror()) * 0 + 1; }
C
$CC -O1 -shared -fPIC -o "$TMP/plugin.so" "$TMP/plugin.c" -lpthread && $CC -O1 -o "$TMP/opens" "$TMP/opens.c" -ldl &&
    $CC -O1 -o "$TMP/opens_threads" "$TMP/opens.c" -Wl,--no-as-needed -ldl -lpthread || exit 1
record -e CPUTIME@1000/s -- "$TMP/opens" "$TMP/plugin.so"
check "a constructor waits for a thread, in a plugin that brings the library of threads" [ "$status:$(cat "$TMP/out")" = 0:ok ]
for events in "CPUTIME@1000/s" "REALTIME@1000/s" "CPUTIME@1000/s -e ALLOC -e IO -e LOCK"; do
    record -e $events -- "$TMP/opens_threads" "$TMP/plugin.so"
    check "a constructor waits for a thread: $events" [ "$status:$(cat "$TMP/out")" = 0:ok ]
done

# C libraries before 2.34 have set up the handler of the signal that they have reserved when the collector starts, as this program does.
cat >"$TMP/reserved.c" <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int arrived;
static struct { void (*handler)(int); unsigned long flags; void (*restorer)(void); uint64_t mask; } action;

static void on_reserved(int number) { arrived += number == 33; }

static void set_up(void)
{
    struct sigaction usual, before;

    memset(&usual, 0, sizeof usual);
    usual.sa_handler = on_reserved;
    sigaction(SIGUSR1, &usual, &before); /* with the C library's way back from handlers */
    syscall(SYS_rt_sigaction, SIGUSR1, 0, &action, 8);
    sigaction(SIGUSR1, &before, 0);
    syscall(SYS_rt_sigaction, 33, &action, 0, 8);
}
__attribute__((section(".preinit_array"), used)) static void (*first)(void) = set_up;

int main(void)
{
    struct timespec now;

    for (int i = 1; i <= 100; i++) {
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 33);
        if (arrived != i)
            return printf("%d of %d arrived\n", arrived, i) < 0;
    }
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < 100000000);
    return puts("ok") < 0;
}
C
$CC -O1 -o "$TMP/reserved" "$TMP/reserved.c" -Wl,--no-as-needed -ldl || exit 1
for events in "--clock=timer -e CPUTIME@1000/s" "-e REALTIME@1000/s"; do
    record $events -- "$TMP/reserved"
    check "the C library's reserved signal arrives: $events" [ "$status:$(cat "$TMP/out")" = 0:ok ]
    check "and the program is measured: $events" holds "$(value samples) > 0"
done
# C libraries before 2.36 give the older of two versions to who looks for the next one: another condition variable, another timer.
cat >"$TMP/versions.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static int question, answer;

static void *answering(void *timed)
{
    struct timespec limit;

    pthread_mutex_lock(&mutex);
    while (answer < 1000) {
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec += 30;
        while (question == answer)
            if ((timed ? pthread_cond_timedwait(&asked, &mutex, &limit) : pthread_cond_wait(&asked, &mutex)) == ETIMEDOUT)
                _exit(3);
        answer = question;
        pthread_cond_signal(&answered);
    }
    pthread_mutex_unlock(&mutex);
    return timed;
}

int main(int count, char **arguments)
{
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    struct itimerspec in_an_hour = {.it_value = {3600, 0}}, left;
    pthread_t thread;
    timer_t timer;
    pid_t child;
    int status;

    for (long timed = 0; timed < 2; timed++) {
        question = answer = 0;
        pthread_create(&thread, 0, answering, (void *)timed);
        pthread_mutex_lock(&mutex);
        while (question < 1000) {
            question++;
            pthread_cond_signal(&asked);
            while (question != answer)
                pthread_cond_wait(&answered, &mutex);
        }
        pthread_mutex_unlock(&mutex);
        pthread_join(thread, 0);
    }
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &in_an_hour, 0) || timer_gettime(timer, &left) ||
        left.it_value.tv_sec < 3000)
        return puts("timer") * 0 + 1;
    /* A script without a first line is started by a shell in the older version alone. */
    if (posix_spawn(&child, arguments[count - 1], 0, 0, (char *[]){"script", 0}, environ) == 0 &&
        (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) == 5))
        return puts("spawn") * 0 + 1;
    return puts("ok") < 0;
}
C
echo 'exit 5' >"$TMP/script"
chmod +x "$TMP/script"
$CC -O1 -pthread -o "$TMP/versions" "$TMP/versions.c" -lrt || exit 1
for events in "CPUTIME@1000/s" "REALTIME@1000/s" "CPUTIME@1000/s -e LOCK"; do
    record -e $events -- "$TMP/versions" "$TMP/script"
    check "functions of two versions: $events" [ "$status:$(cat "$TMP/out")" = 0:ok ]
done
finish
