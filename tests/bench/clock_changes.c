/* SPDX-License-Identifier: BSD-3-Clause */
/* clock_changes COUNT: so many times a byte goes to another thread and back, both on one processor (clock_cost.py). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static int there[2], back[2];

static void *answer(void *unused)
{
    char c;

    while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
        continue;
    return unused;
}

static void stay(void)
{
    cpu_set_t here;

    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    sched_setaffinity(0, sizeof here, &here);
}

int main(int count, char **argument)
{
    pthread_t thread;
    char c = 0;

    stay();
    if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, answer, NULL))
        return 1;
    for (int i = count > 1 ? atoi(argument[1]) : 0; i > 0; i--)
        if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
            return 1;
    return 0;
}
