/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/fuzz_files.h"

#include "common/hash.h"
#include "common/mem.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_FOR_ONE = 20 };

static volatile long long execution;

static void tell_hang(int signal)
{
    char text[80];
    int n = snprintf(text, sizeof text, "execution %lld hangs\n", execution);

    (void)signal;
    if (write(2, text, (size_t)n) == n)
        _exit(1);
    _exit(2);
}

int fuzz_files(const struct fuzz_files *f, int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
    long long first = argc > 3 ? atoll(argv[3]) : 0, opened = 0;
    time_t end = time(NULL) + (time_t)seconds;
    AUTO_FREE uint8_t *data = xmalloc(f->size + 1);
    AUTO_CLOSE int fd = memfd_create("fuzz", 0);
    char path[64];

    printf("%s: seed %llu\n", f->name, (unsigned long long)seed);
    fflush(stdout);
    if (fd < 0 || !f->size)
        return 2;
    signal(SIGALRM, tell_hang);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (execution = first; time(NULL) < end; execution++) {
        uint64_t state = hash_combine(seed, (uint64_t)execution);

        memcpy(data, f->original, f->size);
        size_t n = f->damage(data, f->size, &state);

        if (ftruncate(fd, 0) || pwrite(fd, data, n, 0) != (ssize_t)n)
            return 2;
        alarm(SECONDS_FOR_ONE);
        opened += f->read(path, &state);
    }
    printf("%lld executions, %lld of them opened\n1 passed, 0 failed\n", execution - first, opened);
    return 0;
}
