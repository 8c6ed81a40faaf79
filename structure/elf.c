/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/elf.h"
#include "structure/elf_kind.h"
#include "structure/unpack.h"
#include "common/guard.h"
#include "common/mem.h"
#include "common/str.h"
#include "common/vec.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

enum { CODE_MOST = 1000 }; /* executable sections: a linked file has some ten, and each is looked at for each address */

static bool inside(const struct elf *elf, uint64_t offset, uint64_t size)
{
    return offset <= elf->size && size <= elf->size - offset;
}

const char *elf_string(const uint8_t *data, size_t size, uint64_t offset)
{
    if (!data || offset >= size || !memchr(data + offset, 0, size - offset))
        return NULL;
    return (const char *)data + offset;
}

/* Section 0 carries the counts that do not fit the header. */
static size_t section_count(struct elf *elf, const Elf64_Ehdr *header, uint32_t *names)
{
    Elf64_Shdr first;
    uint64_t count = header->e_shnum;

    *names = header->e_shstrndx;
    elf->cut_short = header->e_shoff && !inside(elf, header->e_shoff, sizeof first);
    if (!header->e_shoff || header->e_shentsize != sizeof first || elf->cut_short)
        return 0;
    memcpy(&first, elf->data + header->e_shoff, sizeof first);
    if (!count)
        count = first.sh_size;
    if (*names == SHN_XINDEX)
        *names = first.sh_link;
    uint64_t fit = (elf->size - header->e_shoff) / sizeof first;
    elf->cut_short = count > fit;
    return count < fit ? count : fit;
}

static void read_section(const struct elf *elf, const Elf64_Shdr *from, struct elf_section *to)
{
    *to = (struct elf_section){
        .name = "",
        .type = from->sh_type,
        .link = from->sh_link,
        .flags = from->sh_flags,
        .address = from->sh_addr,
        .size = from->sh_size,
        .entry_size = from->sh_entsize,
    };
    if (from->sh_type == SHT_NOBITS || from->sh_type == SHT_NULL || !inside(elf, from->sh_offset, from->sh_size))
        return;
    to->raw = elf->data + from->sh_offset;
    to->raw_size = from->sh_size;
    if (from->sh_flags & SHF_COMPRESSED)
        to->packing = ELF_CHDR;
}

/* .zdebug_info and .debug_info are the same section to every reader. */
static const char *plain_name(const char *name)
{
    static const char *const names[] = {
        ".debug_abbrev",   ".debug_addr",     ".debug_aranges",     ".debug_frame",    ".debug_info",
        ".debug_line",     ".debug_line_str", ".debug_loc",         ".debug_loclists", ".debug_ranges",
        ".debug_rnglists", ".debug_str",      ".debug_str_offsets", ".debug_types",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name + 2, names[i] + 1))
            return names[i];
    return name;
}

static void name_section(struct elf_section *s, const char *name)
{
    if (!name)
        return;
    s->name = name;
    if (!str_begins(name, ".zdebug_"))
        return;
    if (s->packing == ELF_PLAIN)
        s->packing = ELF_ZDEBUG;
    s->name = plain_name(name);
}

static void read_sections(struct elf *elf, const Elf64_Ehdr *header)
{
    uint32_t names;
    Elf64_Shdr raw;

    elf->section_count = section_count(elf, header, &names);
    elf->sections = xcalloc(elf->section_count + 1, sizeof *elf->sections);
    for (size_t i = 0; i < elf->section_count; i++) {
        memcpy(&raw, elf->data + header->e_shoff + i * sizeof raw, sizeof raw);
        read_section(elf, &raw, &elf->sections[i]);
    }
    if (names >= elf->section_count)
        return;
    const struct elf_section *strings = &elf->sections[names];
    for (size_t i = 0; i < elf->section_count; i++) {
        memcpy(&raw, elf->data + header->e_shoff + i * sizeof raw, sizeof raw);
        name_section(&elf->sections[i], elf_string(strings->raw, strings->raw_size, raw.sh_name));
    }
}

