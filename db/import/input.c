/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/import/input.h"
#include "db/import/limits.h"

#include "common/file.h"
#include "common/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

enum { CHUNK = 256 << 10, MEGABYTE = 1000000 };

struct hq_error *input_open(struct input *in, const char *path)
{
    bool standard = !strcmp(path, "-");
    struct stat st;

    *in = (struct input){.path = standard ? "standard input" : path};
    int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st)) {
        struct hq_error *error = hq_error_errno(HQ_DATA, "cannot read %s", in->path);

        if (fd >= 0)
            close(fd);
        return error;
    }
    if (S_ISDIR(st.st_mode)) {
        close(fd);
        return hq_error_new(HQ_DATA, "%s is a directory, not a file", path);
    }
    if (!gunzip_open(&in->gz, fd))
        return &hq_error_no_memory;
    in->cap = CHUNK;
    in->buffer = xmalloc(in->cap + 1);
    in->what = xasprintf("importing %s, MB", standard ? in->path : file_basename(path));
    progress_start(&in->progress, in->what, S_ISREG(st.st_mode) ? (uint64_t)st.st_size / MEGABYTE : 0, false);
    in->started = true;
    return NULL;
}

void input_close(struct input *in)
{
    gunzip_close(&in->gz);
    if (in->started)
        progress_finish(&in->progress);
    free(in->what);
    free(in->buffer);
    hq_error_free(in->error);
    *in = (struct input){0};
}

static void report(struct input *in)
{
    uint64_t now = in->gz.taken;

    progress_add(&in->progress, now / MEGABYTE - in->reported / MEGABYTE);
    in->reported = now;
}

/* Removes the byte order mark that some editors write before text in UTF-8; returns the number of bytes left. */
static size_t skip_mark(void *data, size_t got)
{
    if (got < 3 || memcmp(data, "\xef\xbb\xbf", 3) != 0)
        return got;
    memmove(data, (char *)data + 3, got - 3);
    return got - 3;
}

static struct hq_error *failure(const struct input *in, enum gunzip_state state)
{
    unsigned long long at = in->gz.taken;

    switch (state) {
    case GUNZIP_OK: return NULL;
    case GUNZIP_UNREADABLE: return hq_error_errno(HQ_DATA, "cannot read %s", in->path);
    case GUNZIP_CUT: return hq_error_new(HQ_DATA, "%s: the compressed data is cut off after %llu bytes", in->path, at);
    case GUNZIP_NO_MEMBER:
        return hq_error_new(HQ_DATA, "%s: at byte %llu the compressed data has ended, and what follows is not gzip's",
                            in->path, at);
    default: return hq_error_new(HQ_DATA, "%s: the compressed data is damaged near byte %llu", in->path, at);
    }
}

static size_t read_some(struct input *in, void *data, size_t n)
{
    bool first = in->gz.given == 0;
    size_t got;
    enum gunzip_state state = gunzip_read(&in->gz, data, n < CHUNK ? n : CHUNK, &got);

    if (state != GUNZIP_OK || !got)
        in->ended = true;
    in->error = failure(in, state);
    report(in);
    if (got && in->gz.given > import_limits.bytes) {
        in->ended = true;
        in->error = hq_error_new(HQ_DATA, "%s holds more than %llu MiB uncompressed; hq import --max-size takes more",
                                 in->path, (unsigned long long)import_limits.bytes >> 20);
        return 0;
    }
    return first ? skip_mark(data, got) : got;
}

size_t input_read(struct input *in, void *data, size_t n)
{
    size_t got = in->ended ? 0 : read_some(in, data, n);

    in->offset += got;
    return got;
}

struct hq_error *input_whole(struct input *in, struct str *out, size_t limit)
{
    for (size_t got; (got = input_read(in, in->buffer, in->cap)) > 0;) {
        if (got > limit - out->len)
            return hq_error_new(HQ_DATA, "%s is larger than %zu MiB when uncompressed", in->path, limit >> 20);
        str_addn(out, in->buffer, got);
    }
    return input_error(in);
}

/* Moves what is left to the front and reads more behind it; false at the end. */
static bool fill(struct input *in)
{
    if (in->ended)
        return false;
    memmove(in->buffer, in->buffer + in->at, in->len - in->at);
    in->len -= in->at;
    in->at = 0;
    if (in->len == in->cap) {
        if (in->cap >= INPUT_LINE_MAX) {
            in->ended = true;
            in->error = hq_error_new(HQ_DATA, "%s:%llu: the line is longer than 16 MiB", in->path,
                                     (unsigned long long)in->line + 1);
            return false;
        }
        in->cap *= 2;
        in->buffer = xrealloc(in->buffer, in->cap + 1);
    }
    size_t got = read_some(in, in->buffer + in->len, in->cap - in->len);

    in->len += got;
    return got > 0;
}

bool input_line(struct input *in, char **line, size_t *len)
{
    size_t searched = 0;
    char *end;

    for (;;) {
        end = memchr(in->buffer + in->at + searched, '\n', in->len - in->at - searched);
        if (end)
            break;
        searched = in->len - in->at;
        if (!fill(in)) {
            if (in->error || in->at == in->len)
                return false;
            end = in->buffer + in->len;
            in->unended = true;
            break;
        }
    }
    char *start = in->buffer + in->at;
    size_t n = (size_t)(end - start);

    in->at += n + (end < in->buffer + in->len);
    in->offset += n + 1;
    in->line++;
    if (n && start[n - 1] == '\r')
        n--;
    start[n] = '\0';
    if (strlen(start) < n) {
        in->ended = true;
        in->error = input_bad_line(in, "there is a NUL byte: this is no text");
        return false;
    }
    *line = start;
    *len = n;
    return true;
}

struct hq_error *input_error(struct input *in)
{
    return MEM_STEAL(in->error);
}

struct hq_error *input_bad_line(const struct input *in, const char *fmt, ...)
{
    AUTO_FREE char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0) {
        text = NULL;
        return &hq_error_no_memory;
    }
    return hq_error_new(HQ_DATA, "%s:%llu: %s", in->path, (unsigned long long)in->line, text);
}
