/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/source/sources.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/intern.h"
#include "common/mem.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MOST_BYTES = 16 << 20, MOST_OF_ALL = 256 << 20 };

struct source {
    bool known, read, is_left_out; /* so much was read before it */
    uint64_t state;                /* if known */
    struct str text;
    VEC(size_t) lines; /* where each begins */
    struct statements statements;
};

struct sources {
    struct timespec linked;
    struct intern paths;
    VEC(struct source *) files; /* by number of the path; NULL: not yet asked for */
    size_t bytes;
};

struct sources *sources_open(const char *binary)
{
    const char *wanted = getenv("HQ_SOURCES");
    struct stat st;

    if ((wanted && (!strcmp(wanted, "no") || !strcmp(wanted, "0"))) || stat(binary, &st))
        return NULL;
    struct sources *s = xcalloc(1, sizeof *s);
    s->linked = st.st_mtim;
    intern_init(&s->paths);
    return s;
}

void sources_close(struct sources *s)
{
    if (!s)
        return;
    vec_foreach(f, &s->files) {
        if (!*f)
            continue;
        str_deinit(&(*f)->text);
        vec_deinit(&(*f)->lines);
        statements_deinit(&(*f)->statements);
        free(*f);
    }
    vec_deinit(&s->files);
    intern_deinit(&s->paths);
    free(s);
}

static bool is_newer(struct timespec a, struct timespec b)
{
    return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

static uint64_t look_at(const struct sources *s, const char *path)
{
    struct stat st;

    if (!statements_scanner(path))
        return SOURCE_UNREAD;
    if (stat(path, &st))
        return errno == ENOENT || errno == ENOTDIR ? SOURCE_GONE : SOURCE_UNREAD;
    if (!S_ISREG(st.st_mode) || st.st_size > MOST_BYTES || access(path, R_OK))
        return SOURCE_UNREAD;
    if (is_newer(st.st_mtim, s->linked))
        return SOURCE_NEWER;
    uint64_t state = hash_combine((uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec);
    state = hash_combine(hash_combine(state, (uint64_t)st.st_mtim.tv_nsec), (uint64_t)st.st_ctim.tv_sec);
    state = hash_combine(hash_combine(state, (uint64_t)st.st_ctim.tv_nsec), st.st_ino);
    return state > SOURCE_UNREAD ? state : SOURCE_UNREAD + 1;
}

/* Every loop asks for its file: it is looked at once. */
static struct source *source_of(struct sources *s, const char *path)
{
    uint32_t number = intern_add(&s->paths, path);

    while (s->files.len <= number)
        vec_push(&s->files, NULL);
    if (!s->files.data[number])
        s->files.data[number] = xcalloc(1, sizeof(struct source));
    return s->files.data[number];
}

uint64_t sources_state(struct sources *s, const char *path)
{
    struct source *f = source_of(s, path);

    if (!f->known)
        f->state = look_at(s, path);
    f->known = true;
    return f->state;
}

static void read_source(struct sources *s, struct source *f, const char *path)
{
    f->is_left_out = s->bytes >= MOST_OF_ALL;
    AUTO_ERROR struct hq_error *err = f->is_left_out ? NULL : file_read_regular(path, &f->text, MOST_BYTES);

    if (err) {
        str_clear(&f->text);
        f->state = SOURCE_UNREAD;
    }
    if (!f->text.len)
        return;
    s->bytes += f->text.len;
    statements_scanner(path)(str_cstr(&f->text), f->text.len, &f->statements);
    vec_push(&f->lines, 0);
    for (size_t i = 0; i < f->text.len; i++)
        if (f->text.s[i] == '\n')
            vec_push(&f->lines, i + 1);
}

static const struct source *find(struct sources *s, const char *path)
{
    struct source *f = source_of(s, path);

    if (!f->read && sources_state(s, path) > SOURCE_UNREAD)
        read_source(s, f, path);
    f->read = true;
    return f->lines.len ? f : NULL;
}

bool sources_is_read(struct sources *s, const char *path)
{
    find(s, path);
    const struct source *f = source_of(s, path);

    return f->state > SOURCE_UNREAD && !f->is_left_out;
}

const struct statements *sources_statements(struct sources *s, const char *path)
{
    const struct source *f = find(s, path);

    return f ? &f->statements : NULL;
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool sources_line_names(struct sources *s, const char *path, uint32_t line, const char *name)
{
    const struct source *f = find(s, path);
    size_t n = strlen(name);

    if (!f || !line || line > f->lines.len || !n)
        return false;
    size_t at = f->lines.data[line - 1], end = line < f->lines.len ? f->lines.data[line] : f->text.len;
    for (; at + n <= end; at++)
        if (!strncasecmp(f->text.s + at, name, n) && !(is_of_name(name[0]) && at && is_of_name(f->text.s[at - 1])) &&
            !(is_of_name(name[n - 1]) && at + n < end && is_of_name(f->text.s[at + n])))
            return true;
    return false;
}
