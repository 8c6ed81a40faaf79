/* SPDX-License-Identifier: BSD-3-Clause */
/* clock_threads COUNT: so many threads that do nothing, one after the other (clock_cost.py). */
#include <pthread.h>
#include <stdlib.h>

static void *nothing(void *argument)
{
    return argument;
}

int main(int count, char **argument)
{
    pthread_t thread;

    for (int i = count > 1 ? atoi(argument[1]) : 0; i > 0; i--)
        if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
            return 1;
    return 0;
}
