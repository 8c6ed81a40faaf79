/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes records to FILE, each with an fsync, and computes a checksum of each in `planted`: syncs FILE RECORDS FACTOR.
 * build: -O2 -g */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noipa))
enum { SIZE = 256 << 10 };
static uint8_t record[SIZE];

static NOINLINE void fill(uint64_t seed)
{
    for (int i = 0; i < SIZE; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        record[i] = (uint8_t)(seed >> 56);
    }
}

static NOINLINE uint32_t planted(long n)
{
    uint32_t sum = 1;

    for (long i = 0; i < n; i++)
        sum = (sum << 5 | sum >> 27) ^ record[i % SIZE];
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    long records = atol(argv[2]), part = (long)(1000000 * atof(argv[3]));
    uint32_t sum = 0;

    for (long i = 0; i < records; i++) {
        fill((uint64_t)i);
        sum += planted(part);
        if (write(fd, record, SIZE) != SIZE || fsync(fd))
            return 1;
    }
    close(fd);
    unlink(argv[1]);
    printf("%u\n", sum);
    return 0;
}