/* A note segment or section: name size, descriptor size, type, then both, each padded to 4. */
static void find_build_id(struct elf *elf, const uint8_t *p, size_t size)
{
    elf->notes += size;
    if (elf->notes > 2 * elf->size) /* by segments and by sections, once each */
        return;
    while (!elf->build_id && size >= 12) {
        uint32_t head[3];

        memcpy(head, p, sizeof head);
        uint64_t name = ((uint64_t)head[0] + 3) & ~3ull, desc = ((uint64_t)head[1] + 3) & ~3ull;
        if (12 + name + head[1] > size)
            return;
        if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 && !memcmp(p + 12, "GNU", 4) && head[1]) {
            elf->build_id = p + 12 + name;
            elf->build_id_size = head[1];
        }
        if (12 + name + desc > size)
            return;
        p += 12 + name + desc;
        size -= 12 + name + desc;
    }
}

static void add_segment(struct elf *elf, const Elf64_Phdr *ph)
{
    struct elf_segment *s = &elf->segments[elf->segment_count];

    if (ph->p_vaddr + ph->p_memsz < ph->p_vaddr || ph->p_filesz > ph->p_memsz)
        return;
    *s = (struct elf_segment){
        .address = ph->p_vaddr,
        .executable = ph->p_flags & PF_X,
    };
    if (inside(elf, ph->p_offset, ph->p_filesz)) {
        s->data = elf->data + ph->p_offset;
        s->file_size = ph->p_filesz;
    }
    if (!elf->segment_count || ph->p_vaddr < elf->load_base)
        elf->load_base = ph->p_vaddr & ~4095ull;
    elf->segment_count++;
}

static void read_segments(struct elf *elf, const Elf64_Ehdr *header)
{
    Elf64_Phdr ph;
    size_t count = header->e_phnum;

    elf->segments = xcalloc(count + 1, sizeof *elf->segments);
    if (header->e_phentsize != sizeof ph)
        return;
    for (size_t i = 0; i < count && inside(elf, header->e_phoff, (i + 1) * sizeof ph); i++) {
        memcpy(&ph, elf->data + header->e_phoff + i * sizeof ph, sizeof ph);
        if (ph.p_type == PT_LOAD)
            add_segment(elf, &ph);
        else if (ph.p_type == PT_NOTE && inside(elf, ph.p_offset, ph.p_filesz))
            find_build_id(elf, elf->data + ph.p_offset, ph.p_filesz);
    }
}

/* Only as far as an executable segment brings it into memory. */
static void add_code(struct elf *elf, uint64_t low, uint64_t high)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *s = &elf->segments[i];
        uint64_t end = s->address + s->file_size;

        if (elf->code_count == CODE_MOST) {
            elf->beyond = "executable sections";
            return;
        }
        if (s->executable && s->data && low >= s->address && low < end) {
            elf->code[elf->code_count++] = (struct elf_span){low, high < end ? high : end};
            return;
        }
    }
}

static void find_code(struct elf *elf)
{
    elf->code = xcalloc(elf->section_count + elf->segment_count + 1, sizeof *elf->code);
    for (size_t i = 0; i < elf->section_count; i++) {
        const struct elf_section *s = &elf->sections[i];

        if ((s->flags & SHF_EXECINSTR) && s->type != SHT_NOBITS && s->size && s->address + s->size > s->address)
            add_code(elf, s->address, s->address + s->size);
    }
    for (size_t i = 0; i < elf->segment_count && !elf->section_count; i++)
        add_code(elf, elf->segments[i].address, UINT64_MAX);
}

static struct hq_error *read_all(struct elf *elf)
{
    Elf64_Ehdr header;

    HQ_TRY(elf_check_kind(elf->path, elf->data, elf->size, &header));
    elf->machine = header.e_machine;
    elf->type = header.e_type;
    elf->entry = header.e_entry;
    read_sections(elf, &header);
    read_segments(elf, &header);
    find_code(elf);
    for (size_t i = 0; i < elf->section_count && !elf->build_id; i++)
        if (elf->sections[i].type == SHT_NOTE && elf->sections[i].raw)
            find_build_id(elf, elf->sections[i].raw, elf->sections[i].raw_size);
    return NULL;
}

struct hq_error *elf_open_memory(const char *path, const void *data, size_t size, struct elf **out)
{
    struct elf *elf = xcalloc(1, sizeof *elf);

    elf->path = xstrdup(path);
    elf->data = data;
    elf->size = size;
    struct hq_error *err = read_all(elf);
    if (err) {
        elf_close(elf);
        elf = NULL;
    }
    *out = elf;
    return err;
}

