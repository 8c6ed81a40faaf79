/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/weak.h"

#include "preload/defined.h"
#include "preload/libc.h"
#include "preload/raw.h"
#include "preload/text.h"

enum { LIBRARIES = 4 };

/* The collector's. */
static struct defined ours[LIBRARIES];
static int count;
static uint64_t page_bytes;

/* Functions that hq.h declares are there. */
static bool is_wrapper(const char *name, uint64_t at)
{
    if (name[0] == 'h' && name[1] == 'q' && name[2] == '_')
        return false;
    for (int i = 0; i < count; i++)
        if (at == (uint64_t)defined_find(&ours[i], name))
            return true;
    return false;
}

struct module {
    struct link_map map;         /* l_addr and l_ld alone */
    uint64_t sealed, sealed_end; /* what cannot be written since it was bound */
};

static uint64_t page_of(uint64_t at)
{
    return at & ~(page_bytes - 1);
}

static int protect(const struct module *m, uint64_t at, int rights)
{
    if (at < m->sealed || at >= m->sealed_end)
        return 0;
    return (int)raw_syscall(SYS_mprotect, (long)page_of(at), (long)page_bytes, rights, 0, 0, 0);
}

static void clear(const struct module *m, uint64_t at)
{
    if (protect(m, at, PROT_READ | PROT_WRITE) < 0)
        return;
    *(uint64_t *)at = 0;
    protect(m, at, PROT_READ);
}

static void look_at(const struct module *m, const ElfW(Rela) * relocation, uint64_t bytes)
{
    const struct defined s = defined_in(&m->map);

    for (uint64_t i = 0; s.symbols && i < bytes / sizeof *relocation; i++) {
        const ElfW(Sym) *symbol = &s.symbols[ELF64_R_SYM(relocation[i].r_info)];
        uint64_t at = m->map.l_addr + relocation[i].r_offset;
        const char *name = s.texts + symbol->st_name;

        if (symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_WEAK && *name &&
            is_wrapper(name, *(const uint64_t *)at) && !defined_elsewhere(name, defined_by_us))
            clear(m, at);
    }
}

static void look_into(const struct module *m)
{
    const ElfW(Rela) *all = NULL, *calls = NULL;
    uint64_t bytes = 0, bytes_of_calls = 0, relative = 0;

    for (const ElfW(Dyn) *entry = m->map.l_ld; entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_RELA: all = defined_located(&m->map, entry->d_un.d_ptr); break;
        case DT_RELASZ: bytes = entry->d_un.d_val; break;
        case DT_RELACOUNT: relative = entry->d_un.d_val; break;
        case DT_JMPREL: calls = defined_located(&m->map, entry->d_un.d_ptr); break;
        case DT_PLTRELSZ: bytes_of_calls = entry->d_un.d_val; break;
        }
    if (all && relative * sizeof *all <= bytes)
        look_at(m, all + relative, bytes - relative * sizeof *all);
    if (calls)
        look_at(m, calls, bytes_of_calls);
}

static int look(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct module m = {.map = defined_module(info)};

    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;

        if (header->p_type == PT_GNU_RELRO)
            m.sealed = page_of(start), m.sealed_end = page_of(start + header->p_memsz);
    }
    if (m.map.l_ld && !defined_by_us(&m.map))
        look_into(&m);
    return 0;
}

void weak_forget(void)
{
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (defined_by_us(map) && count < LIBRARIES)
            ours[count++] = defined_in(map);
    page_bytes = __getauxval(AT_PAGESZ);
    libc_each_module(look, NULL);
}
