/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Split debug information (-gsplit-dwarf): the binary holds skeletons, the rest is in .dwo files beside the objects.
 * DWARF 5 standard, section 7.3.2; the GNU form before it for DWARF 4. Where there is a package of them, BINARY.dwp, it
 * is asked first.
 */
#include "structure/dwarf/impl.h"
#include "common/file.h"
#include "common/mem.h"
#include <string.h>

/* The place of the list of offsets in .debug_rnglists.dwo: behind the header of the only table. */
#define RNGLISTS_HEADER 12

/* Beside the binary or beside its separate debug file. */
static struct elf *open_package(struct dwarf *d)
{
    const char *beside[] = {d->text->path, d->main.elf->path};

    for (size_t i = 0; i < 2 && !d->package && !d->package_tried; i++) {
        AUTO_FREE char *path = xasprintf("%s.dwp", beside[i]);

        AUTO_ERROR struct hq_error *err = file_is_absent(path) ? NULL : elf_open(path, &d->package);
        if (err && !d->package_problem)
            d->package_problem = xstrdup(err->message);
        d->most += d->package ? 32 * (uint64_t)d->package->size : 0;
    }
    d->package_tried = true;
    return d->package;
}

/* In the package, where it was written, or beside the binary if that has moved. */
static struct elf *open_dwo(struct dwarf *d, const struct dwarf_attrs *skeleton, uint64_t id)
{
    AUTO_FREE char *written = file_join(skeleton->comp_dir ? skeleton->comp_dir : "", skeleton->dwo_name);
    AUTO_FREE char *directory = file_dirname(d->text->path);
    AUTO_FREE char *beside = file_join(directory, file_basename(skeleton->dwo_name));
    struct elf *elf = open_package(d) ? dwarf_package_unit(d->package, id) : NULL;

    if (elf)
        return elf;
    AUTO_ERROR struct hq_error *err = elf_open(written, &elf);
    AUTO_ERROR struct hq_error *moved = err ? elf_open(beside, &elf) : NULL;

    if (elf)
        return elf;
    const char *problem = !file_is_absent(written) ? err->message : !file_is_absent(beside) ? moved->message : NULL;

    if (problem)
        dwarf_set_problem(d, "%s, so procedures have no inlined code", problem);
    else if (d->package)
        dwarf_set_problem(d, "split debug information %s is missing, also in %s, so procedures have no inlined code",
                          written, d->package->path);
    else if (d->package_problem)
        dwarf_set_problem(d, "split debug information %s is missing (%s), so procedures have no inlined code", written,
                          d->package_problem);
    else
        dwarf_set_problem(d, "split debug information %s is missing, so procedures have no inlined code", written);
    return NULL;
}

struct dwarf_file *dwarf_split_file(struct dwarf *d, uint32_t unit, const struct dwarf_attrs *skeleton)
{
    struct dwarf_cu *cu = &d->units.data[unit];

    if (cu->split_tried)
        return cu->split;
    cu->split_tried = true;
    uint64_t id = cu->id ? cu->id : skeleton->gnu_dwo_id;
    struct elf *elf = open_dwo(d, skeleton, id);
    if (!elf)
        return NULL;
    d->most += 32 * (uint64_t)elf->size;
    struct dwarf_file *f = xcalloc(1, sizeof *f);
    Dwarf_Error err = NULL;
    bool gnu = elf_find_section(elf, ".debug_rnglists.dwo") == NULL;
    f->number = d->file_count++;
    f->main = &d->main;
    f->skeleton = cu->die;
    f->id = id;
    f->bases = skeleton->bases;
    f->bases.ranges = gnu ? skeleton->gnu_ranges_base : RNGLISTS_HEADER;
    if (!dwarf_file_open(d, f, elf, DW_GROUPNUMBER_DWO)) {
        dwarf_set_problem(d, "split debug information %s cannot be read", elf->path);
        elf_close(elf);
        free(f);
        return NULL;
    }
    dwarf_ok(f->dbg, dwarf_set_tied_dbg(f->dbg, d->main.dbg, &err), &err);
    return cu->split = f;
}

/* The file beside the object may be of a later compilation. */
static bool belongs(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, uint64_t id)
{
    struct dwarf_attrs a;

    dwarf_attrs_read(d, f, die, &a);
    if (a.gnu_dwo_id)
        id = a.gnu_dwo_id;
    return !f->id || !id || id == f->id;
}

/* Type units come first, if there are any. */
Dwarf_Die dwarf_split_unit(struct dwarf *d, const struct dwarf_file *f)
{
    Dwarf_Error err = NULL;
    Dwarf_Unsigned length, abbrevs, type_offset, next;
    Dwarf_Half version, address_size, offset_size, extension, kind;
    Dwarf_Sig8 signature;
    Dwarf_Die die, found = NULL;
    uint64_t id = 0;
    int rc;

    /* The whole list is walked, so that the next walk begins at the start again. */
    while ((rc = dwarf_next_cu_header_d(f->dbg, 1, &length, &version, &abbrevs, &address_size, &offset_size, &extension,
                                        &signature, &type_offset, &next, &kind, &err)) == DW_DLV_OK) {
        if (!dwarf_ok(f->dbg, dwarf_siblingof_b(f->dbg, NULL, 1, &die, &err), &err))
            continue;
        if (!found && kind != DW_UT_type && kind != DW_UT_split_type) {
            found = die;
            id = kind == DW_UT_split_compile ? dwarf_signature(&signature) : 0;
        } else {
            dwarf_dealloc_die(die);
        }
    }
    dwarf_ok(f->dbg, rc, &err);
    if (!found)
        dwarf_set_problem(d, "split debug information %s cannot be read by this libdwarf", f->elf->path);
    if (f->elf->unreadable)
        dwarf_set_problem(
            d, "section %s of the split debug information %s cannot be decompressed; inlined code is incomplete",
            f->elf->unreadable, f->elf->path);
    if (found && !belongs(d, f, found, id)) {
        dwarf_set_problem(d, "split debug information %s belongs to another build, so procedures have no inlined code",
                          f->elf->path);
        dwarf_dealloc_die(found);
        found = NULL;
    }
    return found;
}

const struct elf *dwarf_changed(const struct dwarf *d)
{
    if (d->package && elf_changed(d->package))
        return d->package;
    vec_foreach(cu, &d->units)
        if (cu->split && elf_changed(cu->split->elf))
            return cu->split->elf;
    return NULL;
}

void dwarf_split_close(struct dwarf *d)
{
    vec_foreach(cu, &d->units) {
        if (!cu->split)
            continue;
        dwarf_file_close(cu->split);
        elf_close(cu->split->elf);
        free(cu->split);
    }
    elf_close(d->package);
    free(d->package_problem);
}
