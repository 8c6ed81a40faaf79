/* SPDX-License-Identifier: BSD-3-Clause */
/* lazy SECONDS: nearly all of its time the loader looks for a function that is called for the first time, as it is told
 * to forget each time where that is. Linked with -z lazy -z norelro. */
#include "burn.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const void **slot, *unbound;

/* An address of the dynamic section: the loader has added where the program lies, or not. */
static const void *within(const struct link_map *map, ElfW(Addr) address)
{
    return (const void *)(address < map->l_addr ? map->l_addr + address : address);
}

/* Where calls of the function jump to, and where they do before its first. */
static void find(const char *name)
{
    const struct link_map *map = _r_debug.r_map;
    const ElfW(Rela) *rela = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    size_t bytes = 0;

    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_JMPREL)
            rela = within(map, d->d_un.d_ptr);
        else if (d->d_tag == DT_PLTRELSZ)
            bytes = d->d_un.d_val;
        else if (d->d_tag == DT_SYMTAB)
            symbols = within(map, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            names = within(map, d->d_un.d_ptr);
    }
    for (size_t i = 0; rela && i < bytes / sizeof *rela; i++)
        if (!strcmp(names + symbols[ELF64_R_SYM(rela[i].r_info)].st_name, name))
            slot = (const void **)(map->l_addr + rela[i].r_offset);
    if (!slot)
        exit(1);
    unbound = *slot;
}

static __attribute__((noinline, noipa)) long inner(long x)
{
    *slot = unbound;
    x += getpagesize();
    __asm__ volatile("");
    return x;
}

/* The place on the stack is of a size that the compiler does not know. */
static __attribute__((noinline, noipa)) long outer(unsigned size)
{
    volatile char place[size];

    place[0] = 1;
    return inner(place[0]) + place[size - 1];
}

int main(int argc, char **argv)
{
    double end = thread_seconds() + (argc > 1 ? atof(argv[1]) : 1);
    long sum = 0;

    find("getpagesize");
    while (thread_seconds() < end)
        for (unsigned i = 1; i < 200; i++)
            sum += outer(i);
    return sum == 0;
}
