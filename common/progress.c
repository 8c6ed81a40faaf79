/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/progress.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
#define BETWEEN_NS (SECOND_NS / 10)

static pthread_mutex_t screen = PTHREAD_MUTEX_INITIALIZER;
static struct progress *shown;      /* under screen: whose line it is */
static bool on_screen;              /* under screen */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static void draw(struct progress *p)
{
    uint64_t done = atomic_load(&p->done);

    pthread_mutex_lock(&screen);
    if (p->total && done <= p->total)
        fprintf(stderr, "\r\033[K%s %" PRIu64 "/%" PRIu64 " (%.0f %%)", p->what, done, p->total,
                100.0 * (double)done / (double)p->total);
    else
        fprintf(stderr, "\r\033[K%s %" PRIu64, p->what, done);
    fflush(stderr);
    on_screen = true;
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

void progress_start(struct progress *p, const char *what, uint64_t total, bool at_once)
{
    const char *term = getenv("TERM");

    p->what = what;
    p->total = total;
    atomic_init(&p->done, 0);
    atomic_init(&p->next, now_ns() + (at_once ? 0 : SECOND_NS));
    pthread_mutex_lock(&screen);
    p->visible = !shown && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    if (p->visible)
        shown = p;
    pthread_mutex_unlock(&screen);
    progress_add(p, 0);
}

/* The thread that moves the time of the next drawing forward is the one that draws. */
void progress_add(struct progress *p, uint64_t n)
{
    atomic_fetch_add_explicit(&p->done, n, memory_order_relaxed);
    if (!p->visible)
        return;
    uint_fast64_t next = atomic_load_explicit(&p->next, memory_order_relaxed);
    uint64_t now = now_ns();

    if (now >= next && atomic_compare_exchange_strong(&p->next, &next, now + BETWEEN_NS))
        draw(p);
}

void progress_finish(struct progress *p)
{
    if (!p->visible)
        return;
    pthread_mutex_lock(&screen);
    erase();
    shown = NULL;
    pthread_mutex_unlock(&screen);
    p->visible = false;
}

void progress_hide(void)
{
    pthread_mutex_lock(&screen);
    erase();
    pthread_mutex_unlock(&screen);
}
