/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/png.h"
#include "common/mem.h"
#include <string.h>
#include <zlib.h>

static void add_u32(struct str *s, uint32_t v)
{
    const char bytes[4] = { (char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v };
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

/* One byte that says "not filtered" before each row, then its pixels. */
static void fill_rows(const struct picture *p, unsigned char *at)
{
    for (uint32_t y = 0; y < p->height; y++) {
        *at++ = 0;
        for (uint32_t x = 0; x < p->width; x++, at += 4) {
            uint32_t cell = p->cells[(size_t)y * p->width + x];
            uint32_t colour = cell ? picture_shown(p, cell)->colour << 8 | 0xff : 0;
            at[0] = (unsigned char)(colour >> 24);
            at[1] = (unsigned char)(colour >> 16);
            at[2] = (unsigned char)(colour >> 8);
            at[3] = (unsigned char)colour;
        }
    }
}

static void add_base64(struct str *out, const unsigned char *in, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    str_reserve(out, n / 3 * 4 + 8);
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)in[i] << 16 | (i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0) | (i + 2 < n ? in[i + 2] : 0);
        const char four[4] = { digits[v >> 18], digits[v >> 12 & 63], i + 1 < n ? digits[v >> 6 & 63] : '=',
                               i + 2 < n ? digits[v & 63] : '=' };
        str_addn(out, four, 4);
    }
}

void png_base64(struct str *out, const struct picture *p)
{
    AUTO_STR struct str png = { 0 }, head = { 0 };
    size_t size = ((size_t)p->width * 4 + 1) * p->height;
    uLongf packed = compressBound(size);
    AUTO_FREE unsigned char *rows = xmalloc(size + 1), *data = xmalloc(packed);

    fill_rows(p, rows);
    compress2(data, &packed, rows, size, 1);
    str_addn(&png, "\x89PNG\r\n\x1a\n", 8);
    add_u32(&head, p->width);
    add_u32(&head, p->height);
    str_addn(&head, "\x08\x06\0\0\0", 5);
    add_chunk(&png, "IHDR", head.s, head.len);
    add_chunk(&png, "IDAT", data, packed);
    add_chunk(&png, "IEND", "", 0);
    add_base64(out, (const unsigned char *)png.s, png.len);
}
