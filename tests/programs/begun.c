/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g -pthread -ldl */
/*
 * Begins threads by a pthread_create of its own, as ThreadSanitizer's programs do: its malloc, which is called in a
 * thread that it does not know yet, ends it. A forked child makes a thread in its handler of pthread_atfork, before the
 * collector's, and works. Prints what comes out of it, and on standard error the child's CPU time in ns.
 */
#define _GNU_SOURCE
#include "burn.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static __thread int known;
static int begins; /* the program knows its first thread from here on */
static _Atomic size_t used;
static char heap[64 << 20] __attribute__((aligned(64)));

static void *take(size_t bytes)
{
    size_t *block;

    if (begins && !known)
        __builtin_trap();
    block = (size_t *)(heap + __atomic_fetch_add(&used, (bytes + 31) & ~(size_t)15, __ATOMIC_RELAXED));
    *block = bytes;
    return block + 2;
}

void *malloc(size_t bytes)
{
    return take(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return take(count * bytes);
}

void *realloc(void *old, size_t bytes)
{
    char *block = take(bytes);

    for (size_t i = 0; old && i < bytes && i < ((size_t *)old)[-2]; i++)
        block[i] = ((char *)old)[i];
    return block;
}

void free(void *block)
{
    if (block && begins && !known)
        __builtin_trap();
}

struct start {
    void *(*routine)(void *);
    void *argument;
};

static void *begin(void *data)
{
    struct start start = *(struct start *)data;

    known = 1;
    void *result = start.routine(start.argument);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    struct start *start = malloc(sizeof *start);

    if (!next)
        next = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT,
                                                                                              "pthread_create");
    *start = (struct start){routine, argument};
    return next(thread, attributes, begin, start);
}

static __attribute__((noinline)) long deep(int levels)
{
    volatile char room[400];

    room[levels % 400] = (char)levels;
    if (levels)
        return deep(levels - 1) + room[levels % 400];
    burn(0.02);
    return 1;
}

static void *body(void *argument)
{
    *(long *)argument += deep(20);
    return NULL;
}

static void one_thread(size_t stack, void *own)
{
    pthread_attr_t attributes;
    pthread_t thread;
    long result = 0;

    pthread_attr_init(&attributes);
    if (own)
        pthread_attr_setstack(&attributes, own, stack);
    else if (stack)
        pthread_attr_setstacksize(&attributes, stack);
    if (pthread_create(&thread, stack ? &attributes : NULL, body, &result) != 0)
        printf("none ");
    else
        pthread_join(thread, NULL);
    printf("%ld\n", result);
}

static void *nothing(void *argument)
{
    return argument;
}

static void in_child(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
}

static void before_all(void)
{
    known = 1;
    begins = 1;
    pthread_atfork(NULL, NULL, in_child);
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = before_all;

int main(void)
{
    static char own[128 << 10] __attribute__((aligned(4096)));
    int status = 0;

    one_thread(0, NULL);
    one_thread(64 << 10, NULL);
    one_thread(sizeof own, own);
    fflush(stdout);
    if (fork() == 0) {
        struct timespec now;

        burn(0.1);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        fprintf(stderr, "child %lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
        _exit(4);
    }
    wait(&status);
    printf("%d\n", WEXITSTATUS(status));
    return 3;
}
