/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/defined.h"

#include "preload/text.h"

#include <stddef.h>

/* The header of DT_GNU_HASH, and what lies behind it. */
struct gnu_hash {
    uint32_t buckets, first, words, shift;
    uint64_t filter[];
};

static bool is(const struct defined *s, uint32_t i, const char *name)
{
    return s->symbols[i].st_shndx != SHN_UNDEF && same_text(s->texts + s->symbols[i].st_name, name);
}

static void *find_in_all(const struct defined *s, const char *name)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (is(s, i, name))
            return (void *)(s->base + s->symbols[i].st_value);
    return NULL;
}

void *defined_find(const struct defined *s, const char *name)
{
    const uint32_t *buckets, *hashes;
    uint32_t hash = 5381;

    if (!s->table)
        return find_in_all(s, name);
    buckets = (const uint32_t *)(s->table->filter + s->table->words);
    hashes = buckets + s->table->buckets;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    for (uint32_t i = buckets[hash % s->table->buckets]; i >= s->table->first; i++) {
        uint32_t found = hashes[i - s->table->first];

        if ((found | 1) == (hash | 1) && is(s, i, name))
            return (void *)(s->base + s->symbols[i].st_value);
        if (found & 1)
            break;
    }
    return NULL;
}

bool defined_wants(const struct defined *s, const char *name)
{
    uint32_t end = s->table ? s->table->first : s->count; /* those that are defined come last */

    for (uint32_t i = 1; i < end; i++)
        if (s->symbols[i].st_shndx == SHN_UNDEF && same_text(s->texts + s->symbols[i].st_name, name))
            return true;
    return false;
}

bool defined_elsewhere(const char *name, bool (*ours)(const struct link_map *))
{
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
        struct defined s;

        if (ours(map))
            continue;
        s = defined_in(map);
        if ((!s.table && !s.count) || defined_find(&s, name))
            return true;
    }
    return false;
}

struct link_map defined_module(const struct dl_phdr_info *info)
{
    struct link_map map = {.l_addr = info->dlpi_addr, .l_name = (char *)info->dlpi_name};

    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            map.l_ld = (ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return map;
}

bool defined_by_us(const struct link_map *map)
{
    static const char *const others[] = {"libhqexact.so", "libhqmpi.so", "libhqgpu.so"};
    const char *name = last_part(map->l_name);

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (same_text(name, others[i]))
            return true;
    return map->l_ld == _DYNAMIC;
}

const void *defined_located(const struct link_map *map, ElfW(Addr) address)
{
    return (const void *)(address < map->l_addr ? address + map->l_addr : address);
}

struct defined defined_in(const struct link_map *map)
{
    struct defined s = {.base = map->l_addr};
    const uint32_t *hashed = NULL;

    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_GNU_HASH)
            s.table = defined_located(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_HASH)
            hashed = defined_located(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_SYMTAB)
            s.symbols = defined_located(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            s.texts = defined_located(map, entry->d_un.d_ptr);
    }
    if (!s.symbols || !s.texts)
        s.table = NULL;
    else if (!s.table && hashed)
        s.count = hashed[1];
    return s;
}
