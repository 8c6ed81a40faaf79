/* SPDX-License-Identifier: BSD-3-Clause */
/* amounts WAY: does things of known amounts: alloc, io, lock, missing (of a symbol); or for `parts` burns 0.3 s in each
 * of before, middle and after, of which only middle is to be measured. */
#define _GNU_SOURCE
#include "burn.h"
#include "hq.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile kept[1000];

static __attribute__((noinline, noipa)) void *freed_later(void)
{
    void *p = realloc(malloc(100), 300);

    __asm__ volatile("" : "+r"(p)); /* no tail call */
    return p;
}

static __attribute__((noinline, noipa)) void *leaked(void)
{
    void *p = calloc(5, 10);

    __asm__ volatile("" : "+r"(p));
    return p;
}

static void *free_all(void *unused)
{
    for (int i = 0; i < 1000; i++)
        free(kept[i]);
    return unused;
}

/* 1000 blocks of 100 that become 300 and are freed by another thread; 40 blocks of 50 that are not freed. */
static int alloc(void)
{
    pthread_t thread;

    for (int i = 0; i < 1000; i++)
        kept[i] = freed_later();
    pthread_create(&thread, NULL, free_all, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 40; i++)
        kept[i] = leaked();
    return 0;
}

static __attribute__((noinline, noipa)) int writer(int fd)
{
    char block[4096] = {0};

    for (int i = 0; i < 100; i++)
        if (write(fd, block, sizeof block) != sizeof block)
            return 1;
    return 0;
}

static __attribute__((noinline, noipa)) int reader(FILE *file)
{
    char block[1000];
    size_t total = 0, got;

    while ((got = fread(block, 1, sizeof block, file)) > 0)
        total += got;
    return total != 409600;
}

static int io(void)
{
    char name[] = "/tmp/hq-amounts-XXXXXX";
    int fd = mkstemp(name), bad = fd < 0 || writer(fd);
    FILE *file = fopen(name, "r");

    bad = bad || !file || reader(file);
    unlink(name);
    return bad;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void *hold(void *unused)
{
    struct timespec time = {0, 200000000};

    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(&barrier);
    nanosleep(&time, NULL);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static __attribute__((noinline, noipa)) void blocked(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

/* blocked waits 0.2 s; the thousand locks after that are free. */
static int lock(void)
{
    pthread_t thread;

    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, hold, NULL);
    pthread_barrier_wait(&barrier);
    blocked();
    pthread_join(thread, NULL);
    for (int i = 0; i < 1000; i++)
        blocked();
    return 0;
}

static __attribute__((noinline, noipa)) void before(void)
{
    burn(0.3);
    __asm__ volatile("# before");
}
static __attribute__((noinline, noipa)) void middle(void)
{
    burn(0.3);
    __asm__ volatile("# middle");
}
static __attribute__((noinline, noipa)) void after(void)
{
    burn(0.3);
    __asm__ volatile("# after");
}

static int parts(void)
{
    hq_stop();
    before();
    hq_start();
    middle();
    hq_stop();
    after();
    return 0;
}

/* A sampler that finds malloc at work most of the time. */
static int churn(void)
{
    while (thread_seconds() < 0.5)
        for (int i = 0; i < 1000; i++)
            free((kept[i % 10] = malloc((size_t)(i % 100 + 1))));
    return 0;
}

/* The loader keeps the text of a mistake until it is asked the next time, and frees it then. */
static int missing(void)
{
    void *none = dlsym(RTLD_DEFAULT, "there_is_no_such_function"), *volatile block = malloc(100);

    free(block);
    return none ? 1 : 0;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";

    return !strcmp(way, "alloc")     ? alloc()
           : !strcmp(way, "io")      ? io()
           : !strcmp(way, "lock")    ? lock()
           : !strcmp(way, "parts")   ? parts()
           : !strcmp(way, "churn")   ? churn()
           : !strcmp(way, "missing") ? missing()
                                     : 2;
}
