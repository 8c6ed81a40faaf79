/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/tools/measurements/reader.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void elf_names_open(const char *file, struct elf_names *s)
{
    int fd = open(file, O_RDONLY);
    struct stat st;

    memset(s, 0, sizeof *s);
    if (fd < 0)
        return;
    fstat(fd, &st);
    s->data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (s->data == MAP_FAILED) {
        s->data = NULL;
        return;
    }
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)s->data;
    const Elf64_Shdr *h = (const Elf64_Shdr *)(s->data + e->e_shoff);
    for (int i = 0; e->e_shoff && i < e->e_shnum; i++)
        if (h[i].sh_type == SHT_SYMTAB || h[i].sh_type == SHT_DYNSYM) {
            int k = h[i].sh_type == SHT_DYNSYM;
            s->table[k] = (const Elf64_Sym *)(s->data + h[i].sh_offset);
            s->count[k] = h[i].sh_size / sizeof(Elf64_Sym);
            s->names[k] = s->data + h[h[i].sh_link].sh_offset;
        }
}

const char *elf_names_at(const struct elf_names *s, uint64_t offset)
{
    const char *best = NULL;
    uint64_t start = 0;

    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < s->count[k]; i++) {
            const Elf64_Sym *y = &s->table[k][i];
            if (ELF64_ST_TYPE(y->st_info) == STT_FUNC && y->st_shndx && offset >= y->st_value &&
                (offset < y->st_value + y->st_size || (!y->st_size && offset == y->st_value)) &&
                (!best || y->st_value > start)) {
                best = s->names[k] + y->st_name;
                start = y->st_value;
            }
        }
    return best;
}
