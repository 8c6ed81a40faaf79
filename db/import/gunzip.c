/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/import/gunzip.h"

#include "common/mem.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 256 << 10, GZIP = 16 }; /* zlib: + 16 means a gzip header */

bool gunzip_open(struct gunzip *g, int fd)
{
    *g = (struct gunzip){.fd = fd, .buffer = xmalloc(CHUNK)};
    int code = inflateInit2(&g->z, MAX_WBITS + GZIP);
    if (code == Z_MEM_ERROR)
        mem_exhausted();
    if (code == Z_OK)
        return true;
    gunzip_close(g);
    return false;
}

void gunzip_close(struct gunzip *g)
{
    if (!g->buffer)
        return;
    inflateEnd(&g->z);
    close(g->fd);
    free(g->buffer);
    *g = (struct gunzip){0};
}

/* More of the file behind what is left of it; false: it cannot be read. At its end nothing comes. */
static bool refill(struct gunzip *g)
{
    ssize_t got;

    if (g->z.avail_in)
        memmove(g->buffer, g->z.next_in, g->z.avail_in);
    do
        got = read(g->fd, g->buffer + g->z.avail_in, CHUNK - g->z.avail_in);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return false;
    g->ended = got == 0;
    g->read += (uint64_t)got;
    g->z.next_in = g->buffer;
    g->z.avail_in += (unsigned)got;
    return true;
}

/* At least n bytes, if the file has them. */
static bool look(struct gunzip *g, unsigned n)
{
    while (g->z.avail_in < n && !g->ended)
        if (!refill(g))
            return false;
    return true;
}

static bool is_member(const struct gunzip *g)
{
    return g->z.avail_in >= 2 && g->z.next_in[0] == 0x1f && g->z.next_in[1] == 0x8b;
}

/* Zeros up to the end of the file are padding (tapes, blocks). */
static enum gunzip_state pass_padding(struct gunzip *g)
{
    for (;;) {
        for (; g->z.avail_in; g->z.avail_in--)
            if (*g->z.next_in++)
                return GUNZIP_NO_MEMBER;
        if (g->ended)
            return GUNZIP_OK;
        if (!refill(g))
            return GUNZIP_UNREADABLE;
    }
}

static enum gunzip_state unpack_some(struct gunzip *g, void *data, size_t n, size_t *got)
{
    g->z.next_out = data;
    g->z.avail_out = n < UINT_MAX ? (unsigned)n : UINT_MAX;
    for (unsigned room = g->z.avail_out; g->z.avail_out == room;) {
        if (!look(g, g->inside ? 1 : 2))
            return GUNZIP_UNREADABLE;
        if (!g->inside && !is_member(g))
            return pass_padding(g);
        if (!g->z.avail_in)
            return GUNZIP_CUT;
        if (!g->inside && inflateReset(&g->z) != Z_OK)
            return GUNZIP_DAMAGED;
        int code = inflate(&g->z, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR)
            mem_exhausted();
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return GUNZIP_DAMAGED;
        g->inside = code != Z_STREAM_END;
    }
    *got = (size_t)(g->z.next_out - (unsigned char *)data);
    return GUNZIP_OK;
}

static enum gunzip_state copy_some(struct gunzip *g, void *data, size_t n, size_t *got)
{
    if (!look(g, 1))
        return GUNZIP_UNREADABLE;
    *got = n < g->z.avail_in ? n : g->z.avail_in;
    memcpy(data, g->z.next_in, *got);
    g->z.next_in += *got;
    g->z.avail_in -= (unsigned)*got;
    return GUNZIP_OK;
}

enum gunzip_state gunzip_read(struct gunzip *g, void *data, size_t n, size_t *got)
{
    enum gunzip_state state;

    *got = 0;
    if (!n)
        return GUNZIP_OK;
    if (!g->begun) {
        if (!look(g, 4)) /* a pipe may give less at first: enough for what texts begin with, too */
            return GUNZIP_UNREADABLE;
        g->begun = true;
        g->packed = is_member(g);
    }
    state = g->packed ? unpack_some(g, data, n, got) : copy_some(g, data, n, got);
    g->taken = g->read - g->z.avail_in;
    g->given += *got;
    return state;
}
