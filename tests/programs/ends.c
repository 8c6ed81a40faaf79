/* SPDX-License-Identifier: BSD-3-Clause */
/* ends WAY: burns 0.3 s in work, then ends in one of the ways there are. */
#define _GNU_SOURCE
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static __attribute__((noinline, noipa)) void work(void)
{
    burn(0.3);
    __asm__ volatile(""); /* no tail call */
}

static void *end_process(void *unused)
{
    exit(7);
    return unused;
}

static void *burn_on(void *unused)
{
    burn(0.2);
    return unused;
}

static int end(const char *way)
{
    pthread_t thread;

    if (!strcmp(way, "return"))
        return 7;
    if (!strcmp(way, "exit"))
        exit(7);
    if (!strcmp(way, "_exit"))
        _exit(7);
    if (!strcmp(way, "_Exit"))
        _Exit(7);
    if (!strcmp(way, "quick_exit"))
        quick_exit(7);
    if (!strcmp(way, "exit_group"))
        syscall(SYS_exit_group, 7);
    if (!strcmp(way, "abort"))
        abort();
    if (!strcmp(way, "fault"))
        return *(volatile int *)8;
    if (!strcmp(way, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(way, "term"))
        kill(getpid(), SIGTERM);
    if (!strcmp(way, "thread"))
        pthread_create(&thread, NULL, end_process, NULL), pause();
    if (!strcmp(way, "first-thread-leaves"))
        pthread_create(&thread, NULL, burn_on, NULL), pthread_exit(NULL);
    return 2;
}

int main(int argc, char **argv)
{
    work();
    return argc > 1 ? end(argv[1]) : 2;
}
