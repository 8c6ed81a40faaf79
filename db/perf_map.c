/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/perf_map.h"

#include "common/mem.h"
#include "common/numbers.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 4096 };

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* A number in hexadecimal, with or without 0x, and the space behind it; false if there is none. */
static bool take_number(const char **at, const char *end, uint64_t *out)
{
    const char *p = *at, *first;

    if (end - p > 2 && p[0] == '0' && p[1] == 'x')
        p += 2;
    first = p;
    for (*out = 0; p < end && digit(*p) >= 0; p++)
        *out = *out << 4 | (uint64_t)digit(*p);
    if (p == first || p - first > 16 || p == end || *p != ' ')
        return false;
    *at = p + 1;
    return true;
}

/* The first address from i on that has no entry yet; what was passed is shortened for the next time. */
static size_t next_free(size_t *next, size_t i)
{
    size_t found = i;

    while (next[found] != found)
        found = next[found];
    while (next[i] != i) {
        size_t after = next[i];

        next[i] = found;
        i = after;
    }
    return found;
}

/* Gives the addresses in a line's range that have none yet to it. */
static void take_line(struct perf_map *m, const char *at, const char *end, const uint64_t *addresses, size_t count,
                      size_t *next)
{
    struct perf_map_entry e;
    size_t i;

    if (!take_number(&at, end, &e.start) || !take_number(&at, end, &e.size) || at == end || !e.size)
        return;
    i = next_free(next, numbers_from(addresses, count, e.start));
    if (i == count || addresses[i] - e.start >= e.size)
        return;
    end -= end[-1] == '\r';
    size_t len = (size_t)(end - at) < LONGEST_NAME ? (size_t)(end - at) : LONGEST_NAME;
    AUTO_FREE char *name = xstrndup(at, len);
    e.name = intern_add(&m->texts, name);
    for (; i < count && addresses[i] - e.start < e.size; i = next_free(next, i)) {
        m->entry_of[i] = (uint32_t)m->entries.len;
        next[i] = i + 1;
    }
    vec_push(&m->entries, e);
}

/* Backwards, so that each address is given away once: the work does not depend on how much the ranges overlap. */
void perf_map_parse(const char *text, size_t size, const uint64_t *addresses, size_t count, struct perf_map *out)
{
    AUTO_FREE size_t *next = xmalloc((count + 1) * sizeof *next);
    const char *end = text + size;

    *out = (struct perf_map){.entry_of = xmalloc((count + 1) * sizeof *out->entry_of)};
    for (size_t i = 0; i <= count; i++) {
        next[i] = i;
        out->entry_of[i] = PERF_MAP_NONE;
    }
    /* A last line without its end is still being written. */
    while (end > text && end[-1] != '\n')
        end--;
    while (end > text) {
        const char *newline = --end, *start = memrchr(text, '\n', (size_t)(newline - text));

        end = start ? start + 1 : text;
        take_line(out, end, newline, addresses, count, next);
    }
}

void perf_map_deinit(struct perf_map *m)
{
    intern_deinit(&m->texts);
    vec_deinit(&m->entries);
    free(m->entry_of);
    *m = (struct perf_map){0};
}
