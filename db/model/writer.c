/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/model/writer.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/vec.h"
#include <string.h>

#define SECTION_ALIGN 16u

struct writer {
    struct file_writer file;
    unsigned char piece[HQDB_PIECE]; /* of the present section, until it is full */
    size_t piece_len;
    VEC(struct hqdb_section) sections;
    VEC(uint64_t) hashes; /* of the pieces of the present section */
};

static uint64_t fold(const uint64_t *hashes, size_t count, uint64_t bytes)
{
    uint64_t h = hash_u64(bytes);

    for (size_t i = 0; i < count; i++)
        h = hash_combine(h, hashes[i]);
    return h;
}

uint64_t section_checksum(const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint64_t h = hash_u64(bytes);

    for (size_t at = 0; at < bytes; at += HQDB_PIECE) {
        size_t n = bytes - at < HQDB_PIECE ? bytes - at : HQDB_PIECE;

        h = hash_combine(h, hash_bytes(p + at, n, 0));
    }
    return h;
}

/* The checksum needs the number of bytes first, so the hashes of the pieces are kept until the section ends. */
static void flush_piece(struct writer *w)
{
    if (!w->piece_len)
        return;
    vec_push(&w->hashes, hash_bytes(w->piece, w->piece_len, 0));
    file_writer_write(&w->file, w->piece, w->piece_len);
    w->piece_len = 0;
}

struct hq_error *writer_open(const char *path, struct writer **out)
{
    struct writer *w = xcalloc(1, sizeof *w);
    const struct hqdb_header blank = {.major = 0};
    struct hq_error *err = file_writer_open(&w->file, path);

    *out = NULL;
    if (err) {
        free(w);
        return err;
    }
    file_writer_write(&w->file, &blank, sizeof blank);
    *out = w;
    return NULL;
}

void writer_begin(struct writer *w, uint32_t tag, uint32_t index, size_t record_size)
{
    struct hqdb_section *s;

    file_writer_pad(&w->file, SECTION_ALIGN);
    s = vec_add(&w->sections);
    s->tag = tag;
    s->index = index;
    s->record_size = (uint32_t)record_size;
    s->offset = w->file.offset;
    vec_clear(&w->hashes);
}

void writer_append(struct writer *w, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    while (bytes) {
        size_t n = HQDB_PIECE - w->piece_len;

        if (n > bytes)
            n = bytes;
        memcpy(w->piece + w->piece_len, p, n);
        w->piece_len += n;
        p += n;
        bytes -= n;
        if (w->piece_len == HQDB_PIECE)
            flush_piece(w);
    }
}

void writer_end(struct writer *w)
{
    struct hqdb_section *s = &vec_last(&w->sections);

    flush_piece(w);
    s->bytes = w->file.offset - s->offset;
    s->count = s->bytes / s->record_size;
    s->checksum = fold(w->hashes.data, w->hashes.len, s->bytes);
}

void writer_section(struct writer *w, uint32_t tag, uint32_t index, size_t record_size, const void *data, size_t count)
{
    writer_begin(w, tag, index, record_size);
    writer_append(w, data, record_size * count);
    writer_end(w);
}

static void write_header(struct writer *w, uint64_t sources_key, uint64_t files_key)
{
    struct hqdb_header h = {.magic = HQDB_MAGIC,
                            .major = HQDB_MAJOR,
                            .minor = HQDB_MINOR,
                            .sources_key = sources_key,
                            .files_key = files_key};
    size_t bytes = w->sections.len * sizeof *w->sections.data;

    file_writer_pad(&w->file, SECTION_ALIGN);
    h.section_count = (uint32_t)w->sections.len;
    h.section_table = w->file.offset;
    h.table_checksum = hash_bytes(w->sections.data, bytes, 0);
    file_writer_write(&w->file, w->sections.data, bytes);
    h.file_size = w->file.offset;
    file_writer_patch(&w->file, 0, &h, sizeof h);
}

static void destroy(struct writer *w)
{
    vec_deinit(&w->sections);
    vec_deinit(&w->hashes);
    free(w);
}

struct hq_error *writer_commit(struct writer *w, uint64_t sources_key, uint64_t files_key)
{
    struct hq_error *err;

    write_header(w, sources_key, files_key);
    err = file_writer_commit(&w->file);
    destroy(w);
    return err;
}

void writer_abandon(struct writer *w)
{
    if (!w)
        return;
    file_writer_discard(&w->file);
    destroy(w);
}
