/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of all procedures that the debug information defines, also of those that were inlined everywhere. */
#include "structure/dwarf/impl.h"

#define MAX_DEPTH 200 /* of nested namespaces, in damaged files */

struct lister {
    struct dwarf *d;
    const struct dwarf_file *f;
    dwarf_name_fn *fn;
    void *arg;
    int depth;
};

static void list_children(const struct lister *l, Dwarf_Die parent);

static void list_procedure(const struct lister *l, Dwarf_Die die)
{
    struct dwarf_attrs a;

    dwarf_attrs_read(l->d, l->f, die, &a);
    if (a.declaration)
        return;
    if (a.origin_file && !(a.name && a.linkage)) {
        const struct dwarf_origin *o = dwarf_origin_at(l->d, a.origin_file, a.origin);

        a.name = a.name ? a.name : o->name;
        a.linkage = a.linkage ? a.linkage : o->linkage;
    }
    l->fn(l->arg, a.name, a.linkage);
}

static void list_child(void *arg, Dwarf_Die die, Dwarf_Off offset)
{
    const struct lister *l = arg;

    (void)offset;
    switch (dwarf_tag_of(l->f, die)) {
    case DW_TAG_subprogram: list_procedure(l, die); break;
    case DW_TAG_module:
    case DW_TAG_namespace: list_children(l, die); break;
    default: break;
    }
}

static void list_children(const struct lister *l, Dwarf_Die parent)
{
    struct lister below = *l;

    if (below.depth++ < MAX_DEPTH)
        dwarf_children(l->f, parent, list_child, &below);
}

static void list_unit(struct lister l, uint32_t unit)
{
    Dwarf_Error err = NULL;
    Dwarf_Die cu = NULL;
    struct dwarf_attrs a;

    if (!dwarf_ok(l.f->dbg, dwarf_offdie_b(l.f->dbg, l.d->units.data[unit].die, 1, &cu, &err), &err))
        return;
    dwarf_attrs_read(l.d, l.f, cu, &a);
    list_children(&l, cu);
    dwarf_dealloc_die(cu);
    l.f = a.dwo_name ? dwarf_split_file(l.d, unit, &a) : NULL;
    cu = l.f ? dwarf_split_unit(l.d, l.f) : NULL;
    if (!cu)
        return;
    list_children(&l, cu);
    dwarf_dealloc_die(cu);
}

void dwarf_names(struct dwarf *d, dwarf_name_fn *fn, void *arg)
{
    d->qualify = false;
    for (uint32_t i = 0; i < d->units.len; i++)
        list_unit((struct lister){.d = d, .f = &d->main, .fn = fn, .arg = arg}, i);
}
