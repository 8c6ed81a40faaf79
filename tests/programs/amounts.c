/* SPDX-License-Identifier: BSD-3-Clause */
/* amounts WAY: does things of known amounts: alloc, aligned, exchange, io, moves, lock, lock11, missing (of a symbol);
 * or for `parts` burns 0.3 s in each of before, middle and after, of which only middle is to be measured. */
#define _GNU_SOURCE
#include "burn.h"
#include "hq.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <threads.h>
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

/* 50 blocks of 4096 bytes that begin with a page, by each function that gives such. */
static __attribute__((noinline, noipa)) int aligned(void)
{
    int bad = 0;

    for (int i = 0; i < 10; i++) {
        bad |= posix_memalign((void **)&kept[0], 4096, 4096);
        kept[1] = aligned_alloc(4096, 4096);
        kept[2] = memalign(4096, 4096);
        kept[3] = valloc(4096);
        kept[4] = pvalloc(4096);
        for (int k = 0; k < 5; k++) {
            bad |= (uintptr_t)kept[k] % 4096 != 0;
            free(kept[k]);
        }
    }
    return bad;
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

static long was_read, was_written;

static void moved(long bytes)
{
    was_read += bytes > 0 ? bytes : 0; /* not every file system can */
    was_written += bytes > 0 ? bytes : 0;
}

/* By descriptors alone, at places, without locks, by lines: prints what it has read and written. */
static int moves(void)
{
    char from[] = "/tmp/hq-amounts-XXXXXX", to[] = "/tmp/hq-amounts-XXXXXX", block[1000] = {0}, *line = NULL;
    int in = mkstemp(from), out = mkstemp(to), ends[2];
    struct iovec parts[2] = {{block, 300}, {block + 300, 700}};
    size_t room = 0;
    off_t at = 0;

    unlink(from);
    unlink(to);
    if (in < 0 || out < 0 || pipe(ends))
        return 1;
    was_written += pwritev(in, parts, 2, 0);
    was_written += pwritev(in, parts, 2, 1000);
    was_read += preadv(in, parts, 2, 500);
    moved(sendfile(out, in, &at, 700));
    moved(copy_file_range(in, &(off64_t){0}, out, &(off64_t){700}, 600, 0));
    moved(splice(in, &(off64_t){0}, ends[1], NULL, 500, 0));
    moved(splice(ends[0], NULL, out, &(off64_t){0}, 500, 0));
    was_written += dprintf(ends[1], "%d lines\nand another\nlast one\n", 12345);
    FILE *lines = fdopen(ends[0], "r"), *sink = fdopen(out, "r+");

    if (!lines || !sink)
        return 1;
    was_read += getline(&line, &room, lines);
    was_read += getdelim(&line, &room, '\n', lines);
    was_read += fgets_unlocked(block, sizeof block, lines) ? (long)strlen(block) : 0;
    memset(block, 'x', sizeof block);
    was_written += (long)fwrite_unlocked(block, 1, 900, sink);
    was_written += fputs_unlocked("a text", sink) >= 0 ? 6 : 0;
    rewind(sink);
    was_read += (long)fread_unlocked(block, 1, 800, sink);
    free(line);
    char text[100];
    long bytes = snprintf(text, sizeof text, "read %ld\n", was_read);

    was_written += write(1, text, (size_t)bytes);
    bytes = snprintf(text, sizeof text, "written %ld\n", was_written);
    bytes = snprintf(text, sizeof text, "written %ld\n", was_written + bytes);
    return write(1, text, (size_t)bytes) != bytes;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

/* 0.2 s from when somebody waits for it: glibc keeps the mutex's state in its first word, 2 is a lock that is waited
 * for. */
static void hold_on(void *mutex)
{
    pthread_barrier_wait(&barrier);
    while (atomic_load((_Atomic int *)mutex) != 2)
        sched_yield();
    nanosleep(&(struct timespec){0, 200000000}, NULL);
}

static void *hold(void *unused)
{
    pthread_mutex_lock(&mutex);
    hold_on(&mutex);
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

static mtx_t mutex_c11;

static int hold_c11(void *unused)
{
    (void)unused;
    mtx_lock(&mutex_c11);
    hold_on(&mutex_c11);
    mtx_unlock(&mutex_c11);
    return 0;
}

static __attribute__((noinline, noipa)) void blocked_c11(void)
{
    mtx_lock(&mutex_c11);
    mtx_unlock(&mutex_c11);
}

/* Likewise by C11's threads. */
static int lock_c11(void)
{
    thrd_t thread;

    mtx_init(&mutex_c11, mtx_plain);
    pthread_barrier_init(&barrier, NULL, 2);
    thrd_create(&thread, hold_c11, NULL);
    pthread_barrier_wait(&barrier);
    blocked_c11();
    thrd_join(thread, NULL);
    for (int i = 0; i < 1000; i++)
        blocked_c11();
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

/* Four threads give out blocks of many sizes by three functions, at one place each, and free each other's. What
 * `exchanged` has asked for, and what is left, is printed: calls, bytes, bytes left. */
static _Atomic(size_t *) places[512];
static _Atomic uint64_t asked_calls, asked_bytes;

static size_t *note(size_t *block, size_t bytes)
{
    asked_calls++;
    asked_bytes += bytes;
    *block = bytes;
    return block;
}

static __attribute__((noinline, noipa)) void *exchanged(void *seed)
{
    uint32_t random = (uint32_t)(uintptr_t)seed;

    for (int i = 0; i < 20000; i++) {
        random = random * 1103515245 + 12345;
        size_t bytes = 16 + (random >> 16) % (i % 97 ? 120 : 5000), *block;
        block = random & 1 << 10 ? note(malloc(bytes), bytes) : note(calloc(1, bytes), bytes);
        if (random >> 28 == 0)
            block = note(realloc(block, bytes + 40), bytes + 40);
        free(atomic_exchange(&places[random >> 12 & 511], block));
    }
    return NULL;
}

static int exchange(void)
{
    pthread_t threads[4];
    size_t left = 0;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, exchanged, (void *)(uintptr_t)(round * 4 + i));
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 512; i++)
        left += places[i] ? *places[i] : 0;
    printf("%llu,%llu,%zu\n", (unsigned long long)asked_calls, (unsigned long long)asked_bytes, left);
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

    return !strcmp(way, "alloc")      ? alloc()
           : !strcmp(way, "aligned")  ? aligned()
           : !strcmp(way, "io")       ? io()
           : !strcmp(way, "moves")    ? moves()
           : !strcmp(way, "lock11")   ? lock_c11()
           : !strcmp(way, "lock")     ? lock()
           : !strcmp(way, "parts")    ? parts()
           : !strcmp(way, "churn")    ? churn()
           : !strcmp(way, "exchange") ? exchange()
           : !strcmp(way, "missing")  ? missing()
                                      : 2;
}
