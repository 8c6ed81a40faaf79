/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/generated.h"

#include "common/file.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/numbers.h"
#include "db/perf_map.h"
#include "db/sources.h"
#include "format/database.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_BYTES = 512 << 20,   /* of a map; of a longer one the end is read, which holds */
    CLOCK_STEP_NS = 50000000, /* times of files lag behind the clock by up to a tick */
    LAST_WORDS_S = 60,        /* the end that a measurement notes may be its last sample's */
};

/* ---- which map ---- */

static char *kept_path(const char *measurement)
{
    size_t len = strlen(measurement), suffix = strlen(HQM_SUFFIX);

    if (len > suffix && !strcmp(measurement + len - suffix, HQM_SUFFIX))
        len -= suffix;
    return xasprintf("%.*s" HQM_NAMES, (int)len, measurement);
}

static bool has_ended(const char *measurement, const struct hqm_header *h)
{
    return h->state != HQM_RUNNING || !sources_is_written(measurement, h);
}

static bool is_believable(const struct stat *map, const char *measurement, const struct hqm_header *h)
{
    uint64_t written = (uint64_t)map->st_mtim.tv_sec * 1000000000u + (uint64_t)map->st_mtim.tv_nsec;
    uint64_t end = h->start_realtime_ns + (h->end_us + LAST_WORDS_S * UINT64_C(1000000)) * 1000;
    struct stat own;

    return S_ISREG(map->st_mode) && !stat(measurement, &own) && (map->st_uid == own.st_uid || !map->st_uid) &&
           written + CLOCK_STEP_NS >= h->start_realtime_ns && (!has_ended(measurement, h) || written <= end);
}

/* -1: there is no such file. One that cannot be opened is told. */
static int open_told(const char *path, int flags)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);

    if (fd >= 0 || errno == ENOENT || errno == ENOTDIR)
        return fd;
    mem_end_if_refused();
    log_warn("%s: cannot be opened: %s; code that its process made has no names", path, strerror(errno));
    return -1;
}

