/* SPDX-License-Identifier: BSD-3-Clause */
/* One DIE as plain data. */
#include "structure/dwarf/impl.h"
#include <string.h>

/* The list of offsets in .debug_str_offsets.dwo begins behind the header of the only table; the GNU form has none. */
enum { STRINGS_HEADER = 8, STRINGS_HEADER_64 = 16 };

/* A string of split debug information by its number. libdwarf looks for it where the skeleton of the unit has its own
 * (DW_AT_str_offsets_base), so that names of all units but the first are those of others. */
static const char *indexed_string(const struct dwarf_file *f, Dwarf_Half form, uint64_t index)
{
    const uint8_t *offsets, *strings;
    size_t size, strings_size;
    uint64_t wide = 0, at = 0;
    uint32_t narrow = 0;

    if (!elf_read_section(f->elf, ".debug_str_offsets.dwo", &offsets, &size) ||
        !elf_read_section(f->elf, ".debug_str.dwo", &strings, &strings_size) || size < STRINGS_HEADER_64 ||
        index > size)
        return NULL;
    memcpy(&narrow, offsets, sizeof narrow);
    bool is_wide = form != DW_FORM_GNU_str_index && narrow == UINT32_MAX;
    if (form != DW_FORM_GNU_str_index)
        at = is_wide ? STRINGS_HEADER_64 : STRINGS_HEADER;
    at += index * (is_wide ? sizeof wide : sizeof narrow);
    if (at + (is_wide ? sizeof wide : sizeof narrow) > size)
        return NULL;
    memcpy(&narrow, offsets + at, sizeof narrow);
    if (is_wide)
        memcpy(&wide, offsets + at, sizeof wide);
    return elf_string(strings, strings_size, is_wide ? wide : narrow);
}

static bool is_index(Dwarf_Half form)
{
    return form == DW_FORM_GNU_str_index || form == DW_FORM_strx || form == DW_FORM_strx1 || form == DW_FORM_strx2 ||
           form == DW_FORM_strx3 || form == DW_FORM_strx4;
}

static const char *form_string(const struct dwarf_file *f, Dwarf_Attribute attr)
{
    Dwarf_Error err = NULL;
    Dwarf_Unsigned index;
    Dwarf_Half form;
    char *s = NULL;

    if (f->main && dwarf_ok(f->dbg, dwarf_whatform(attr, &form, &err), &err) && is_index(form) &&
        dwarf_ok(f->dbg, dwarf_get_debug_str_index(attr, &index, &err), &err))
        return indexed_string(f, form, index);
    return dwarf_ok(f->dbg, dwarf_formstring(attr, &s, &err), &err) ? s : NULL;
}

static bool form_unsigned(Dwarf_Debug dbg, Dwarf_Attribute attr, uint64_t *out)
{
    Dwarf_Error err = NULL;
    Dwarf_Unsigned u;
    Dwarf_Signed s;

    if (dwarf_ok(dbg, dwarf_formudata(attr, &u, &err), &err))
        *out = u;
    else if (dwarf_ok(dbg, dwarf_formsdata(attr, &s, &err), &err) && s >= 0)
        *out = (uint64_t)s;
    else
        return false;
    return true;
}

static bool form_flag(Dwarf_Debug dbg, Dwarf_Attribute attr)
{
    Dwarf_Error err = NULL;
    Dwarf_Bool flag = 0;

    return dwarf_ok(dbg, dwarf_formflag(attr, &flag, &err), &err) && flag;
}

static bool form_address(const struct dwarf_file *f, Dwarf_Attribute attr, uint64_t *out)
{
    Dwarf_Debug dbg = f->dbg;
    Dwarf_Error err = NULL;
    Dwarf_Unsigned index;
    Dwarf_Addr a;

    if (f->main && dwarf_ok(dbg, dwarf_get_debug_addr_index(attr, &index, &err), &err)) {
        *out = dwarf_indexed_address(f, &f->bases, index);
        return true;
    }
    if (!dwarf_ok(dbg, dwarf_formaddr(attr, &a, &err), &err))
        return false;
    *out = a;
    return true;
}

/* A high address is one, or an offset from the low one, by its form. */
static bool form_address_or_offset(const struct dwarf_file *f, Dwarf_Attribute attr, uint64_t *value, bool *is_offset)
{
    Dwarf_Error err = NULL;
    Dwarf_Half form = 0;

    if (!dwarf_ok(f->dbg, dwarf_whatform(attr, &form, &err), &err))
        return false;
    *is_offset = form != DW_FORM_addr && form != DW_FORM_addrx && form != DW_FORM_GNU_addr_index &&
                 form != DW_FORM_addrx1 && form != DW_FORM_addrx2 && form != DW_FORM_addrx3 && form != DW_FORM_addrx4;
    return *is_offset ? form_unsigned(f->dbg, attr, value) : form_address(f, attr, value);
}

/* dwz moves what several files share into a common file: references into it have forms of their own. */
static void read_reference(struct dwarf *d, const struct dwarf_file *f, Dwarf_Attribute attr, struct dwarf_attrs *out)
{
    Dwarf_Error err = NULL;
    Dwarf_Half form = 0;
    Dwarf_Off offset;

    if (!dwarf_ok(f->dbg, dwarf_whatform(attr, &form, &err), &err))
        return;
    if (!dwarf_ok(f->dbg, dwarf_global_formref(attr, &offset, &err), &err))
        return;
    bool in_alt = form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8;
    if (in_alt && !d->alt.dbg)
        return;
    out->origin = offset;
    out->origin_file = in_alt ? &d->alt : f;
}

