/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/import/import.h"

#include "common/file.h"
#include "common/kept.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/progress.h"
#include "db/import/formats.h"
#include "db/import/input.h"
#include "db/import/mistakes.h"
#include "db/import/target.h"
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define MEASUREMENTS "measurements"
enum { PROBE_BYTES = 64 << 10 };

const struct import_format import_formats[] = {
#define FORMAT(format, text) {#format, text, format##_sniff, format##_read},
#include "db/import/formats.def"
#undef FORMAT
    {0}};

const struct import_format *import_find(const char *name)
{
    for (const struct import_format *f = import_formats; f->name; f++)
        if (!strcasecmp(f->name, name))
            return f;
    return NULL;
}

/* ---- looking ---- */

static struct hq_error *probe_open(const char *path, char *text, struct import_probe *out)
{
    AUTO_INPUT struct input in = {0};
    size_t got;

    *out = (struct import_probe){.path = path, .text = text};
    text[0] = '\0';
    if (file_is_dir(path)) {
        out->is_dir = true;
        return NULL;
    }
    HQ_TRY(input_open(&in, path));
    while (out->len < PROBE_BYTES && (got = input_read(&in, text + out->len, PROBE_BYTES - out->len)) > 0)
        out->len += got;
    text[out->len] = '\0';
    out->whole = out->len < PROBE_BYTES;
    out->binary = memchr(text, 0, out->len) != NULL;
    /* Compressed data that is cut off still shows what it was meant to be; the importer will say where it ends. */
    struct hq_error *error = input_error(&in);

    if (error && out->len) {
        hq_error_free(error);
        error = NULL;
    }
    return error;
}

static struct hq_error *unknown_format(const struct import_probe *p)
{
    AUTO_STR struct str names = {0};

    if (!p->is_dir && !p->len)
        return hq_error_new(HQ_DATA, "%s is empty", p->path);
    HQ_TRY(mistake_of(p));
    for (const struct import_format *f = import_formats; f->name; f++)
        str_addf(&names, "%s%s", f == import_formats ? "" : f[1].name ? ", " : " or ", f->name);
    return hq_error_new(HQ_DATA, "%s looks like no database of hq and like no format that can be imported (%s)",
                        p->path, str_cstr(&names));
}

/* Whether a file can be read only once (a pipe, say): the bytes that are read to find its format would be lost. */
static bool read_once(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* The format of a file or directory; HQ_DATA with the names of the formats if nothing fits or it cannot be read. */
static struct hq_error *import_sniff(const char *path, const struct import_format **out)
{
    AUTO_FREE char *text = xmalloc(PROBE_BYTES + 1);
    struct import_probe p;

    if (!strcmp(path, "-"))
        return hq_error_new(HQ_USAGE, "name the format of what comes from standard input: hq import FORMAT - -o DB");
    if (read_once(path))
        return hq_error_new(
            HQ_USAGE,
            "%s is a pipe or a device, which cannot be looked at first: name the format: hq import FORMAT %s -o DB",
            path, path);
    HQ_TRY(probe_open(path, text, &p));
    for (const struct import_format *f = import_formats; f->name; f++) {
        if (f->sniff(&p)) {
            *out = f;
            return NULL;
        }
    }
    return unknown_format(&p);
}

bool probe_line(const struct import_probe *p, size_t *at, const char **line, size_t *len)
{
    if (*at >= p->len)
        return false;
    const char *start = p->text + *at, *end = memchr(start, '\n', p->len - *at);

    if (!end && !p->whole)
        return false;
    *line = start;
    *len = end ? (size_t)(end - start) : p->len - *at;
    *at += *len + 1;
    if (*len && start[*len - 1] == '\r')
        --*len;
    return true;
}

/* ---- importing ---- */

static struct hq_error *sniff_all(const struct import_file *files, struct import_file *known, size_t count,
                                  bool *by_name)
{
    *by_name = false;
    for (size_t i = 0; i < count; i++) {
        known[i] = files[i];
        if (!known[i].format)
            HQ_TRY(import_sniff(files[i].path, &known[i].format));
        *by_name |= known[i].format != known[0].format;
    }
    return NULL;
}

static struct hq_error *read_all(struct import *im, const struct import_file *files, size_t count)
{
    im->file_count = count;
    for (im->file = 0; im->file < count; im->file++) {
        const struct import_file *f = &files[im->file];

        im->format = f->format;
        im->path = f->path;
        log_verbose("importing %s as %s", f->path, f->format->name);
        HQ_TRY(f->format->read(im, f->path));
        if (import_problem(im))
            return hq_error_new(HQ_DATA, "%s: %s", f->path, import_problem(im));
        import_fact(im, "imported from", f->path);
        import_fact(im, "format", f->format->name);
    }
    if (im->by_name)
        import_fact(im, "alignment",
                    "by the names of procedures, because the formats differ: no lines, loops or inlined code");
    if (!im->sums.len && count)
        return hq_error_new(HQ_DATA, "%s holds no samples", files[0].path);
    import_finish(im);
    return NULL;
}

static struct hq_error *read_and_write(const struct import_file *files, size_t count, const char *path)
{
    AUTO_FREE struct import_file *known = xcalloc(count + 1, sizeof *known);
    __attribute__((cleanup(import_deinit))) struct import im;

    import_init(&im);
    HQ_TRY(sniff_all(files, known, count, &im.by_name));
    HQ_TRY(read_all(&im, known, count));

    AUTO_FREE char *directory = file_dirname(path);

    HQ_TRY(file_make_dirs(directory));
    return model_write(im.model, path, 0);
}

static struct hq_error *import_to(const struct import_file *files, size_t count, const char *path)
{
    /* Reading has a line of its own; this one is seen while the database is made of it, which may take longer. */
    struct progress whole;

    progress_start(&whole, "importing", 0, false);
    struct hq_error *error = read_and_write(files, count, path);

    progress_finish(&whole);
    return error;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n > m && !strcmp(text + n - m, end);
}

/* The file to write, and whether it may be written. */
static struct hq_error *target_of(const char *output, char **path)
{
    AUTO_FREE char *measurements = file_join(output, MEASUREMENTS);
    AUTO_FREE char *database = file_join(output, HQDB_FILE);
    bool only = true;

    *path = NULL;
    if (file_exists(measurements))
        return hq_error_new(HQ_USAGE, "%s holds measurements; choose another directory for what is imported", output);
    if (file_is_dir(output) && !file_exists(database)) {
        /* Beside what an import that was killed has left, or another writes there now. */
        HQ_TRY(file_dir_holds_only(output, HQDB_FILE FILE_TEMPORARY, &only));
        if (!only)
            return hq_error_new(HQ_USAGE, "%s is a directory with other things in it; choose another one", output);
    }
    if (!file_is_absent(output) && !file_is_dir(output) && !ends_in(output, ".db"))
        return hq_error_new(HQ_USAGE, "%s is there already and is no directory; choose another name", output);
    *path = ends_in(output, ".db") && !file_is_dir(output) ? xstrdup(output) : MEM_STEAL(database);
    return NULL;
}

struct hq_error *import_files(const struct import_file *files, size_t count, const char *output)
{
    AUTO_FREE char *path = NULL;

    HQ_TRY(target_of(output, &path));
    bool was_there = !file_is_absent(output);

    if (file_is_dir(output))
        kept_trim(output, HQDB_FILE, UINT64_MAX); /* what imports that were killed have left */

    struct hq_error *error = import_to(files, count, path);

    /* Only an empty directory goes away. */
    if (error && !was_there && file_is_dir(output))
        rmdir(output);
    return error;
}