/* The map in /tmp of a measurement's process, -1 if there is none. */
static int open_map(const char *measurement, const struct hqm_header *h)
{
    AUTO_FREE char *path = xasprintf("/tmp/perf-%" PRIu32 ".map", h->pid);
    struct stat st;

    /* It is somebody else's, perhaps, and then not there for us. */
    if (!sources_is_here(measurement) || (!lstat(path, &st) && !is_believable(&st, measurement, h)))
        return -1;
    int fd = open_told(path, O_NOFOLLOW);

    if (fd >= 0 && (fstat(fd, &st) || !is_believable(&st, measurement, h))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- reading ---- */

/* Reads as much as it can of the last MOST_BYTES of the file. It is not mapped, because the process may be truncating
 * it. NULL on failure; the caller frees. */
static char *read_end(int fd, size_t *size)
{
    struct stat st;
    off_t start;
    char *text;
    ssize_t n = 0;

    *size = 0;
    if (fstat(fd, &st))
        return NULL;
    start = st.st_size > MOST_BYTES ? st.st_size - MOST_BYTES : 0;
    text = xmalloc((size_t)(st.st_size - start) + 1);
    while (*size < (size_t)(st.st_size - start) &&
           (n = pread(fd, text + *size, (size_t)(st.st_size - start) - *size, start + (off_t)*size)) > 0)
        *size += (size_t)n;
    if (n < 0)
        log_warn("names of code that a process made cannot all be read: %s", strerror(errno));
    if (start) {
        char *newline = memchr(text, '\n', *size);
        size_t cut = newline ? (size_t)(newline + 1 - text) : *size;

        memmove(text, text + cut, *size -= cut);
    }
    return text;
}

static void parse_map(int fd, const uint64_t *addresses, size_t count, struct perf_map *out)
{
    size_t size;
    AUTO_FREE char *text = read_end(fd, &size);

    perf_map_parse(text ? text : "", size, addresses, count, out);
}

struct addresses {
    uint64_t *data;
    size_t len, cap;
};

/* The addresses of a measurement that lie in no load module. */
static struct addresses collect(const struct measurement *m)
{
    struct addresses all = {0};

    for (uint32_t lane = 0; measurement_next_lane(m, &lane);) {
        struct measured records = measured_records(m, HQM_NODES, lane);

        for (const struct hqm_node *x; (x = measured_next(&records));) {
            if (x->kind_module == (uint32_t)HQM_NODE_FRAME << HQM_MODULE_BITS)
                vec_push(&all, x->offset);
        }
    }
    all.len = numbers_sort(all.data, all.len);
    return all;
}

/* ---- keeping ---- */

/* In the order of the map, so that what holds there holds here. */
static void write_kept(const struct perf_map *map, const char *path)
{
    struct file_writer w;
    struct hq_error *err = file_writer_open(&w, path);

    for (size_t i = map->entries.len; !err && i-- > 0;) {
        const struct perf_map_entry *e = &map->entries.data[i];

        fprintf(w.file, "%" PRIx64 " %" PRIx64 " %s\n", e->start, e->size, intern_str(&map->texts, e->name));
    }
    hq_error_free(err ? err : file_writer_commit(&w));
}

bool generated_is_named(const char *path, const struct measurement *m)
{
    AUTO_FREE char *kept = kept_path(path);
    struct addresses addresses = {0};
    struct perf_map map = {0};
    AUTO_CLOSE int fd = -1;
    bool named;

    if (file_exists(kept))
        return true;
    fd = open_map(path, &m->header);
    if (fd < 0)
        return false;
    addresses = collect(m);
    parse_map(fd, addresses.data, addresses.len, &map);
    named = map.entries.len > 0;
    if (named && has_ended(path, &m->header))
        write_kept(&map, kept);
    perf_map_deinit(&map);
    vec_deinit(&addresses);
    return named;
}

/* Most processes have no map: the number in the file's name tells that without reading the file. */
static bool may_be_named(const char *name)
{
    size_t len = strlen(name), suffix = strlen(HQM_SUFFIX);
    const char *serial = memrchr(name, '-', len), *pid = serial ? memrchr(name, '-', (size_t)(serial - name)) : NULL;

    if (!pid || len <= suffix || strcmp(name + len - suffix, HQM_SUFFIX))
        return false;
    AUTO_FREE char *path = xasprintf("/tmp/perf-%.*s.map", (int)(serial - pid - 1), pid + 1);
    return !file_is_absent(path);
}

void generated_keep(const char *measurements, uint64_t launch, int rank)
{
    struct hq_error *unlisted = NULL;
    DIR *dir = file_dir_open(measurements, &unlisted);

    for (const struct dirent *e; dir && (e = file_dir_next(dir, measurements, &unlisted));) {
        AUTO_FREE char *path = may_be_named(e->d_name) ? file_join(measurements, e->d_name) : NULL;
        struct measurement m;

        if (!path)
            continue;
        struct hq_error *err = measurement_open(path, &m);
        if (!err && m.header.launch == launch && (rank < 0 || m.header.rank == rank) && has_ended(path, &m.header))
            generated_is_named(path, &m);
        if (!err)
            measurement_close(&m);
        hq_error_free(err);
    }
    if (dir)
        closedir(dir);
    if (unlisted)
        log_warn("%s; names of code that processes made may be lost", unlisted->message);
    hq_error_free(unlisted);
}

/* ---- structure ---- */

static int open_names(const char *path)
{
    AUTO_FREE char *kept = kept_path(path);
    int fd = open_told(kept, 0);
    struct measurement m;
    struct hq_error *err = fd < 0 ? measurement_open(path, &m) : NULL;

    if (fd < 0 && !err) {
        fd = open_map(path, &m.header);
        measurement_close(&m);
    }
    hq_error_free(err);
    return fd;
}

static uint32_t add_scope(struct structure *s, struct structure_scope scope)
{
    vec_push(&s->scopes, scope);
    return (uint32_t)s->scopes.len - 1;
}

/* File, procedure and line of an entry. */
static uint32_t add_entry(struct structure *s, const char *text)
{
    struct generated_name n = generated_name(text);
    uint32_t name = intern_add(&s->strings, n.name), file = intern_add(&s->strings, n.file);
    uint32_t parent = add_scope(
        s, (struct structure_scope){.kind = SCOPE_FILE,
                                    .parent = STRUCTURE_NONE,
                                    .file = file,
                                    .name = n.file ? file : intern_add(&s->strings, "<unknown file>")});

    parent = add_scope(s, (struct structure_scope){
                              .kind = SCOPE_PROCEDURE, .parent = parent, .name = name, .file = file, .line = n.line});
    free(n.name);
    free(n.file);
    return add_scope(s, (struct structure_scope){.kind = SCOPE_LINE, .parent = parent});
}

static void recover_from(int fd, const char *nobody, const uint64_t *addresses, size_t count, struct structure *out)
{
    struct perf_map map;
    AUTO_FREE uint32_t *lines = NULL;
    uint32_t nameless = STRUCTURE_NONE;

    *out = (struct structure){0};
    if (fd >= 0)
        parse_map(fd, addresses, count, &map);
    else
        perf_map_parse("", 0, addresses, count, &map);
    lines = xmalloc((map.entries.len + 1) * sizeof *lines);
    for (size_t i = 0; i < map.entries.len; i++)
        lines[i] = add_entry(out, intern_str(&map.texts, map.entries.data[i].name));
    for (size_t i = 0; i < count; i++) {
        if (map.entry_of[i] == PERF_MAP_NONE && nameless == STRUCTURE_NONE)
            nameless = add_entry(out, nobody);
        uint32_t line = map.entry_of[i] == PERF_MAP_NONE ? nameless : lines[map.entry_of[i]];
        vec_push(&out->places, (struct structure_place){line, line});
    }
    perf_map_deinit(&map);
}

void generated_recover(const char *path, const uint64_t *addresses, size_t count, struct structure *out)
{
    AUTO_CLOSE int fd = open_names(path);

    recover_from(fd, HQDB_GENERATED, addresses, count, out);
}

void generated_recover_names(const char *map, const uint64_t *addresses, size_t count, struct structure *out)
{
    AUTO_CLOSE int fd = open_told(map, 0);

    recover_from(fd, "[kernel]", addresses, count, out);
}
