/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/progress.h"
#include "common/log.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS  UINT64_C(1000000000)
#define BETWEEN_NS (SECOND_NS / 10)

static pthread_mutex_t screen = PTHREAD_MUTEX_INITIALIZER;
static struct progress *shown; /* under screen: whose line it is */
static bool on_screen;         /* under screen */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static void draw(struct progress *p)
{
    uint64_t done = atomic_load(&p->done), seconds = (now_ns() - p->start) / SECOND_NS;

    pthread_mutex_lock(&screen);
    if (shown == p) {
        fprintf(stderr, "\r\033[K%s", p->what);
        if (p->total && done <= p->total)
            fprintf(stderr, " %" PRIu64 "/%" PRIu64 " (%.0f %%)", done, p->total,
                    100.0 * (double)done / (double)p->total);
        else if (done)
            fprintf(stderr, " %" PRIu64, done);
        fprintf(stderr, ", %" PRIu64 " s", seconds);
        fflush(stderr);
        on_screen = true;
    }
    pthread_mutex_unlock(&screen);
}

static void erase(void)
{
    if (on_screen) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    on_screen = false;
}

/* Whoever moves the time of the next drawing forward is the one that draws. */
static void draw_if_due(struct progress *p)
{
    uint_fast64_t next = atomic_load_explicit(&p->next, memory_order_relaxed);
    uint64_t now = now_ns();

    if (now >= next && atomic_compare_exchange_strong(&p->next, &next, now + BETWEEN_NS))
        draw(p);
}

static void *tick(void *arg)
{
    struct progress *p = arg;
    uint64_t at = p->first;

    pthread_mutex_lock(&p->lock);
    while (!p->over) {
        struct timespec until = {.tv_sec = (time_t)(at / SECOND_NS), .tv_nsec = (long)(at % SECOND_NS)};

        while (!p->over && pthread_cond_timedwait(&p->ended, &p->lock, &until) == 0)
            ;
        if (!p->over)
            draw_if_due(p);
        at += SECOND_NS;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* The ticker takes no signals: Ctrl-C is to interrupt what the main thread waits for. */
static bool start_ticker(struct progress *p)
{
    sigset_t all, before;
    pthread_condattr_t monotonic;

    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = !pthread_create(&p->ticker, NULL, tick, p);

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void progress_start(struct progress *p, const char *what, uint64_t total, bool at_once)
{
    const char *term = getenv("TERM");

    *p = (struct progress){.what = what, .total = total, .start = now_ns()};
    pthread_mutex_lock(&screen);
    p->under = shown;
    pthread_mutex_unlock(&screen);
    /* An operation that began a second ago is worth a line, whichever part of it is under way. */
    if (p->under && p->under->start < p->start)
        p->start = p->under->start;
    p->first = p->start + (at_once ? 0 : SECOND_NS);
    atomic_init(&p->done, 0);
    atomic_init(&p->next, p->first);
    p->visible = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") && log_get_level() > LEVEL_QUIET &&
                 start_ticker(p);
    if (!p->visible)
        return;
    pthread_mutex_lock(&screen);
    shown = p;
    pthread_mutex_unlock(&screen);
    progress_add(p, 0);
}

void progress_add(struct progress *p, uint64_t n)
{
    atomic_fetch_add_explicit(&p->done, n, memory_order_relaxed);
    if (p->visible)
        draw_if_due(p);
}

void progress_finish(struct progress *p)
{
    if (!p->visible)
        return;
    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_cond_signal(&p->ended);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->ticker, NULL);
    pthread_cond_destroy(&p->ended);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_lock(&screen);
    erase();
    shown = p->under;
    pthread_mutex_unlock(&screen);
    p->visible = false;
}

void progress_hide(void)
{
    pthread_mutex_lock(&screen);
    erase();
    pthread_mutex_unlock(&screen);
}
