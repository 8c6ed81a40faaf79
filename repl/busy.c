/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/busy.h"
#include "common/mem.h"
#include "common/progress.h"
#include <pthread.h>
#include <signal.h>
#include <time.h>

struct busy {
    struct progress progress;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool over;                  /* under lock */
};

static void *tick(void *arg)
{
    struct busy *b = arg;
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    pthread_mutex_lock(&b->lock);
    while (!b->over) {
        at.tv_sec++;
        while (!b->over && pthread_cond_clockwait(&b->ended, &b->lock, CLOCK_MONOTONIC, &at) == 0)
            ;
        if (!b->over)
            progress_add(&b->progress, 1);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* The thread takes no signals: Ctrl-C is to interrupt what the main thread waits for. */
static int start_quietly(struct busy *b)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&b->thread, NULL, tick, b);

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

struct busy *busy_begin(const char *what)
{
    if (!isatty(STDERR_FILENO))
        return NULL;
    struct busy *b = xcalloc(1, sizeof *b);

    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->ended, NULL);
    progress_start(&b->progress, what, 0, false);
    if (!start_quietly(b))
        return b;
    progress_finish(&b->progress);
    free(b);
    return NULL;
}

void busy_end(struct busy *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->over = true;
    pthread_cond_signal(&b->ended);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    progress_finish(&b->progress);
    pthread_cond_destroy(&b->ended);
    pthread_mutex_destroy(&b->lock);
    free(b);
}
