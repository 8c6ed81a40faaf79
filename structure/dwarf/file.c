/* SPDX-License-Identifier: BSD-3-Clause */
/* libdwarf over our own mapping: it sees only the debug sections, decompressed when it asks for one. */
#include "structure/dwarf/impl.h"
#include "common/mem.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

/* The sections that it reads for us. The others are large (location lists) or read by us. */
static bool wanted(const char *name)
{
    static const char *const names[] = {
        ".debug_abbrev",     ".debug_addr",     ".debug_aranges",     ".debug_info",
        ".debug_line_str",   ".debug_str",      ".debug_str_offsets", ".debug_types",
        ".debug_abbrev.dwo", ".debug_info.dwo", ".debug_str.dwo",     ".debug_str_offsets.dwo",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* Describes a section for libdwarf. A section that libdwarf is not to see is presented as an empty one without a
 * name. */
static int section_info(void *object, libdwarf_index index, libdwarf_section *out, int *error)
{
    struct dwarf_file *f = object;
    const uint8_t *data;
    size_t size;

    (void)error;
    memset(out, 0, sizeof *out);
    out->LIBDWARF_SECTION(name) = "";
    if (index >= f->elf->section_count || !wanted(f->elf->sections[index].name))
        return index < f->elf->section_count ? DW_DLV_OK : DW_DLV_NO_ENTRY;
    struct elf_section *s = &f->elf->sections[index];
    if (!elf_section_data(f->elf, s, &data, &size))
        return DW_DLV_OK;
    out->LIBDWARF_SECTION(name) = s->name;
    out->LIBDWARF_SECTION(type) = s->type;
    out->LIBDWARF_SECTION(size) = size;
    return DW_DLV_OK;
}

static libdwarf_order byte_order(void *object)
{
    (void)object;
    return LIBDWARF_LITTLE;
}

static Dwarf_Small length_size(void *object)
{
    (void)object;
    return 4;
}

static Dwarf_Small pointer_size(void *object)
{
    (void)object;
    return 8;
}

static Dwarf_Unsigned section_total(void *object)
{
    return ((struct dwarf_file *)object)->elf->section_count;
}

#ifdef DW_LIBDWARF_VERSION
/* It bounds what sections may say of their sizes; compressed ones are larger than the file, so it is not told. */
static Dwarf_Unsigned file_size(void *object)
{
    (void)object;
    return (Dwarf_Unsigned)1 << 48;
}
#endif

static int load_section(void *object, libdwarf_index index, Dwarf_Small **out, int *error)
{
    struct dwarf_file *f = object;
    const uint8_t *data;
    size_t size;

    (void)error;
    if (index >= f->elf->section_count || !elf_section_data(f->elf, &f->elf->sections[index], &data, &size))
        return DW_DLV_NO_ENTRY;
    *out = (Dwarf_Small *)data;
    return DW_DLV_OK;
}

static const libdwarf_methods methods = {
    .LIBDWARF_METHOD(get_section_info) = section_info,
    .LIBDWARF_METHOD(get_byte_order) = byte_order,
    .LIBDWARF_METHOD(get_length_size) = length_size,
    .LIBDWARF_METHOD(get_pointer_size) = pointer_size,
#ifdef DW_LIBDWARF_VERSION
    .LIBDWARF_METHOD(get_filesize) = file_size,
#endif
    .LIBDWARF_METHOD(get_section_count) = section_total,
    .LIBDWARF_METHOD(load_section) = load_section,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Its own bookkeeping of what to free costs two thirds of the time; everything here is freed by hand. */
static void configure(void)
{
    dwarf_set_de_alloc_flag(0);
}

bool dwarf_file_open(struct dwarf *d, struct dwarf_file *f, struct elf *elf, unsigned group)
{
    Dwarf_Error err = NULL;

    f->elf = elf;
    f->dwarf = d;
    f->dbg = NULL;
    f->access = (libdwarf_access){.LIBDWARF_ACCESS(object) = f, .LIBDWARF_ACCESS(methods) = &methods};
    pthread_once(&once, configure);
    int rc = dwarf_object_init_b(&f->access, NULL, NULL, group, &f->dbg, &err);
    if (!dwarf_ok(f->dbg, rc, &err))
        f->dbg = NULL;
    return f->dbg;
}

void dwarf_file_close(struct dwarf_file *f)
{
    if (f->dbg)
        LIBDWARF_FINISH(f->dbg);
    f->dbg = NULL;
}

/* libdwarf was refused memory: some of its functions say so, others call the file damaged. */
static bool is_out_of_memory(Dwarf_Error err)
{
    Dwarf_Unsigned code = dwarf_errno(err);

    return errno == ENOMEM || code == DW_DLE_ALLOC_FAIL || code == DW_DLE_DBG_ALLOC || code == DW_DLE_FAILSAFE_ERRVAL;
}

bool dwarf_ok(Dwarf_Debug dbg, int rc, Dwarf_Error *err)
{
    if (rc == DW_DLV_ERROR && *err) {
        if (is_out_of_memory(*err))
            mem_exhausted();
        dwarf_dealloc_error(dbg, *err);
        *err = NULL;
    }
    return rc == DW_DLV_OK;
}

bool dwarf_spend(struct dwarf *d, uint64_t entries)
{
    d->spent += entries;
    if (d->spent <= d->most)
        return true;
    dwarf_set_problem(d, "the debug information refers to the same parts again and again; procedures and lines are "
                         "incomplete");
    return false;
}

void dwarf_set_problem(struct dwarf *d, const char *fmt, ...)
{
    va_list args;

    if (d->problem)
        return;
    va_start(args, fmt);
    if (vasprintf(&d->problem, fmt, args) < 0)
        d->problem = NULL;
    va_end(args);
}
