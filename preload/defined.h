/* SPDX-License-Identifier: BSD-3-Clause */
/* The symbols that a loaded library defines, read from its memory: the loader is not asked, and nothing is allocated.
 */
#ifndef HQ_PRELOAD_DEFINED_H
#define HQ_PRELOAD_DEFINED_H

#include <link.h>
#include <stdbool.h>

struct defined {
    uint64_t base;                /* link address 0 */
    const struct gnu_hash *table; /* NULL: there is none, as with --hash-style=sysv */
    uint32_t count;               /* of symbols, where there is no table; 0 then: nothing is known */
    const ElfW(Sym) * symbols;
    const char *texts;
};

struct defined defined_in(const struct link_map *map);

/* A module as dl_iterate_phdr tells it: its address, name and dynamic section alone, which is NULL if it has none. */
struct link_map defined_module(const struct dl_phdr_info *info);

/* Is it one of the collector's libraries? */
bool defined_by_us(const struct link_map *map);

/* Where a symbol is; NULL: it is not defined there, or that is not known. */
void *defined_find(const struct defined *s, const char *name);

/* Does the library refer to a symbol that others define? False also if that is not known. */
bool defined_wants(const struct defined *s, const char *name);

/* Does a loaded library that is none of `ours` define a symbol? True also if that is not known. */
bool defined_elsewhere(const char *name, bool (*ours)(const struct link_map *));

/* An address of the dynamic section, which the loader has not made of an offset where it cannot write (the vDSO's). */
const void *defined_located(const struct link_map *map, ElfW(Addr) address);

#endif
