/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/png.h"
#include "common/mem.h"
#include <string.h>
#include <zlib.h>

enum { PACKED_BYTES = 1 << 16 };

static void add_u32(struct str *s, uint32_t v)
{
    const char bytes[4] = {(char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v};
    str_addn(s, bytes, 4);
}

static void add_chunk(struct str *png, const char *type, const void *data, size_t size)
{
    uLong crc = crc32(crc32(0, (const Bytef *)type, 4), data, (uInt)size);

    add_u32(png, (uint32_t)size);
    str_addn(png, type, 4);
    str_addn(png, data, size);
    add_u32(png, (uint32_t)crc);
}

/* One byte that says "not filtered", then the pixels of a row of cells. */
static void fill_row(const struct picture *p, uint32_t y, uint32_t across, unsigned char *at)
{
    *at++ = 0;
    for (uint32_t x = 0; x < p->width; x++) {
        uint32_t cell = p->cells[(size_t)y * p->width + x];
        uint32_t colour = cell ? picture_shown(p, cell)->colour << 8 | 0xff : 0;
        for (uint32_t i = 0; i < across; i++, at += 4) {
            at[0] = (unsigned char)(colour >> 24);
            at[1] = (unsigned char)(colour >> 16);
            at[2] = (unsigned char)(colour >> 8);
            at[3] = (unsigned char)colour;
        }
    }
}

static void pack_rows(const struct picture *p, uint32_t across, uint32_t down, struct str *out)
{
    size_t bytes = (size_t)p->width * across * 4 + 1;
    AUTO_FREE unsigned char *row = xmalloc(bytes), *packed = xmalloc(PACKED_BYTES);
    z_stream z = {0};

    if (deflateInit(&z, 1) != Z_OK)
        mem_exhausted();
    for (uint32_t y = 0; y < p->height * down; y++) {
        if (y % down == 0)
            fill_row(p, y / down, across, row);
        z.next_in = row;
        z.avail_in = (uInt)bytes;
        int flush = y + 1 == p->height * down ? Z_FINISH : Z_NO_FLUSH;
        do {
            z.next_out = packed;
            z.avail_out = PACKED_BYTES;
            deflate(&z, flush);
            str_addn(out, (const char *)packed, PACKED_BYTES - z.avail_out);
        } while (z.avail_out == 0);
    }
    deflateEnd(&z);
}

void png_base64(struct str *out, const struct picture *p, uint32_t across, uint32_t down)
{
    AUTO_STR struct str png = {0}, head = {0}, data = {0};

    pack_rows(p, across, down, &data);
    str_addn(&png, "\x89PNG\r\n\x1a\n", 8);
    add_u32(&head, p->width * across);
    add_u32(&head, p->height * down);
    str_addn(&head, "\x08\x06\0\0\0", 5);
    add_chunk(&png, "IHDR", head.s, head.len);
    add_chunk(&png, "IDAT", data.s, data.len);
    add_chunk(&png, "IEND", "", 0);
    base64_add(out, png.s, png.len);
}
