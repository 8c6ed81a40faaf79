/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/file/beside.h"

#include "preload/options.h"
#include "preload/raw.h"

#include <stdio.h>

void beside_keep(const char *name, const void *data, uint64_t bytes)
{
    char path[sizeof options.directory + 320];
    struct rlimit limit;
    struct stat status;
    int fd;

    if (raw_frozen ||
        snprintf(path, sizeof path, "%s/%s", options.brings ? options.home : options.directory, name) >=
            (int)sizeof path ||
        raw_stat(path, &status) == 0)
        return;
    fd = raw_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    if (raw_getrlimit(RLIMIT_FSIZE, &limit) < 0 || bytes < limit.rlim_cur)
        raw_write(fd, data, bytes);
    raw_close(fd);
}
