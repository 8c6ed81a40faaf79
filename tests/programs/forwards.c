/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g -pthread -ldl */
/*
 * Has a dlsym of its own, as overlays of graphics have, that asks the loader for the real one. What it finds behind
 * itself (RTLD_NEXT) is every other library's. Prints a number, exits with 5.
 */
#define _GNU_SOURCE
#include "burn.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __x86_64__
#define OLDEST "GLIBC_2.2.5"
#else
#define OLDEST "GLIBC_2.17"
#endif

void *dlsym(void *restrict handle, const char *restrict name)
{
    static void *(*real)(void *, const char *);

    if (!real)
        real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", OLDEST);
    return real(handle, name);
}

static void *body(void *argument)
{
    usleep(1000);
    return argument;
}

int main(void)
{
    struct pollfd none;
    pthread_t thread;

    pthread_create(&thread, NULL, body, NULL);
    pthread_join(thread, NULL);
    burn(0.2);
    poll(&none, 0, 10);
    free(malloc(10));
    printf("done\n");
    return dlsym(RTLD_DEFAULT, "puts") ? 5 : 6;
}
