/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums that messages.c makes itself: its calls, and what it sends and receives, from whichever thread. */
#include <pthread.h>
#include <string.h>

enum { MOST = 64, NAMES = 96 };

static int me, size;
static long long messages[MOST], bytes_to[MOST], received;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    const char *name;
    long long times;
} calls[NAMES];

static void counted(const char *name)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < NAMES; i++)
        if (!calls[i].name || !strcmp(calls[i].name, name)) {
            calls[i].name = name;
            calls[i].times++;
            break;
        }
    pthread_mutex_unlock(&lock);
}

static void sends(int to, long long bytes)
{
    pthread_mutex_lock(&lock);
    messages[to]++;
    bytes_to[to] += bytes;
    pthread_mutex_unlock(&lock);
}

static void gets(long long bytes)
{
    pthread_mutex_lock(&lock);
    received += bytes;
    pthread_mutex_unlock(&lock);
}

#define COUNT(function, ...) (counted(#function), function(__VA_ARGS__))
