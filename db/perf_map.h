/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf-PID.map, the text in which just-in-time compilers tell where they put their code: lines START SIZE NAME, numbers
 * in hexadecimal. Later lines hold where they overlap earlier ones, because code is thrown away and its place used
 * again. Nothing in the text is believed to make sense.
 */
#ifndef HQ_DB_PERF_MAP_H
#define HQ_DB_PERF_MAP_H

#include "common/err.h"
#include "common/intern.h"
#include "common/vec.h"
#include <stddef.h>
#include <stdint.h>

#define PERF_MAP_NONE UINT32_MAX

struct perf_map_entry {
    uint64_t start, size;
    uint32_t name;
}; /* name: in texts */

struct perf_map {
    struct intern texts;
    VEC(struct perf_map_entry) entries; /* those that hold one of the addresses, last line first */
    uint32_t *entry_of;                 /* [address] PERF_MAP_NONE: no line holds it */
};

/* From `size` bytes of text, which may begin and end within a line. The addresses are sorted, each there once. */
void perf_map_parse(const char *text, size_t size, const uint64_t *addresses, size_t count, struct perf_map *out);
void perf_map_deinit(struct perf_map *m);

#endif
