/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/debugfile.h"
#include "structure/debuginfod.h"
#include "structure/unpack.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/str.h"
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#define SYSTEM_ROOT "/usr/lib/debug"

static bool has_dwarf(struct elf *elf)
{
    const struct elf_section *s = elf_find_section(elf, ".debug_info");

    return s && s->raw;
}

static bool same_build_id(const struct elf *elf, const uint8_t *id, size_t size)
{
    return elf->build_id && id && elf->build_id_size == size && !memcmp(elf->build_id, id, size);
}

/* A file that is there and cannot be read is a problem; its message begins with its name. */
static struct elf *try_open(const char *path, char **problem)
{
    struct elf *elf = NULL;
    AUTO_ERROR struct hq_error *err = file_is_absent(path) ? NULL : elf_open(path, &elf);

    if (err && !*problem)
        *problem = xstrdup(err->message);
    return elf;
}

/* ROOT/.build-id/ab/cdef....debug */
static char *build_id_path(const char *root, const uint8_t *id, size_t size)
{
    struct str path = {0};

    str_addf(&path, "%s/.build-id/", root);
    str_add_hex(&path, id, 1);
    str_addc(&path, '/');
    str_add_hex(&path, id + 1, size - 1);
    str_add(&path, ".debug");
    return str_steal(&path);
}

/* Calls fn(root) for every directory with debug files until one gives a file. */
typedef struct elf *find_in(const char *root, void *arg);

static struct elf *each_root(find_in *fn, void *arg)
{
    const char *list = getenv("HQ_DEBUG_PATH");

    while (list && *list) {
        size_t len = strcspn(list, ":");
        AUTO_FREE char *root = xstrndup(list, len);
        struct elf *elf = len ? fn(root, arg) : NULL;

        if (elf)
            return elf;
        list += len + (list[len] == ':');
    }
    return fn(SYSTEM_ROOT, arg);
}

struct id {
    const uint8_t *bytes;
    size_t size;
    char **problem;
};

static struct elf *id_in_root(const char *root, void *arg)
{
    const struct id *id = arg;
    AUTO_FREE char *path = build_id_path(root, id->bytes, id->size);
    struct elf *elf = try_open(path, id->problem);

    if (elf && same_build_id(elf, id->bytes, id->size))
        return elf;
    elf_close(elf);
    return NULL;
}

static struct elf *find_by_build_id(const uint8_t *id, size_t size, char **problem)
{
    return size >= 2 && size <= 64 ? each_root(id_in_root, &(struct id){id, size, problem}) : NULL;
}

struct link {
    struct elf *text;
    const char *name;
    uint32_t crc;
    char *directory; /* of the binary, links resolved */
    char **problem;
};

static bool belongs(const struct elf *elf, const struct link *l)
{
    if (elf->build_id && l->text->build_id)
        return same_build_id(elf, l->text->build_id, l->text->build_id_size);
    return (uint32_t)crc32_z(0, elf->data, elf->size) == l->crc;
}

static struct elf *try_link(const struct link *l, const char *path)
{
    struct elf *elf = try_open(path, l->problem);

    if (!elf || belongs(elf, l))
        return elf;
    if (!*l->problem)
        *l->problem = xasprintf("separate debug file %s belongs to another build", path);
    elf_close(elf);
    return NULL;
}

static struct elf *link_in_root(const char *root, void *arg)
{
    const struct link *l = arg;
    AUTO_FREE char *path = xasprintf("%s%s/%s", root, l->directory, l->name);

    return try_link(l, path);
}

static struct elf *find_by_link(struct elf *text, char **problem)
{
    struct link l = {.text = text, .problem = problem};
    AUTO_FREE char *real = realpath(text->path, NULL);

