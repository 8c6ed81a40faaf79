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
    bool standard = strcmp(path, "-") == 0;
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
    in->gz = gzdopen(fd, "rb");
    if (!in->gz) {
        close(fd);
        return &hq_error_no_memory;
    }
    gzbuffer(in->gz, CHUNK);
    in->cap = CHUNK;
    in->buffer = xmalloc(in->cap + 1);
    in->what = xasprintf("importing %s, MB", standard ? in->path : file_basename(path));
    progress_start(&in->progress, in->what, S_ISREG(st.st_mode) ? (uint64_t)st.st_size / MEGABYTE : 0, false);
    in->started = true;
    return NULL;
}

void input_close(struct input *in)
{
    if (in->gz)
        gzclose(in->gz);
    if (in->started)
        progress_finish(&in->progress);
    free(in->what);
    free(in->buffer);
    hq_error_free(in->error);
    *in = (struct input){0};
}

static void report(struct input *in)
{
    z_off_t now = gzoffset(in->gz);

    if (now > 0 && (uint64_t)now > in->reported) {
        progress_add(&in->progress, (uint64_t)now / MEGABYTE - in->reported / MEGABYTE);
        in->reported = (uint64_t)now;
    }
}

/* What some editors put before text in UTF-8. */
static int skip_mark(void *data, int got)
{
    if (got < 3 || memcmp(data, "\xef\xbb\xbf", 3) != 0)
        return got;
    memmove(data, (char *)data + 3, (size_t)got - 3);
    return got - 3;
}

static size_t read_some(struct input *in, void *data, size_t n)
{
    bool first = gztell(in->gz) == 0;
    int code, got = gzread(in->gz, data, (unsigned)(n < CHUNK ? n : CHUNK));

    if (first)
        got = skip_mark(data, got);
    report(in);
    if (got > 0 && (uint64_t)gztell(in->gz) > import_limits.bytes) {
        in->ended = true;
        in->error = hq_error_new(HQ_DATA, "%s holds more than %llu MiB uncompressed; hq import --max-size takes more",
                                 in->path, (unsigned long long)import_limits.bytes >> 20);
        return 0;
    }
    if (got > 0)
        return (size_t)got;
    in->ended = true;
    const char *text = gzerror(in->gz, &code);

    /* A compressed file that ends early is an end like any other for gzread, but for this code. */
    if (code == Z_ERRNO)
        in->error = hq_error_errno(HQ_DATA, "cannot read %s", in->path);
    else if (code == Z_BUF_ERROR)
        in->error = hq_error_new(HQ_DATA, "%s: the compressed data is cut off after %llu bytes", in->path,
                                 (unsigned long long)in->reported);
    else if (code != Z_OK && code != Z_STREAM_END)
        in->error = hq_error_new(HQ_DATA, "%s: the compressed data is damaged near byte %llu (%s)", in->path,
                                 (unsigned long long)in->reported, text);
    return 0;
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
