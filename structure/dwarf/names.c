/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the names of procedures and the places of their definitions: follows abstract origins and specifications, once
 * for each DIE. */
#include "structure/dwarf/impl.h"
#include "common/str.h"
#include <string.h>

#define MAX_DEPTH 8 /* of references: instance -> abstract -> specification, and damaged files */

/* The length of out without its last component; n as it is if that is none, or "..". */
static size_t parent(const char *out, size_t n)
{
    size_t end = n && out[n - 1] == '/' ? n - 1 : n, start = end;

    while (start && out[start - 1] != '/')
        start--;
    return start == end || str_begins(out + start, "../") ? n : start;
}

/* "a/./b/../c" is "a/c": the same file must have one name, whichever way the compiler was told of it. */
static uint32_t intern_clean(struct dwarf *d, const char *path)
{
    AUTO_FREE char *out = xmalloc(strlen(path) + 2);
    size_t n = 0;

    if (*path == '/')
        out[n++] = '/';
    while (*(path += strspn(path, "/"))) {
        size_t len = strcspn(path, "/"), up = parent(out, n);
        bool climb = len == 2 && !memcmp(path, "..", 2);

        if (climb && up != n) {
            n = up;
        } else if (!(len == 1 && *path == '.') && !(climb && n == 1 && *out == '/')) {
            memcpy(out + n, path, len);
            n += len;
            out[n++] = '/';
        }
        path += len;
    }
    if (n > 1)
        n--;
    return intern_addn(&d->files, out, n);
}

uint32_t dwarf_intern_path(struct dwarf *d, const char *here, const char *directory, const char *name)
{
    struct str path = {0};

    if (!name || !*name)
        return 0;
    if (*name != '/') {
        if (here && *here && (!directory || *directory != '/'))
            str_addf(&path, "%s/", here);
        if (directory && *directory)
            str_addf(&path, "%s/", directory);
    }
    str_add(&path, name);
    uint32_t id = dwarf_spend(d, path.len / 64) ? intern_clean(d, str_cstr(&path)) : 0;
    str_deinit(&path);
    return id;
}

static const struct dwarf_file_table no_files;

const struct dwarf_file_table *dwarf_file_table(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die any)
{
    Dwarf_Error err = NULL;
    Dwarf_Off cu_die;
    Dwarf_Die cu = NULL;

    if (f->main) {
        cu_die = f->skeleton;
        f = f->main;
    } else if (!dwarf_ok(f->dbg, dwarf_CU_dieoffset_given_die(any, &cu_die, &err), &err)) {
        return &no_files;
    }
    uint64_t key = cu_die << 1 | (f == &d->alt);
    const uint64_t *found = map_find(&d->file_tables, key);
    if (found)
        return (const struct dwarf_file_table *)(uintptr_t)*found;
    struct dwarf_file_table *t = ARENA_NEW(&d->arena, struct dwarf_file_table);
    map_put(&d->file_tables, key, (uint64_t)(uintptr_t)t);
    if (dwarf_ok(f->dbg, dwarf_offdie_b(f->dbg, cu_die, 1, &cu, &err), &err)) {
        struct dwarf_attrs a;

        dwarf_attrs_read(d, f, cu, &a);
        dwarf_files_read(d, f, &a, t);
        dwarf_dealloc_die(cu);
    }
    return t;
}

uint32_t dwarf_file_number(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die any, uint64_t index)
{
    const struct dwarf_file_table *t = dwarf_file_table(d, f, any);

    return index < t->count ? t->ids[index] : 0;
}

void dwarf_origin_fill(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, const struct dwarf_attrs *a,
                       int depth, struct dwarf_origin *out)
{
    if (!out->name)
        out->name = a->name;
    if (!out->linkage)
        out->linkage = a->linkage;
    if (!out->line && a->decl_line && a->decl_line <= UINT32_MAX) {
        out->line = (uint32_t)a->decl_line;
        if (a->has_decl_file)
            out->file = dwarf_file_number(d, f, die, a->decl_file);
    }
    if (!out->file && a->has_decl_file)
        out->file = dwarf_file_number(d, f, die, a->decl_file);
    out->noreturn |= a->noreturn;
    if (!a->origin_file || depth >= MAX_DEPTH) {
        if (d->qualify && out->name && !out->linkage)
            out->qualified = dwarf_qualified(d, f, die, out->name);
        /* gcc gives no place to the call operator of a lambda, only to its class. */
        if (d->qualify && out->name && !out->line && str_begins(out->name, "operator()"))
            dwarf_class_place(d, f, die, &out->file, &out->line);
        return;
    }

    const struct dwarf_file *of = a->origin_file;
    Dwarf_Error err = NULL;
    Dwarf_Die next = NULL;
    struct dwarf_attrs b;
    if (!dwarf_ok(of->dbg, dwarf_offdie_b(of->dbg, a->origin, 1, &next, &err), &err))
        return;
    dwarf_attrs_read(d, of, next, &b);
    dwarf_origin_fill(d, of, next, &b, depth + 1, out);
    dwarf_dealloc_die(next);
}

const struct dwarf_origin *dwarf_origin_at(struct dwarf *d, const struct dwarf_file *f, Dwarf_Off offset)
{
    struct dwarf_key key = {.file = f->number, .offset = offset};
    bool is_new;
    uint32_t index = keymap_add(&d->origin_keys, &key, &is_new);

    if (!is_new)
        return d->origins.data[index];
    struct dwarf_origin *o = ARENA_NEW(&d->arena, struct dwarf_origin);
    vec_push(&d->origins, o);
    Dwarf_Error err = NULL;
    Dwarf_Die die = NULL;
    struct dwarf_attrs a;
    if (!dwarf_ok(f->dbg, dwarf_offdie_b(f->dbg, offset, 1, &die, &err), &err))
        return o;
    dwarf_attrs_read(d, f, die, &a);
    dwarf_origin_fill(d, f, die, &a, 0, o);
    dwarf_dealloc_die(die);
    return o;
}
