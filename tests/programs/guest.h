/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For programs PROGRAM KIND that do what few programs do (guests.c, trapped.c): each prints what comes out of it, which
 * is the same in any run; without KIND the names of all of them.
 */
#ifndef HQ_TESTS_GUEST_H
#define HQ_TESTS_GUEST_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static volatile int hits;

/* Work without any call, so without a clock or system call of its own. */
static __attribute__((noinline)) uint64_t spin(long millions)
{
    uint64_t x = 1;

    for (long i = 0; i < millions * 1000000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO};

    sigaction(number, &action, NULL);
}

struct guest {
    const char *name;
    void (*run)(void);
};

static int guest_main(int argc, char **argv, const struct guest *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (argc < 2)
            puts(kinds[i].name);
        else if (!strcmp(argv[1], kinds[i].name))
            kinds[i].run();
    }
    return 0;
}

#endif
