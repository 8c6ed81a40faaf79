// SPDX-License-Identifier: BSD-3-Clause
// Visits that are left by an exception and by longjmp, ROUNDS of each; whoever gets there goes on for ten times as long. Prints what the visits took by the program's own
// clock, in microseconds: `KIND LEAST MOST`, from the first instruction to the throw or jump, and from before the call to where that arrives.
//
//     left ROUNDS
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <ctime>

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static volatile long sink;

static void burn(double us)
{
    for (double end = now(CLOCK_THREAD_CPUTIME_ID) + us; now(CLOCK_THREAD_CPUTIME_ID) < end;)
        sink++;
}

static double inside[2], around[2];
static jmp_buf place;

__attribute__((noipa)) static void throws(long n)
{
    double begin = now(CLOCK_MONOTONIC);

    burn(1000);
    inside[0] += now(CLOCK_MONOTONIC) - begin;
    throw n;
}

__attribute__((noipa)) static void jumps(int n)
{
    double begin = now(CLOCK_MONOTONIC);

    burn(1000);
    inside[1] += now(CLOCK_MONOTONIC) - begin;
    std::longjmp(place, n);
}

struct guard { // what is cleaned up on the way
    ~guard() { sink++; }
};

__attribute__((noipa)) static void between(long n)
{
    guard g;
    throws(n);
}

__attribute__((noipa)) static void one_throw(long n)
{
    double begin = now(CLOCK_MONOTONIC);

    try {
        between(n);
    } catch (long) {
        around[0] += now(CLOCK_MONOTONIC) - begin;
        burn(10000);
    }
}

__attribute__((noipa)) static void one_jump(int n)
{
    volatile double begin = now(CLOCK_MONOTONIC);

    if (setjmp(place) == 0) {
        jumps(n);
    } else {
        around[1] += now(CLOCK_MONOTONIC) - begin;
        burn(10000);
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::atoi(argv[1]) : 50;

    for (int i = 1; i <= rounds; i++) {
        one_throw(i);
        one_jump(i);
    }
    std::printf("throws %.0f %.0f\njumps %.0f %.0f\n", inside[0], around[0], inside[1], around[1]);
    return 0;
}