static struct elf_stamp stamp_of(const struct stat *st)
{
    return (struct elf_stamp){st->st_dev, st->st_ino, (uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec};
}

struct hq_error *elf_changed_error(const char *path)
{
    return hq_error_new(HQ_DATA, "%s: was changed by somebody while it was read", path);
}

static bool was_changed(const struct guard *guard, const struct elf_stamp *stamp, const char *path)
{
    struct stat st;

    if (guard_is_broken(guard))
        return true;
    if (stat(path, &st))
        return false;
    struct elf_stamp now = stamp_of(&st);
    return now.device == stamp->device && now.inode == stamp->inode && memcmp(&now, stamp, sizeof now);
}

bool elf_changed(const struct elf *elf)
{
    return elf->guard && was_changed(elf->guard, &elf->stamp, elf->path);
}

static struct hq_error *open_mapped(const char *path, void *data, const struct stat *st, struct elf **out)
{
    struct guard *guard = guard_add(data, (size_t)st->st_size, path, GUARD_ZEROS);
    struct hq_error *err = elf_open_memory(path, data, (size_t)st->st_size, out);
    struct elf_stamp stamp = stamp_of(st);

    if (!err) {
        (*out)->mapped = true;
        (*out)->guard = guard;
        (*out)->stamp = stamp;
        return NULL;
    }
    if (was_changed(guard, &stamp, path)) {
        hq_error_free(err);
        err = elf_changed_error(path);
    }
    guard_remove(guard);
    munmap(data, (size_t)st->st_size);
    return err;
}

struct hq_error *elf_open(const char *path, struct elf **out)
{
    /* A fifo must not hold us up. */
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    *out = NULL;
    if (fd < 0)
        mem_end_if_refused();
    if (fd < 0 || fstat(fd, &st))
        return hq_error_errno(HQ_DATA, "%s: cannot be read", path);
    if (!S_ISREG(st.st_mode))
        return hq_error_new(HQ_DATA, "%s: not a regular file", path);
    /* Nothing can be mapped of an empty file. */
    if (!st.st_size)
        return elf_open_memory(path, NULL, 0, out);
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        mem_end_if_refused();
        return hq_error_errno(HQ_DATA, "cannot map %s", path);
    }
    return open_mapped(path, data, &st, out);
}

void elf_close(struct elf *elf)
{
    if (!elf)
        return;
    for (size_t i = 0; i < elf->section_count; i++)
        unpack_free(elf->sections[i].unpacked, elf->sections[i].unpacked_size);
    guard_remove(elf->guard);
    if (elf->mapped)
        munmap((void *)elf->data, elf->size);
    free(elf->sections);
    free(elf->segments);
    free(elf->code);
    free(elf->unreadable);
    free(elf->path);
    free(elf);
}

struct elf_section *elf_find_section(struct elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->section_count; i++)
        if (elf->sections[i].type != SHT_NULL && !strcmp(elf->sections[i].name, name))
            return &elf->sections[i];
    return NULL;
}

static bool unpack_section(struct elf_section *s)
{
    enum unpack_method method = UNPACK_ZLIB;
    const uint8_t *p = s->raw;
    uint64_t size = 0;
    size_t head;

    if (s->packing == ELF_CHDR) {
        Elf64_Chdr chdr;

        head = sizeof chdr;
        if (s->raw_size < head)
            return false;
        memcpy(&chdr, p, head);
        if (chdr.ch_type != ELFCOMPRESS_ZLIB && chdr.ch_type != ELFCOMPRESS_ZSTD)
            return false;
        method = chdr.ch_type == ELFCOMPRESS_ZSTD ? UNPACK_ZSTD : UNPACK_ZLIB;
        size = chdr.ch_size;
    } else {
        head = 12;
        if (s->raw_size < head || memcmp(p, "ZLIB", 4))
            return false;
        for (int i = 4; i < 12; i++)
            size = size << 8 | p[i];
    }
    s->unpacked = unpack(method, p + head, s->raw_size - head, size);
    s->unpacked_size = s->unpacked ? size : 0;
    return s->unpacked;
}

