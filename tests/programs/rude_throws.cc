// SPDX-License-Identifier: BSD-3-Clause
// build: -O1 -g -fopenmp
// rude_throws [OUT]: exceptions that are caught within their region or task; with an argument one that leaves a region,
// which ends the process.
#include <cstdio>
#include <stdexcept>

static void work(int thousands)
{
    static thread_local volatile unsigned x;

    for (int i = 0; i < thousands * 1000; i++)
        x = x * 7 + 1;
}

int main(int argc, char **)
{
    int caught = 0;

    for (int i = 0; i < 30; i++) {
#pragma omp parallel num_threads(2) reduction(+ : caught)
        {
            try {
                work(5);
                throw std::runtime_error("within");
            } catch (std::exception &) {
                caught++;
            }
        }
#pragma omp parallel num_threads(2)
#pragma omp single
        for (int k = 0; k < 4; k++) {
#pragma omp task shared(caught)
            {
                try {
                    work(5);
                    throw k;
                } catch (int) {
#pragma omp atomic
                    caught++;
                }
            }
        }
    }
    printf("caught %d\n", caught);
    fflush(stdout);
    if (argc > 1) {
#pragma omp parallel num_threads(2)
        {
            work(5);
            throw 5;
        }
    }
    return 0;
}
