/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a visit to a procedure costs, by the thread's own clock of CPU time, in nanoseconds.
 *
 *     visited trap N [DEPTH]       N breakpoints with an empty handler
 *     visited visits N [DEPTH]     N visits to `visited`, below DEPTH procedures
 *     visited counted FILE         visits to `counted` without an end; how many is in the first 8 bytes of the file
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noipa))

static volatile long sink;

APART static void visited(long x)
{
    sink += x;
}

static volatile long *count;

APART static void counted(void)
{
    ++*count;
}

static void count_in(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0666);

    if (fd < 0 || ftruncate(fd, 4096) != 0)
        exit(9);
    count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (;;)
        counted();
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

APART static double measure(int traps, long n, int depth)
{
    volatile double result;
    double start;

    if (depth > 0) {
        result = measure(traps, n, depth - 1);
        return result;
    }
    start = now();
    for (long i = 0; i < n; i++)
        if (traps)
            __asm__ volatile("int3");
        else
            visited(i);
    return (now() - start) / (double)n;
}

int main(int argc, char **argv)
{
    int traps = argc > 1 && !strcmp(argv[1], "trap");

    if (argc < 3)
        return 2;
    if (!strcmp(argv[1], "counted"))
        count_in(argv[2]);
    if (traps)
        sigaction(SIGTRAP, &(struct sigaction){.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, NULL);
    printf("%.1f\n", measure(traps, atol(argv[2]), argc > 3 ? atoi(argv[3]) : 5));
    return 0;
}
