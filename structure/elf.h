/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A 64-bit little-endian ELF file for x86-64 or aarch64, mapped read-only. Nothing the file says is believed: every
 * offset, count and index is checked against the mapping, and what does not fit reads as absent. Compressed sections
 * (SHF_COMPRESSED with zlib or zstd, and the older .zdebug form) are decompressed on first use and kept until
 * elf_close.
 *
 * A file that is cut short meanwhile reads as zeros; whether that or another change happened is asked when all is read
 * (elf_changed).
 *
 * A struct elf belongs to one thread. Addresses are link-time virtual addresses.
 * Format: System V ABI, chapters 4 and 5, and the processors' supplements; GNU notes and .gnu_debuglink as binutils
 * writes them.
 */
#ifndef HQ_STRUCTURE_ELF_H
#define HQ_STRUCTURE_ELF_H

#include "common/err.h"
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_section {
    const char *name; /* "" if the name is unreadable; without the z of .zdebug_ */
    uint32_t type, link;
    uint64_t flags, address;
    uint64_t size; /* in memory: of NOBITS too, which have no data */
    uint64_t entry_size;
    const uint8_t *raw; /* as in the file; NULL if there is none or it lies outside the file */
    size_t raw_size;
    uint8_t *unpacked; /* private: decompressed bytes, owned */
    size_t unpacked_size;
    enum { ELF_PLAIN, ELF_CHDR, ELF_ZDEBUG, ELF_UNPACKED, ELF_BROKEN } packing;
};

struct elf_segment { /* PT_LOAD */
    uint64_t address, file_size;
    const uint8_t *data; /* file_size bytes */
    bool executable;
};

struct elf {
    uint16_t machine; /* EM_* */
    char *path;
    const uint8_t *data;
    size_t size;
    bool mapped;         /* data is ours to unmap */
    struct guard *guard; /* of a mapped file; else NULL */
    struct elf_stamp {
        uint64_t device, inode, seconds, nanoseconds;
    } stamp;       /* of that file when it was opened */
    uint16_t type; /* ET_EXEC, ET_DYN, ... */
    uint64_t entry;
    struct elf_section *sections;
    size_t section_count;
    struct elf_segment *segments;
    size_t segment_count;
    struct elf_span {
        uint64_t low, high;
    } * code; /* executable sections; segments where there are no sections */
    size_t code_count;
    const uint8_t *build_id; /* NULL if there is none */
    size_t build_id_size;
    uint64_t load_base; /* lowest PT_LOAD address, page aligned down: what a load address stands for */
    bool cut_short;     /* the section headers, which linkers write last, lie behind the end of the file */
    char *unreadable;   /* NULL, or the name of a section that could not be decompressed */
    const char *beyond; /* NULL, or what it has more of than linkers make: the rest of it is not read */
    size_t notes;       /* bytes of notes that were read */
};

/* Opens a file; *out is ended with elf_close. Errors: no such file, not a file, not an ELF file for a processor that is
 * known, changed while it was read. */
struct hq_error *elf_open(const char *path, struct elf **out);
/* Like elf_open, for bytes in memory, which stay the caller's and must outlive the result; path is for messages. */
struct hq_error *elf_open_memory(const char *path, const void *data, size_t size, struct elf **out);
void elf_close(struct elf *elf);
/* Whether the file was written to since it was opened, so that what was read of it may be wrong. One that was replaced
 * is as it was. */
bool elf_changed(const struct elf *elf);
struct hq_error *elf_changed_error(const char *path);

/* Returns the first section of that name; NULL if there is none. */
struct elf_section *elf_find_section(struct elf *elf, const char *name);
/* The contents, decompressed; false (and *size 0) if there are none. Valid until elf_close. */
bool elf_section_data(struct elf *elf, struct elf_section *section, const uint8_t **data, size_t *size);
/* Like elf_section_data, for the section of that name. */
bool elf_read_section(struct elf *elf, const char *name, const uint8_t **data, size_t *size);

/* File bytes behind an address, through the segments; *available is how many follow. NULL if there are none. */
const uint8_t *elf_at(const struct elf *elf, uint64_t address, size_t *available);
/* The end of the executable section (or segment) that holds the address; 0 if it is in none. All of it is in the file.
 */
uint64_t elf_executable_end(const struct elf *elf, uint64_t address);
/* The allocated section that holds an address, NULL if there is none (sections may be stripped). */
const struct elf_section *elf_section_at(const struct elf *elf, uint64_t address);

/* A NUL-terminated string in `data`, NULL if it does not end there. */
const char *elf_string(const uint8_t *data, size_t size, uint64_t offset);

/* Symbols of .symtab or .dynsym (`table`), in the order of the file. */
struct elf_symbol {
    const char *name;
    uint64_t value, size;
    uint8_t type, binding; /* STT_*, STB_* */
    uint16_t section;      /* SHN_* or index */
};
struct elf_symbols {
    struct elf_symbol *data;
    size_t len, cap;
};
/* Appends the symbols of a table that have a name. */
void elf_read_symbols(struct elf *elf, const char *table, struct elf_symbols *out);

/* The name and checksum of .gnu_debuglink, and the name in .gnu_debugaltlink with its build-id; false if absent. */
bool elf_debuglink(struct elf *elf, const char **name, uint32_t *crc);
bool elf_debugaltlink(struct elf *elf, const char **name, const uint8_t **build_id, size_t *build_id_size);

#endif