    if (!real || !elf_debuglink(text, &l.name, &l.crc))
        return NULL;
    AUTO_FREE char *directory = file_dirname(real);
    AUTO_FREE char *beside = xasprintf("%s/%s", directory, l.name);
    AUTO_FREE char *below = xasprintf("%s/.debug/%s", directory, l.name);
    l.directory = directory;
    struct elf *elf = strcmp(beside, real) ? try_link(&l, beside) : NULL;
    if (!elf)
        elf = try_link(&l, below);
    return elf ? elf : each_root(link_in_root, &l);
}

static struct elf *find_by_server(const struct elf *text, char **problem)
{
    AUTO_FREE char *path = text->build_id ? debuginfod_find(text->build_id, text->build_id_size) : NULL;
    struct elf *elf = path ? try_open(path, problem) : NULL;

    if (elf && same_build_id(elf, text->build_id, text->build_id_size))
        return elf;
    elf_close(elf);
    return NULL;
}

/* Fedora leaves the symbols of stripped binaries in them, as a small ELF file compressed by xz ("MiniDebugInfo" in the
 * GDB manual). */
static struct elf *find_inside(struct elf *text)
{
    const uint8_t *packed;
    size_t packed_size, size;
    struct elf *elf = NULL;

    if (!elf_read_section(text, ".gnu_debugdata", &packed, &packed_size))
        return NULL;
    uint8_t *data = unpack_xz(packed, packed_size, &size);
    struct hq_error *err = data ? elf_open_memory(text->path, data, size, &elf) : NULL;
    if (err)
        unpack_free(data, size);
    if (elf)
        elf->mapped = true;
    else if (!text->unreadable)
        text->unreadable = xstrdup(".gnu_debugdata");
    hq_error_free(err);
    return elf;
}

/* Debian's name of dwz's common file is /usr/lib/debug/.dwz/NAME: it may lie below another directory as well. */
struct dwz {
    const char *part; /* of the name: /.dwz/NAME */
    char **problem;
};

static struct elf *dwz_in_root(const char *root, void *arg)
{
    const struct dwz *dwz = arg;
    AUTO_FREE char *path = xasprintf("%s%s", root, dwz->part);

    return try_open(path, dwz->problem);
}

static struct elf *find_dwz(const char *path, char **problem)
{
    const char *part = strstr(path, "/.dwz/");

    return part ? each_root(dwz_in_root, &(struct dwz){part, problem}) : NULL;
}

/* The name of dwz's common file is relative to the file that refers to it. */
static struct elf *find_alt(struct elf *debug, char **problem)
{
    const char *name;
    const uint8_t *id;
    size_t size;

    /* Stripping leaves the link behind. */
    if (!has_dwarf(debug) || !elf_debugaltlink(debug, &name, &id, &size))
        return NULL;
    AUTO_FREE char *directory = file_dirname(debug->path);
    AUTO_FREE char *path = file_join(directory, name);
    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
        struct elf *elf = elsewhere ? find_dwz(path, problem) : try_open(path, problem);

        if (elf && same_build_id(elf, id, size))
            return elf;
        elf_close(elf);
    }
    struct elf *elf = find_by_build_id(id, size, problem);
    if (!elf && !*problem)
        *problem = xasprintf("%s, which holds the debug information it shares, is missing", path);
    return elf;
}

void debug_file_find(struct elf *text, bool servers, struct debug_file *out)
{
    struct elf *elf = NULL;

    *out = (struct debug_file){0};
    if (!has_dwarf(text)) {
        elf = find_by_build_id(text->build_id, text->build_id_size, &out->problem);
        if (!elf)
            elf = find_by_link(text, &out->problem);
        if (!elf && servers)
            elf = find_by_server(text, &out->problem);
        if (!elf)
            elf = find_inside(text);
    }
    out->debug = elf ? elf : text;
    out->alt = find_alt(out->debug, &out->problem);
}

void debug_file_close(struct debug_file *f, const struct elf *text)
{
    if (f->debug != text)
        elf_close(f->debug);
    elf_close(f->alt);
    free(f->problem);
    *f = (struct debug_file){0};
}
