/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/import/perfdata_generated.h"

#include "common/file.h"
#include "common/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_BYTES = 512 << 20,
    SLACK_S = 60, /* between the last sample and the end of the file; and before the first */
};

static bool is_believable(const struct stat *map, const char *path, uint64_t span_ns)
{
    struct stat own;

    return S_ISREG(map->st_mode) && map->st_size <= MOST_BYTES && !stat(path, &own) &&
           (map->st_uid == own.st_uid || !map->st_uid) && map->st_mtime <= own.st_mtime + SLACK_S &&
           map->st_mtime >= own.st_mtime - (time_t)(span_ns / 1000000000) - SLACK_S;
}

enum perfdata_map perfdata_generated(const char *path, uint64_t span_ns, uint32_t pid, const uint64_t *addresses,
                                     size_t count, struct perf_map *out)
{
    AUTO_FREE char *name = xasprintf("/tmp/perf-%" PRIu32 ".map", pid);
    AUTO_CLOSE int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    AUTO_FREE char *text = NULL;
    struct stat st;
    size_t size = 0;
    ssize_t n;
    int why = fd < 0 ? errno : 0;

    if (why)
        mem_end_if_refused();
    bool believed = fd >= 0 && !fstat(fd, &st) && is_believable(&st, path, span_ns);

    if (believed)
        text = xmalloc((size_t)st.st_size + 1);
    while (believed && size < (size_t)st.st_size &&
           (n = pread(fd, text + size, (size_t)st.st_size - size, (off_t)size)) > 0)
        size += (size_t)n;
    perf_map_parse(text ? text : "", size, addresses, count, out);
    if (why && why != ENOENT && !lstat(name, &st) && is_believable(&st, path, span_ns))
        return PERFDATA_MAP_UNREAD;
    return believed ? PERFDATA_MAP_READ : fd >= 0 ? PERFDATA_MAP_OTHER : PERFDATA_MAP_NONE;
}
