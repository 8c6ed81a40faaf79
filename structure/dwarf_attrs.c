/* SPDX-License-Identifier: BSD-3-Clause */
/* One DIE as plain data, and its address ranges. */
#include "structure/dwarf_impl.h"
#include <string.h>

static const char *form_string(Dwarf_Debug dbg, Dwarf_Attribute attr)
{
    Dwarf_Error err = NULL;
    char *s = NULL;

    return dwarf_ok(dbg, dwarf_formstring(attr, &s, &err), &err) ? s : NULL;
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

static bool form_address(Dwarf_Debug dbg, Dwarf_Attribute attr, uint64_t *out)
{
    Dwarf_Error err = NULL;
    Dwarf_Addr a;

    if (!dwarf_ok(dbg, dwarf_formaddr(attr, &a, &err), &err))
        return false;
    *out = a;
    return true;
}

/* High and entry addresses are addresses or offsets from the low one, by form. */
static bool form_address_or_offset(Dwarf_Debug dbg, Dwarf_Attribute attr, uint64_t *value, bool *is_offset)
{
    Dwarf_Error err = NULL;
    Dwarf_Half form = 0;

    if (!dwarf_ok(dbg, dwarf_whatform(attr, &form, &err), &err))
        return false;
    *is_offset = form != DW_FORM_addr && form != DW_FORM_addrx && form != DW_FORM_GNU_addr_index &&
                 form != DW_FORM_addrx1 && form != DW_FORM_addrx2 && form != DW_FORM_addrx3 && form != DW_FORM_addrx4;
    return *is_offset ? form_unsigned(dbg, attr, value) : form_address(dbg, attr, value);
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

struct offsets {
    uint64_t high, entry;
    bool high_offset, entry_offset;
};

static void read_attr(struct dwarf *d, const struct dwarf_file *f, Dwarf_Half code, Dwarf_Attribute attr,
                      struct dwarf_attrs *a, struct offsets *o)
{
    Dwarf_Debug dbg = f->dbg;
    Dwarf_Error err = NULL;
    uint64_t u;

    switch (code) {
    case DW_AT_low_pc: a->has_low = form_address(dbg, attr, &a->low); break;
    case DW_AT_high_pc: a->has_high = form_address_or_offset(dbg, attr, &o->high, &o->high_offset); break;
    case DW_AT_entry_pc: a->has_entry = form_address_or_offset(dbg, attr, &o->entry, &o->entry_offset); break;
    case DW_AT_name: a->name = form_string(dbg, attr); break;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name: a->linkage = form_string(dbg, attr); break;
    case DW_AT_comp_dir: a->comp_dir = form_string(dbg, attr); break;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name: a->dwo_name = form_string(dbg, attr); break;
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
        a->has_ranges = dwarf_ok(dbg, dwarf_whatform(attr, &a->ranges_form, &err), &err);
        break;
    default: break;
    }
}

static bool read_ranges_value(const struct dwarf_file *f, Dwarf_Attribute attr, Dwarf_Half form, uint64_t *out)
{
    return form == DW_FORM_sec_offset ? read_section_offset(f, attr, out) : form_unsigned(f->dbg, attr, out);
}

void dwarf_attrs_read(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, struct dwarf_attrs *a)
{
    Dwarf_Error err = NULL;
    Dwarf_Attribute *list;
    Dwarf_Signed count;
    struct offsets o = {0};

    memset(a, 0, sizeof *a);
    if (!dwarf_ok(f->dbg, dwarf_attrlist(die, &list, &count, &err), &err))
        return;
    for (Dwarf_Signed i = 0; i < count; i++) {
        Dwarf_Half code = 0;

        if (dwarf_ok(f->dbg, dwarf_whatattr(list[i], &code, &err), &err))
            read_attr(d, f, code, list[i], a, &o);
        if (code == DW_AT_ranges && a->has_ranges && !a->ranges_attr &&
            read_ranges_value(f, list[i], a->ranges_form, &a->ranges))
            a->ranges_attr = list[i];
        else
            dwarf_dealloc_attribute(list[i]);
    }
    dwarf_dealloc(f->dbg, list, DW_DLA_LIST);
    a->has_ranges = a->ranges_attr;
    a->high = o.high_offset ? a->low + o.high : o.high;
    a->has_high = a->has_high && a->has_low && a->high > a->low;
    a->entry = o.entry_offset ? a->low + o.entry : o.entry;
}

void dwarf_attrs_done(const struct dwarf_file *f, struct dwarf_attrs *a)
{
    (void)f;
    if (a->ranges_attr)
        dwarf_dealloc_attribute(a->ranges_attr);
    a->ranges_attr = NULL;
}

/* Code that the linker dropped leaves ranges at 0, at -1 or past the text: only what is executable counts. */
static void add_range(const struct dwarf *d, uint64_t low, uint64_t high, struct dwarf_ranges *out)
{
    uint64_t end = low ? elf_executable_end(d->text, low) : 0;

    if (high <= low || !end || high > end)
        return;
    vec_push(out, (struct dwarf_range){low, high});
}

static void read_rnglist(struct dwarf *d, const struct dwarf_file *f, const struct dwarf_attrs *a, struct dwarf_ranges *out)
{
    Dwarf_Error err = NULL;
    Dwarf_Rnglists_Head head = NULL;
    Dwarf_Unsigned count = 0, offset;

    if (!dwarf_ok(f->dbg, dwarf_rnglists_get_rle_head(a->ranges_attr, a->ranges_form, a->ranges, &head, &count, &offset, &err),
                  &err))
        return;
    for (Dwarf_Unsigned i = 0; i < count; i++) {
        unsigned length, kind = 0;
        Dwarf_Unsigned raw1, raw2, low = 0, high = 0;
        Dwarf_Bool no_addresses = 0;

        if (!dwarf_ok(f->dbg, dwarf_get_rnglists_entry_fields_a(head, (unsigned)i, &length, &kind, &raw1, &raw2, &no_addresses,
                                                                &low, &high, &err), &err))
            break;
        if (!no_addresses && kind != DW_RLE_end_of_list && kind != DW_RLE_base_address && kind != DW_RLE_base_addressx)
            add_range(d, low, high, out);
    }
    dwarf_dealloc_rnglists_head(head);
}

static void read_ranges4(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, uint64_t offset, uint64_t base,
                         struct dwarf_ranges *out)
{
    Dwarf_Error err = NULL;
    Dwarf_Ranges *list;
    Dwarf_Signed count;
    Dwarf_Unsigned bytes;
    Dwarf_Off real;

    if (!dwarf_ok(f->dbg, dwarf_get_ranges_b(f->dbg, offset, die, &real, &list, &count, &bytes, &err), &err))
        return;
    for (Dwarf_Signed i = 0; i < count; i++) {
        if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
            base = list[i].dwr_addr2;
        else if (list[i].dwr_type == DW_RANGES_ENTRY)
            add_range(d, base + list[i].dwr_addr1, base + list[i].dwr_addr2, out);
        else
            break;
    }
    dwarf_ranges_dealloc(f->dbg, list, count);
}

void dwarf_ranges_read(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, const struct dwarf_attrs *a, uint64_t base,
                       struct dwarf_ranges *out)
{
    Dwarf_Half version = 0, offset_size;

    if (a->has_ranges) {
        if (dwarf_get_version_of_die(die, &version, &offset_size) == DW_DLV_OK && version >= 5)
            read_rnglist(d, f, a, out);
        else
            read_ranges4(d, f, die, a->ranges, base, out);
    } else if (a->has_high) {
        add_range(d, a->low, a->high, out);
    }
}
