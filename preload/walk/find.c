/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/walk/find.h"

#include "preload/libc.h"
#include "preload/walk/loose.h"
#include "preload/raw.h"

#include <elf.h>
#include <string.h>

enum { HEADERS_MAX = 64 };

/* As glibc 2.35 defines it, whose header may be older here. */
struct answer {
    uint64_t flags;
    void *start, *end;
    struct link_map *map;
    void *eh_frame;
    uint64_t reserved[7];
};
static int (*ask)(void *, struct answer *);

void find_prepare(void)
{
#ifndef HQ_FIND_BY_MAPPINGS /* tests compile the other way too */
    ask = (int (*)(void *, struct answer *))libc_find("_dl_find_object");
#endif
}

bool find_is_quick(void)
{
    return ask != NULL;
}

/* From the segments. False if there are none. */
static bool measure(const Elf64_Phdr *header, int count, uint64_t base, struct object *object)
{
    *object = (struct object){.base = base};
    for (int i = 0; i < count; i++, header++) {
        uint64_t start = base + (header->p_vaddr & ~4095ull), end = base + header->p_vaddr + header->p_memsz;

        if (header->p_type == PT_GNU_EH_FRAME)
            object->eh_frame_hdr = (const uint8_t *)(base + header->p_vaddr);
        if (header->p_type != PT_LOAD)
            continue;
        if (!object->end || start < object->start)
            object->start = start;
        if (end > object->end)
            object->end = end;
    }
    return object->end != 0;
}

bool find_object_of(const struct dl_phdr_info *info, struct object *object)
{
    return measure(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, object);
}

static bool find_by_mappings(uint64_t address, struct object *object)
{
    uint64_t image = loose_image(address);
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)image;

    if (!image || !raw_readable(image) || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
        elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_phnum > HEADERS_MAX ||
        elf->e_phoff + elf->e_phnum * sizeof(Elf64_Phdr) > 4096)
        return false;
    const Elf64_Phdr *headers = (const Elf64_Phdr *)(image + elf->e_phoff);
    uint64_t base = image;
    for (int i = 0; i < elf->e_phnum; i++)
        if (headers[i].p_type == PT_LOAD && headers[i].p_offset < 4096) {
            base = image - (headers[i].p_vaddr & ~4095ull);
            break;
        }
    return measure(headers, elf->e_phnum, base, object) && address >= object->start && address < object->end;
}

bool find_extent(uint64_t address, struct object *object)
{
    struct answer answer;

    if (ask((void *)address, &answer) != 0)
        return false;
    *object = (struct object){.start = (uint64_t)answer.start,
                              .end = (uint64_t)answer.end,
                              .eh_frame_hdr = answer.eh_frame,
                              .map = answer.map};
    return true;
}

bool find_object(uint64_t address, struct object *object)
{
    if (!ask)
        return find_by_mappings(address, object);
    if (!find_extent(address, object))
        return false;
    object->base = object->map->l_addr;
    return true;
}

const char *find_name(const struct object *object, char *path, size_t room)
{
    static const char DELETED[] = " (deleted)";

    if (object->map)
        return object->map->l_name;
    if (!loose_path(object->start, path, room))
        return "";
    size_t length = strlen(path), suffix = sizeof DELETED - 1;
    if (length > suffix && !strcmp(path + length - suffix, DELETED))
        path[length - suffix] = 0;
    return path;
}
