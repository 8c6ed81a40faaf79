/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bounds-checked reader of little-endian data that words its own error.
 *
 *     struct cursor c = cursor_make(map.path, "strings", map.data, map.size);
 *     uint32_t n = cursor_u32(&c);
 *     const char *names = cursor_bytes(&c, n);
 *     HQ_TRY(cursor_error(&c));
 *
 * The first read beyond the end makes the cursor bad: that read and all later ones give 0 or NULL and do not move. So a
 * group of reads needs one check, before the values are believed. A count from a file must be tested with cursor_array,
 * which multiplies safely.
 */
#ifndef HQ_COMMON_CURSOR_H
#define HQ_COMMON_CURSOR_H

#include "common/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const char *file, *section; /* for the error; not owned */
    const uint8_t *start, *at, *end;
    const char *problem; /* NULL while all is well; else what is wrong, static */
    size_t bad_offset;   /* where, within the section */
};

static inline struct cursor cursor_make(const char *file, const char *section, const void *data, size_t size)
{
    const uint8_t *p = data;

    return (struct cursor){.file = file, .section = section, .start = p, .at = p, .end = size ? p + size : p};
}

static inline size_t cursor_offset(const struct cursor *c)
{
    return (size_t)(c->at - c->start);
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

static inline bool cursor_ok(const struct cursor *c)
{
    return !c->problem;
}

/* Marks the data at the present position as wrong; what is a static text that completes "section X ...". */
static inline void cursor_fail(struct cursor *c, const char *what)
{
    if (c->problem)
        return;
    c->problem = what;
    c->bad_offset = cursor_offset(c);
    c->end = c->at;
}

/* n bytes in place; NULL if they are not there, and perhaps if n is 0. */
static inline const void *cursor_bytes(struct cursor *c, size_t n)
{
    const uint8_t *p = c->at;

    if (n > cursor_left(c)) {
        cursor_fail(c, "is cut off");
        return NULL;
    }
    if (n)
        c->at += n;
    return p;
}

/* n records of `size` bytes in place; the caller knows that they are aligned. */
static inline const void *cursor_array(struct cursor *c, uint64_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes)) {
        cursor_fail(c, "is cut off");
        return NULL;
    }
    return cursor_bytes(c, bytes);
}

static inline void cursor_skip(struct cursor *c, uint64_t n)
{
    cursor_array(c, n, 1);
}

/* To an offset from the start of the range, backwards too. */
static inline void cursor_seek(struct cursor *c, uint64_t offset)
{
    if (c->problem)
        return;
    if (offset > (uint64_t)(c->end - c->start))
        cursor_fail(c, "points outside itself");
    else if (offset != cursor_offset(c))
        c->at = c->start + offset;
}

static inline uint64_t cursor_uint_(struct cursor *c, size_t n)
{
    const uint8_t *p = cursor_bytes(c, n);
    uint64_t x = 0;

    if (!p)
        return 0;
    for (size_t i = 0; i < n; i++)
        x |= (uint64_t)p[i] << (8 * i);
    return x;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    return (uint8_t)cursor_uint_(c, 1);
}
static inline uint16_t cursor_u16(struct cursor *c)
{
    return (uint16_t)cursor_uint_(c, 2);
}
static inline uint32_t cursor_u32(struct cursor *c)
{
    return (uint32_t)cursor_uint_(c, 4);
}
static inline uint64_t cursor_u64(struct cursor *c)
{
    return cursor_uint_(c, 8);
}
static inline int32_t cursor_i32(struct cursor *c)
{
    return (int32_t)cursor_u32(c);
}

/* Unsigned LEB128 of at most 64 bits. */
static inline uint64_t cursor_uleb(struct cursor *c)
{
    uint64_t x = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b = cursor_u8(c);

        if (c->problem)
            return 0;
        if (shift == 63 && b > 1)
            break;
        x |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return x;
    }
    cursor_fail(c, "has a number that is too long");
    return 0;
}

/* Reads a signed LEB128 number: the last of ten bytes can only repeat the sign. */
static inline int64_t cursor_sleb(struct cursor *c)
{
    uint64_t x = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b = cursor_u8(c);

        if (c->problem)
            return 0;
        if (shift == 63 && b != 0 && b != 0x7f)
            break;
        x |= (uint64_t)(b & 0x7f) << shift;
        if (b & 0x80)
            continue;
        if (shift + 7 < 64 && (b & 0x40))
            x |= ~0ull << (shift + 7);
        return (int64_t)x;
    }
    cursor_fail(c, "has a number that is too long");
    return 0;
}

/* A NUL-terminated string in place. */
static inline const char *cursor_str(struct cursor *c)
{
    const uint8_t *p = c->at;
    const uint8_t *nul = cursor_left(c) ? memchr(p, 0, cursor_left(c)) : NULL;

    if (!nul) {
        cursor_fail(c, "has a text without an end");
        return NULL;
    }
    c->at = nul + 1;
    return (const char *)p;
}

/* HQ_DATA "FILE: section X is cut off at offset N" if the cursor is bad. */
static inline struct hq_error *cursor_error(const struct cursor *c)
{
    if (!c->problem)
        return NULL;
    return hq_error_new(HQ_DATA, "%s: section %s %s at offset %zu", c->file, c->section, c->problem, c->bad_offset);
}

#endif
