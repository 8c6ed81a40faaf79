/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/model/spool.h"

#include "common/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEP_IN_MEMORY (8u << 20)

void spool_init(struct spool *s, const char *directory)
{
    *s = (struct spool){.directory = directory, .fd = -1};
}

static void unmap(struct spool *s)
{
    if (s->map)
        munmap(s->map, s->bytes);
    s->map = NULL;
}

void spool_deinit(struct spool *s)
{
    unmap(s);
    if (s->fd >= 0)
        close(s->fd);
    vec_deinit(&s->buffer);
    s->fd = -1;
}

static struct hq_error *open_file(struct spool *s)
{
    AUTO_FREE char *name = xasprintf("%s/hq.spool.XXXXXX", s->directory);

    s->fd = mkostemp(name, O_CLOEXEC);
    if (s->fd < 0)
        return hq_error_errno(HQ_DATA, "%s: could not create a temporary file", s->directory);
    unlink(name);
    return NULL;
}

static struct hq_error *spill(struct spool *s)
{
    if (s->fd < 0)
        HQ_TRY(open_file(s));
    for (size_t at = 0; at < s->buffer.len;) {
        ssize_t n = write(s->fd, s->buffer.data + at, s->buffer.len - at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return hq_error_errno(HQ_DATA, "%s: could not write a temporary file", s->directory);
        at += (size_t)n;
    }
    vec_clear(&s->buffer);
    return NULL;
}

struct hq_error *spool_append(struct spool *s, const void *data, size_t bytes)
{
    unmap(s);
    vec_append(&s->buffer, (const uint8_t *)data, bytes);
    s->bytes += bytes;
    return s->buffer.len > KEEP_IN_MEMORY ? spill(s) : NULL;
}

struct hq_error *spool_read(struct spool *s, const uint8_t **out)
{
    if (s->fd < 0) {
        *out = s->buffer.data;
        return NULL;
    }
    HQ_TRY(spill(s));
    if (!s->map) {
        void *p = mmap(NULL, s->bytes, PROT_READ, MAP_SHARED, s->fd, 0);

        if (p == MAP_FAILED)
            return hq_error_errno(HQ_DATA, "%s: could not map a temporary file", s->directory);
        s->map = p;
    }
    *out = s->map;
    return NULL;
}

struct hq_error *spool_copy(struct spool *s, uint64_t at, void *out, size_t bytes)
{
    if (s->fd < 0) {
        if (bytes)
            memcpy(out, s->buffer.data + at, bytes);
        return NULL;
    }
    HQ_TRY(spill(s));
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(s->fd, (char *)out + done, bytes - done, (off_t)(at + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return hq_error_errno(HQ_DATA, "%s: could not read a temporary file", s->directory);
        done += (size_t)n;
    }
    return NULL;
}
