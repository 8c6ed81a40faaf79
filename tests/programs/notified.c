/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g -lanl */
/* Timers, a queue of messages and look-ups of addresses that are notified by threads of the C library's (SIGEV_THREAD):
 * 100 routines of 3 ms each, of which every fifth ends by pthread_exit, and 20 in a child. Prints what they saw. */
#define _GNU_SOURCE
#include "burn.h"

#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t done;
static int sums[3], blocked;
static pthread_key_t key;

static void on_exit_of_thread(void *value)
{
    (void)value;
    sem_post(&done);
}

static void notified(union sigval value)
{
    sigset_t mask;

    pthread_setspecific(key, &sums);
    burn(0.003);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    for (int i = 1; i < NSIG; i++)
        blocked += sigismember(&mask, i) == 1;
    if (++sums[value.sival_int] % 5 == 0)
        pthread_exit(NULL);
}

static void wait_for_it(void)
{
    while (sem_wait(&done) != 0)
        ;
}

static struct sigevent event(int value)
{
    return (struct sigevent){
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified, .sigev_value.sival_int = value};
}

static void by_timer(int times)
{
    struct sigevent by = event(0);
    struct itimerspec soon = {.it_value.tv_nsec = 1000};
    timer_t timer;

    timer_create(CLOCK_MONOTONIC, &by, &timer);
    for (int i = 0; i < times; i++) {
        timer_settime(timer, 0, &soon, NULL);
        wait_for_it();
    }
    timer_delete(timer);
}

static void by_message(int times)
{
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    char name[32], text[8];

    snprintf(name, sizeof name, "/notified.%d", (int)getpid());
    mqd_t queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
    if (queue == (mqd_t)-1) { /* a container may have none */
        by_timer(times);
        return;
    }
    mq_unlink(name);
    for (int i = 0; i < times; i++) {
        struct sigevent by = event(1);

        mq_notify(queue, &by);
        mq_send(queue, "x", 1, 0);
        wait_for_it();
        mq_receive(queue, text, sizeof text, NULL);
    }
    mq_close(queue);
}

static void by_address(int times)
{
    for (int i = 0; i < times; i++) {
        struct gaicb request = {.ar_name = "127.0.0.1"}, *list[] = {&request};
        struct sigevent by = event(2);

        getaddrinfo_a(GAI_NOWAIT, list, 1, &by);
        wait_for_it();
        freeaddrinfo(request.ar_result);
    }
}

int main(void)
{
    sem_init(&done, 0, 0);
    pthread_key_create(&key, on_exit_of_thread);
    by_timer(60);
    by_message(20);
    by_address(20);
    pid_t child = fork();
    if (child == 0) {
        by_timer(20);
        _exit(sums[0] % 20 == 0 ? 5 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    printf("%d %d; %d signals blocked; child %d\n", sums[0] + sums[1], sums[2], blocked, WEXITSTATUS(status));
    return 3;
}
