/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packages of split debug information (BINARY.dwp, made by dwp or llvm-dwp): an index says which part of each section
 * belongs to which unit, and a file of those parts reads as the unit's own .dwo would. DWARF 5 standard, section 7.3.5;
 * the GNU form before it for DWARF 4 (gcc.gnu.org/wiki/DebugFissionDWP). Type units are not needed here.
 */
#include "structure/dwarf/impl.h"
#include "common/cursor.h"
#include "common/file.h"
#include "common/mem.h"
#include <string.h>

#define INDEX       ".debug_cu_index"
#define MAX_COLUMNS 8

/* By their numbers in the index, for version 2 and 5; what is not named is not read here. */
static const char *const names[2][MAX_COLUMNS + 1] = {
    {[1] = ".debug_info.dwo", [3] = ".debug_abbrev.dwo", [6] = ".debug_str_offsets.dwo"},
    {[1] = ".debug_info.dwo", [3] = ".debug_abbrev.dwo", [6] = ".debug_str_offsets.dwo", [8] = ".debug_rnglists.dwo"},
};

struct index {
    struct cursor at;
    uint32_t version, columns, units, slots;
    uint64_t rows, kinds, offsets, sizes; /* where each table begins */
};

static bool read_index(struct elf *package, struct index *out)
{
    const uint8_t *data;
    size_t size;

    if (!elf_read_section(package, INDEX, &data, &size))
        return false;
    *out = (struct index){.at = cursor_make(package->path, INDEX, data, size)};
    /* A short and padding in version 5, one number before: the same bytes. */
    out->version = cursor_u32(&out->at);
    out->columns = cursor_u32(&out->at);
    out->units = cursor_u32(&out->at);
    out->slots = cursor_u32(&out->at);
    out->rows = 16 + 8ull * out->slots;
    out->kinds = out->rows + 4ull * out->slots;
    out->offsets = out->kinds + 4ull * out->columns;
    out->sizes = out->offsets + 4ull * out->columns * out->units;
    return cursor_ok(&out->at) && (out->version == 2 || out->version == 5) && out->columns &&
           out->columns <= MAX_COLUMNS && out->slots && !(out->slots & (out->slots - 1)) &&
           out->sizes + 4ull * out->columns * out->units <= size;
}

static uint64_t number_at(struct index *x, uint64_t offset, bool wide)
{
    cursor_seek(&x->at, offset);
    return wide ? cursor_u64(&x->at) : cursor_u32(&x->at);
}

/* The row of a unit, counted from 0. */
static bool find_row(struct index *x, uint64_t id, uint32_t *out)
{
    uint32_t mask = x->slots - 1, slot = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;

    for (uint32_t tries = 0; tries < x->slots; tries++, slot = (slot + step) & mask) {
        uint64_t row = number_at(x, x->rows + 4ull * slot, false);

        if (!row)
            return false;
        if (number_at(x, 16 + 8ull * slot, true) == id) {
            *out = (uint32_t)row - 1;
            return row <= x->units;
        }
    }
    return false;
}

/* Part of a section; all of it for a size of UINT64_MAX. */
static void add_part(struct elf *out, struct elf *package, const char *name, uint64_t offset, uint64_t size)
{
    const uint8_t *data;
    size_t whole;

    if (!elf_read_section(package, name, &data, &whole) || offset > whole)
        return;
    if (size > whole - offset)
        size = whole - offset;
    out->sections[out->section_count++] = (struct elf_section){
        .name = name, .type = SHT_PROGBITS, .size = size, .raw = data + offset, .raw_size = size};
}

struct elf *dwarf_package_unit(struct elf *package, uint64_t id)
{
    struct index x;
    uint32_t row;

    if (!id || !read_index(package, &x) || !find_row(&x, id, &row))
        return NULL;
    struct elf *out = xcalloc(1, sizeof *out);
    out->path = xstrdup(package->path);
    out->sections = xcalloc(MAX_COLUMNS + 1, sizeof *out->sections);
    for (uint32_t i = 0; i < x.columns; i++) {
        uint64_t kind = number_at(&x, x.kinds + 4ull * i, false), cell = 4 * ((uint64_t)row * x.columns + i);
        const char *name = kind <= MAX_COLUMNS ? names[x.version == 5][kind] : NULL;

        if (name)
            add_part(out, package, name, number_at(&x, x.offsets + cell, false), number_at(&x, x.sizes + cell, false));
    }
    add_part(out, package, ".debug_str.dwo", 0, UINT64_MAX);
    return out;
}