/* DWARF 3 and earlier have plain numbers for offsets. */
static bool read_section_offset(const struct dwarf_file *f, Dwarf_Attribute attr, uint64_t *out)
{
    Dwarf_Error err = NULL;
    Dwarf_Off offset;

    if (!dwarf_ok(f->dbg, dwarf_global_formref(attr, &offset, &err), &err))
        return form_unsigned(f->dbg, attr, out);
    *out = offset;
    return true;
}

static void read_attr(struct dwarf *d, const struct dwarf_file *f, Dwarf_Half code, Dwarf_Attribute attr,
                      struct dwarf_attrs *a, bool *high_is_offset)
{
    Dwarf_Debug dbg = f->dbg;
    Dwarf_Error err = NULL;
    uint64_t u;

    switch (code) {
    case DW_AT_low_pc: a->has_low = form_address(f, attr, &a->low); break;
    case DW_AT_high_pc: a->has_high = form_address_or_offset(f, attr, &a->high, high_is_offset); break;
    case DW_AT_name: a->name = form_string(f, attr); break;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name: a->linkage = form_string(f, attr); break;
    case DW_AT_comp_dir: a->comp_dir = form_string(f, attr); break;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name: a->dwo_name = form_string(f, attr); break;
    case DW_AT_decl_file: a->has_decl_file = form_unsigned(dbg, attr, &a->decl_file); break;
    case DW_AT_decl_line: form_unsigned(dbg, attr, &a->decl_line); break;
    case DW_AT_call_file: a->has_call_file = form_unsigned(dbg, attr, &a->call_file); break;
    case DW_AT_call_line: form_unsigned(dbg, attr, &a->call_line); break;
    case DW_AT_inline: a->inlined = form_unsigned(dbg, attr, &u) ? (Dwarf_Half)u : 0; break;
    case DW_AT_noreturn: a->noreturn = form_flag(dbg, attr); break;
    case DW_AT_declaration: a->declaration = form_flag(dbg, attr); break;
    case DW_AT_abstract_origin:
    case DW_AT_specification: read_reference(d, f, attr, a); break;
    case DW_AT_stmt_list: a->has_lines = read_section_offset(f, attr, &a->lines); break;
    case DW_AT_ranges:
        a->has_ranges = dwarf_ok(dbg, dwarf_whatform(attr, &a->ranges_form, &err), &err) &&
                        (a->ranges_form == DW_FORM_sec_offset ? read_section_offset(f, attr, &a->ranges)
                                                              : form_unsigned(dbg, attr, &a->ranges));
        break;
    case DW_AT_GNU_dwo_id: form_unsigned(dbg, attr, &a->gnu_dwo_id); break;
    case DW_AT_GNU_ranges_base: read_section_offset(f, attr, &a->gnu_ranges_base); break;
    case DW_AT_rnglists_base: read_section_offset(f, attr, &a->bases.ranges); break;
    case DW_AT_GNU_addr_base:
    case DW_AT_addr_base: read_section_offset(f, attr, &a->bases.addresses); break;
    default: break;
    }
}

void dwarf_attrs_read(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, struct dwarf_attrs *a)
{
    Dwarf_Error err = NULL;
    Dwarf_Attribute *list;
    Dwarf_Signed count;
    bool high_is_offset = false;

    memset(a, 0, sizeof *a);
    if (!dwarf_ok(f->dbg, dwarf_attrlist(die, &list, &count, &err), &err))
        return;
    for (Dwarf_Signed i = 0; i < count; i++) {
        Dwarf_Half code = 0;

        if (dwarf_ok(f->dbg, dwarf_whatattr(list[i], &code, &err), &err))
            read_attr(d, f, code, list[i], a, &high_is_offset);
        dwarf_dealloc_attribute(list[i]);
    }
    dwarf_dealloc(f->dbg, list, DW_DLA_LIST);
    a->bases.low = a->low;
    if (high_is_offset)
        a->high += a->low;
    a->has_high = a->has_high && a->has_low && a->high > a->low;
}

uint64_t dwarf_number(const struct dwarf_file *f, Dwarf_Die die, Dwarf_Half attribute)
{
    Dwarf_Error err = NULL;
    Dwarf_Attribute attr = NULL;
    uint64_t value = 0;

    if (!dwarf_ok(f->dbg, dwarf_attr(die, attribute, &attr, &err), &err))
        return 0;
    form_unsigned(f->dbg, attr, &value);
    dwarf_dealloc_attribute(attr);
    return value;
}

enum { DIE_COST = 16 }; /* beside an entry of a list */

/*
 * Offsets must grow: a damaged sibling reference could otherwise lead back, for ever. One that leads forwards, into
 * what is below another DIE, has that read once more, and all below it: each of them is paid for.
 */
bool dwarf_children(const struct dwarf_file *f, Dwarf_Die parent, dwarf_child_fn *fn, void *arg)
{
    Dwarf_Debug dbg = f->dbg;
    Dwarf_Error err = NULL;
    Dwarf_Die die = NULL, next = NULL;
    Dwarf_Off last = 0, offset = 0;

    if (!dwarf_ok(dbg, dwarf_dieoffset(parent, &last, &err), &err))
        return false;
    int rc = dwarf_child(parent, &die, &err);

    while (dwarf_ok(dbg, rc, &err)) {
        if (!dwarf_ok(dbg, dwarf_dieoffset(die, &offset, &err), &err) || offset <= last ||
            !dwarf_spend(f->dwarf, DIE_COST))
            rc = DW_DLV_ERROR;
        last = offset;
        if (rc == DW_DLV_OK) {
            fn(arg, die, offset);
            rc = dwarf_siblingof_b(dbg, die, 1, &next, &err);
        }
        dwarf_dealloc_die(die);
        die = next;
    }
    return rc == DW_DLV_NO_ENTRY;
}
