/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HPCToolkit databases: the directory that hpcprof makes, or its meta.db. Every thread of the execution becomes a
 * profile with rank and thread; summary profiles are computed anew from those. Sample counts are not in the format.
 */
#include "db/import/formats.h"
#include "db/import/hpct.h"
#include <string.h>

#define MAGIC "HPCTOOLKIT"

struct hpct_header {
    char magic[10], format[4];
    uint8_t major, minor;
};

bool hpctoolkit_sniff(const struct import_probe *p)
{
    AUTO_FREE char *meta = p->is_dir ? file_join(p->path, "meta.db") : NULL;

    return meta ? file_exists(meta) : p->len >= 14 && memcmp(p->text, MAGIC "meta", 14) == 0;
}

/* Checks magic, format and version. A missing optional file is left unmapped. */
static struct hq_error *hpct_file_open(struct hpct_file *f, const char *dir, const char *name, const char *format,
                                       bool optional)
{
    AUTO_FREE char *path = file_join(dir, name);
    struct hpct_header header;

    if (optional && file_is_absent(path))
        return NULL;
    HQ_TRY(file_map_open(path, &f->map));
    if (f->map.size < sizeof header)
        return hq_error_new(HQ_DATA, "%s: the file is cut off within its header, after %zu bytes", path, f->map.size);
    memcpy(&header, f->map.data, sizeof header);
    if (memcmp(header.magic, MAGIC, sizeof header.magic) || memcmp(header.format, format, sizeof header.format))
        return hq_error_new(HQ_DATA, "%s is no %s of an HPCToolkit database", path, name);
    if (header.major != 4)
        return hq_error_new(HQ_DATA, "%s has version %u.%u of the format; version 4 is what can be read", path,
                            header.major, header.minor);
    return NULL;
}

struct cursor hpct_at(const struct hpct_file *f, const char *section, uint64_t offset)
{
    struct cursor c = cursor_make(f->map.path, section, f->map.data, f->map.size);

    cursor_seek(&c, offset);
    return c;
}

const char *hpct_text(struct cursor *c, uint64_t offset)
{
    struct cursor t = cursor_make(c->file, c->section, c->start, (size_t)(c->end - c->start));

    if (!offset || !cursor_ok(c))
        return NULL;
    cursor_seek(&t, offset);
    const char *text = cursor_str(&t);

    if (!text)
        cursor_fail(c, "points to a text that is not there");
    return text;
}

struct hq_error *hpct_section(const struct hpct_file *f, unsigned n, const char *name, size_t bytes, struct cursor *out)
{
    struct cursor c = hpct_at(f, "header", sizeof(struct hpct_header) + 16u * n);
    uint64_t size = cursor_u64(&c), offset = cursor_u64(&c);

    HQ_TRY(cursor_error(&c));
    if (offset > f->map.size || size > f->map.size - offset || size < bytes)
        return hq_error_new(HQ_DATA, "%s: section %s (%llu bytes at offset %llu) does not fit into the file",
                            f->map.path, name, (unsigned long long)size, (unsigned long long)offset);
    *out = hpct_at(f, name, offset);
    return NULL;
}

static struct hq_error *check_cct(const char *dir)
{
    struct hpct_file cct = {0};
    struct hq_error *error = hpct_file_open(&cct, dir, "cct.db", "ctxt", true);

    file_map_close(&cct.map);
    return error;
}

static struct hq_error *read_all(struct hpct *h, const char *dir)
{
    HQ_TRY(hpct_file_open(&h->meta, dir, "meta.db", "meta", false));
    HQ_TRY(hpct_file_open(&h->profile, dir, "profile.db", "prof", false));
    HQ_TRY(hpct_file_open(&h->trace, dir, "trace.db", "trce", true));
    HQ_TRY(check_cct(dir));
    HQ_TRY(hpct_read_meta(h));
    HQ_TRY(hpct_read_tree(h));
    hpct_number_loops(h);
    HQ_TRY(hpct_read_profiles(h));
    return h->trace.map.data ? hpct_read_trace(h) : NULL;
}

struct hq_error *hpctoolkit_read(struct import *im, const char *path)
{
    struct hpct h = {.im = im};
    AUTO_FREE char *dir = file_is_dir(path) ? xstrdup(path) : file_dirname(path);
    struct hq_error *error = read_all(&h, dir);

    file_map_close(&h.meta.map);
    file_map_close(&h.profile.map);
    file_map_close(&h.trace.map);
    vec_deinit(&h.kinds);
    vec_deinit(&h.metrics);
    vec_deinit(&h.sums);
    vec_deinit(&h.nodes);
    vec_deinit(&h.functions);
    map_deinit(&h.function_at);
    map_deinit(&h.node_of);
    free(h.frames);
    free(h.traced_totals);
    map_deinit(&h.node_numbers);
    vec_deinit(&h.profiles);
    vec_deinit(&h.metric_ids);
    vec_deinit(&h.scales);
    return error;
}
