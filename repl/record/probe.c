/* SPDX-License-Identifier: BSD-3-Clause */
/* Tries with a small file what the collector does with measurement files. */
#include "repl/record/record.h"

#include "common/file.h"
#include "common/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 8192, MARK = 'h' };
enum outcome { WORKS, NO_FILE, REFUSED };

/* Blocks on file systems that have no fallocate are allocated by writing zeros. */
static bool allocate(int fd)
{
    static const char zeros[BYTES];

    return fallocate(fd, 0, 0, BYTES) == 0 || (errno == EOPNOTSUPP && pwrite(fd, zeros, BYTES, 0) == BYTES);
}

static enum outcome try_file(int fd)
{
    char read_back = 0;

    if (!allocate(fd))
        return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? NO_FILE : REFUSED;
    char *data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED)
        return errno == ENOMEM ? NO_FILE : REFUSED;
    data[BYTES - 1] = MARK;
    if (msync(data, BYTES, MS_SYNC) != 0 || pread(fd, &read_back, 1, BYTES - 1) != 1)
        return REFUSED;
    return read_back == MARK ? WORKS : REFUSED;
}

/* In a process of its own: storing into a mapped file of a file system that cannot do it may end in SIGBUS. */
static enum outcome probe(const char *directory)
{
    AUTO_FREE char *path = file_join(directory, ".probe-XXXXXX");
    int fd = mkstemp(path), status = 0;
    pid_t child = fd < 0 ? -1 : fork();

    if (child == 0)
        _exit(try_file(fd));
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    if (child < 0)
        return NO_FILE;
    return WIFEXITED(status) ? (enum outcome)WEXITSTATUS(status) : REFUSED;
}

bool record_probe_works(const char *directory)
{
    return probe(directory) == WORKS;
}

bool record_probe_refuses(const char *directory)
{
    return probe(directory) == REFUSED;
}
