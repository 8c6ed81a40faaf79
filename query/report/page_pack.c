/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/report/page_pack.h"
#include "common/mem.h"
#include <string.h>
#include <zlib.h>

#define MAGIC "hqpage1\n"
#define PIECE (1u << 20)

void pack_deinit(struct pack *p)
{
    str_deinit(&p->bytes);
    str_deinit(&p->index);
}

void pack_begin(struct pack *p, const char *name)
{
    p->start = p->bytes.len;
    str_addf(&p->index, "%s\"%s\":[%zu,", p->index.len ? "," : "", name, p->start);
}

void pack_end(struct pack *p)
{
    str_addf(&p->index, "%zu]", p->bytes.len - p->start);
}

void pack_add(struct pack *p, uint64_t number)
{
    char bytes[10];
    size_t n = 0;

    for (; number >= 128; number >>= 7)
        bytes[n++] = (char)(number | 128);
    bytes[n++] = (char)number;
    str_addn(&p->bytes, bytes, n);
}

void pack_add_signed(struct pack *p, int64_t number)
{
    pack_add(p, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

void pack_join(const struct pack *p, const char *json, struct str *out)
{
    size_t n = strlen(json);
    const char length[4] = {(char)n, (char)(n >> 8), (char)(n >> 16), (char)(n >> 24)};

    str_add(out, MAGIC);
    str_addn(out, length, sizeof length);
    str_addn(out, json, n);
    if (p->bytes.len)
        str_addn(out, p->bytes.s, p->bytes.len);
}

static void deflate_all(const struct str *data, struct str *packed)
{
    z_stream z = {0};

    /* 16: with the header of gzip */
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        mem_exhausted();
    for (size_t at = 0; at < data->len;) {
        size_t piece = data->len - at < PIECE ? data->len - at : PIECE;

        z.next_in = (Bytef *)data->s + at;
        z.avail_in = (uInt)piece;
        at += piece;
        do {
            str_reserve(packed, PIECE);
            z.next_out = (Bytef *)packed->s + packed->len;
            z.avail_out = PIECE;
            deflate(&z, at == data->len ? Z_FINISH : Z_NO_FLUSH);
            packed->len += PIECE - z.avail_out;
        } while (z.avail_out == 0);
    }
    deflateEnd(&z);
}

uint64_t pack_size(const struct str *data)
{
    AUTO_STR struct str packed = {0};

    if (data->len)
        deflate_all(data, &packed);
    return (packed.len + 2) / 3 * 4;
}

void pack_base64(const struct str *data, struct str *out)
{
    AUTO_STR struct str packed = {0};

    deflate_all(data, &packed);
    base64_add(out, packed.s, packed.len);
}
