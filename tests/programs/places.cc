/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -fopenmp */
/* Parallel regions in C++ procedures with and without a linkage name of their own (main, extern "C") and names outside
 * of them, 50 ms of two threads each. */
#include "burn.h"

extern "C" __attribute__((noinline)) void plain(double seconds)
{
#pragma omp parallel num_threads(2)
    burn(seconds);
}

namespace outer
{
static __attribute__((noinline)) void inner(double seconds)
{
#pragma omp parallel num_threads(2)
    burn(seconds);
}
}  // namespace outer

template <class T> struct field {
    __attribute__((noinline)) void fill(T seconds)
    {
#pragma omp parallel num_threads(2)
        burn(seconds);
    }
};

int main()
{
    plain(0.05);
    outer::inner(0.05);
    field<double>().fill(0.05);
#pragma omp parallel num_threads(2)
    burn(0.05);
}