bool elf_section_data(struct elf *elf, struct elf_section *s, const uint8_t **data, size_t *size)
{
    *data = NULL;
    *size = 0;
    if (!s->raw || s->packing == ELF_BROKEN)
        return false;
    if (s->packing == ELF_CHDR || s->packing == ELF_ZDEBUG) {
        s->packing = unpack_section(s) ? ELF_UNPACKED : ELF_BROKEN;
        if (s->packing == ELF_BROKEN) {
            if (!elf->unreadable)
                elf->unreadable = xstrdup(s->name);
            return false;
        }
    }
    *data = s->packing == ELF_UNPACKED ? s->unpacked : s->raw;
    *size = s->packing == ELF_UNPACKED ? s->unpacked_size : s->raw_size;
    return true;
}

bool elf_read_section(struct elf *elf, const char *name, const uint8_t **data, size_t *size)
{
    struct elf_section *s = elf_find_section(elf, name);

    *data = NULL;
    *size = 0;
    return s && elf_section_data(elf, s, data, size);
}

const uint8_t *elf_at(const struct elf *elf, uint64_t address, size_t *available)
{
    *available = 0;
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *s = &elf->segments[i];

        if (!s->data || address < s->address || address - s->address >= s->file_size)
            continue;
        *available = s->file_size - (address - s->address);
        return s->data + (address - s->address);
    }
    return NULL;
}

uint64_t elf_executable_end(const struct elf *elf, uint64_t address)
{
    for (size_t i = 0; i < elf->code_count; i++)
        if (address >= elf->code[i].low && address < elf->code[i].high)
            return elf->code[i].high;
    return 0;
}

const struct elf_section *elf_section_at(const struct elf *elf, uint64_t address)
{
    for (size_t i = 0; i < elf->section_count; i++) {
        const struct elf_section *s = &elf->sections[i];

        if ((s->flags & SHF_ALLOC) && !(s->flags & SHF_TLS) && s->type != SHT_NULL && address >= s->address &&
            address - s->address < s->size)
            return s;
    }
    return NULL;
}

void elf_read_symbols(struct elf *elf, const char *table, struct elf_symbols *out)
{
    struct elf_section *s = elf_find_section(elf, table);
    const uint8_t *data, *strings;
    size_t size, strings_size;

    if (!s || s->link >= elf->section_count || !elf_section_data(elf, s, &data, &size) ||
        !elf_section_data(elf, &elf->sections[s->link], &strings, &strings_size))
        return;
    vec_reserve(out, size / sizeof(Elf64_Sym));
    /* Names may be the ends of others, but not all of one long one. */
    uint64_t bytes = 0, most = 16 * (uint64_t)strings_size + (1u << 20);
    for (size_t at = 0; size - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
        Elf64_Sym sym;

        memcpy(&sym, data + at, sizeof sym);
        const char *name = sym.st_name ? elf_string(strings, strings_size, sym.st_name) : NULL;
        if (!name || !*name)
            continue;
        bytes += strlen(name);
        if (bytes > most) {
            elf->beyond = "names of symbols";
            return;
        }
        vec_push(out, (struct elf_symbol){.name = name,
                                          .value = sym.st_value,
                                          .size = sym.st_size,
                                          .type = ELF64_ST_TYPE(sym.st_info),
                                          .binding = ELF64_ST_BIND(sym.st_info),
                                          .section = sym.st_shndx});
    }
}

bool elf_debuglink(struct elf *elf, const char **name, uint32_t *crc)
{
    const uint8_t *data;
    size_t size;

    if (!elf_read_section(elf, ".gnu_debuglink", &data, &size) || !(*name = elf_string(data, size, 0)))
        return false;
    size_t at = (strlen(*name) + 4) & ~3ul;
    if (at > size || size - at < sizeof *crc)
        return false;
    memcpy(crc, data + at, sizeof *crc);
    return **name;
}

bool elf_debugaltlink(struct elf *elf, const char **name, const uint8_t **build_id, size_t *build_id_size)
{
    const uint8_t *data;
    size_t size;

    if (!elf_read_section(elf, ".gnu_debugaltlink", &data, &size) || !(*name = elf_string(data, size, 0)))
        return false;
    *build_id = data + strlen(*name) + 1;
    *build_id_size = size - strlen(*name) - 1;
    return **name;
}
