/* SPDX-License-Identifier: BSD-3-Clause */
/* written TIMES: so many writes of a byte to /dev/null, and as many of stdio, which buffers them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long times = argc > 1 ? atol(argv[1]) : 100000;
    int null = open("/dev/null", O_WRONLY);
    FILE *file = fopen("/dev/null", "w");

    if (null < 0 || !file)
        return 1;
    for (long i = 0; i < times; i++)
        if (write(null, "x", 1) != 1 || fputs("abc", file) < 0)
            return 1;
    return 0;
}
