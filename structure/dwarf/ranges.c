/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Range lists, read directly: DWARF 5 standard, sections 2.17.3 and 7.25; DWARF 4, section 2.17.3. libdwarf 20210528
 * frees memory twice when the header of .debug_rnglists is damaged.
 */
#include "structure/dwarf/impl.h"
#include "common/cursor.h"

/* Code that the linker dropped leaves ranges at 0, at -1 or past the text: only what is executable counts. */
static void add_range(const struct dwarf *d, uint64_t low, uint64_t high, struct dwarf_ranges *out)
{
    uint64_t end = low ? elf_executable_end(d->text, low) : 0;

    if (high <= low || !end || high > end)
        return;
    vec_push(out, (struct dwarf_range){low, high});
}

static bool open_section(const struct dwarf_file *f, const char *name, uint64_t offset, struct cursor *out)
{
    const uint8_t *data;
    size_t size;

    if (!elf_read_section(f->elf, name, &data, &size) || offset >= size)
        return false;
    *out = cursor_make(f->elf->path, name, data + offset, size - offset);
    return true;
}

uint64_t dwarf_indexed_address(const struct dwarf_file *f, const struct dwarf_bases *bases, uint64_t index)
{
    struct cursor c;

    if (index > UINT32_MAX || !open_section(f->main ? f->main : f, ".debug_addr", bases->addresses, &c))
        return 0;
    cursor_seek(&c, index * 8);
    return cursor_u64(&c);
}

static const char *lists5(const struct dwarf_file *f)
{
    return f->main ? ".debug_rnglists.dwo" : ".debug_rnglists";
}

static void read_list5(struct dwarf *d, const struct dwarf_file *f, const struct dwarf_bases *bases, uint64_t offset,
                       struct dwarf_ranges *out)
{
    uint64_t base = bases->low, low, high;
    struct cursor c;

    if (!open_section(f, lists5(f), offset, &c))
        return;
    while (cursor_left(&c) && dwarf_spend(d, 1)) {
        uint8_t kind = cursor_u8(&c);

        switch (kind) {
        case DW_RLE_base_addressx: base = dwarf_indexed_address(f, bases, cursor_uleb(&c)); continue;
        case DW_RLE_base_address: base = cursor_u64(&c); continue;
        case DW_RLE_startx_endx:
            low = dwarf_indexed_address(f, bases, cursor_uleb(&c));
            high = dwarf_indexed_address(f, bases, cursor_uleb(&c));
            break;
        case DW_RLE_startx_length:
            low = dwarf_indexed_address(f, bases, cursor_uleb(&c));
            high = low + cursor_uleb(&c);
            break;
        case DW_RLE_offset_pair:
            low = base + cursor_uleb(&c);
            high = base + cursor_uleb(&c);
            break;
        case DW_RLE_start_end:
            low = cursor_u64(&c);
            high = cursor_u64(&c);
            break;
        case DW_RLE_start_length:
            low = cursor_u64(&c);
            high = low + cursor_uleb(&c);
            break;
        default: return;
        }
        if (cursor_ok(&c))
            add_range(d, low, high, out);
    }
}

static void read_list4(struct dwarf *d, const struct dwarf_file *f, uint64_t base, uint64_t offset,
                       struct dwarf_ranges *out)
{
    struct cursor c;

    if (!open_section(f->main ? f->main : f, ".debug_ranges", offset, &c))
        return;
    while (cursor_left(&c) >= 16 && dwarf_spend(d, 1)) {
        uint64_t low = cursor_u64(&c), high = cursor_u64(&c);

        if (!low && !high)
            return;
        if (low == UINT64_MAX)
            base = high;
        else
            add_range(d, base + low, base + high, out);
    }
}

/* A number of a list goes through the table of offsets that the unit's base points behind the header of. */
static bool indexed_list(const struct dwarf_file *f, const struct dwarf_bases *bases, uint64_t index, bool wide,
                         uint64_t *out)
{
    struct cursor c;

    if (index > UINT32_MAX || !open_section(f, lists5(f), bases->ranges, &c))
        return false;
    cursor_seek(&c, index * (wide ? 8 : 4));
    *out = bases->ranges + (wide ? cursor_u64(&c) : cursor_u32(&c));
    return cursor_ok(&c);
}

void dwarf_ranges_read(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, const struct dwarf_attrs *a,
                       const struct dwarf_bases *bases, struct dwarf_ranges *out)
{
    Dwarf_Half version = 0, offset_size = 4;
    uint64_t offset = a->ranges;

    if (!a->has_ranges) {
        if (a->has_high)
            add_range(d, a->low, a->high, out);
        return;
    }
    if (dwarf_get_version_of_die(die, &version, &offset_size) != DW_DLV_OK)
        return;
    if (a->ranges_form == DW_FORM_rnglistx && !indexed_list(f, bases, a->ranges, offset_size == 8, &offset))
        return;
    if (version >= 5)
        read_list5(d, f, bases, offset, out);
    else
        read_list4(d, f, bases->low, f->main ? bases->ranges + offset : offset, out);
}
