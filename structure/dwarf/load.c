/* SPDX-License-Identifier: BSD-3-Clause */
/* The procedures of one unit with what was inlined into them, and its line table. */
#include "structure/dwarf/impl.h"
#include <stdio.h>
#include <string.h>

#define MAX_DEPTH        200                                  /* of nested DIEs: no compiler comes near */
#define SPEND_MOST(size) (32 * (uint64_t)(size) + (8u << 20)) /* a unit is read for each of its parts at worst */

struct loader {
    struct dwarf *d;
    const struct dwarf_file *f;
    struct dwarf_bases bases;
    struct dwarf_ranges ranges;
    VEC(struct dwarf_procedure) procedures;
    VEC(struct dwarf_inline) inlines;
    VEC(struct dwarf_block) blocks;
    VEC(const char *) noreturn;
};

struct place {          /* where in the tree the walk is */
    uint32_t parent;    /* inline, DWARF_NONE: directly in the procedure */
    bool in_subprogram; /* with code or without */
    bool in_procedure;  /* inside one that has code */
    bool in_region;     /* and that is of a parallel region */
    int depth;
};

static void walk_children(struct loader *l, Dwarf_Die parent, struct place at);

static void load_inline(struct loader *l, Dwarf_Die die, struct place at)
{
    struct dwarf_attrs a;
    struct dwarf_inline in = {.parent = at.parent, .first_range = (uint32_t)l->ranges.len};

    dwarf_attrs_read(l->d, l->f, die, &a);
    dwarf_ranges_read(l->d, l->f, die, &a, &l->bases, &l->ranges);
    in.range_count = (uint32_t)l->ranges.len - in.first_range;
    if (a.origin_file && in.range_count) {
        in.origin = dwarf_origin_at(l->d, a.origin_file, a.origin);
        in.call_line = (uint32_t)a.call_line;
        in.call_file = a.has_call_file ? dwarf_file_number(l->d, l->f, die, a.call_file) : 0;
        at.parent = (uint32_t)l->inlines.len;
        vec_push(&l->inlines, in);
    }
    if (in.range_count)
        walk_children(l, die, at);
}

bool dwarf_is_region(const struct dwarf_origin *origin)
{
    return origin->name && strstr(origin->name, "._omp_fn.");
}

struct declared {
    const struct dwarf_file *f;
    uint32_t line; /* out: the least of variables, 0: there are none */
};

static void note_variable(void *arg, Dwarf_Die die, Dwarf_Off offset)
{
    struct declared *declared = arg;
    uint32_t line;

    (void)offset;
    if (dwarf_tag_of(declared->f, die) != DW_TAG_variable)
        return;
    line = (uint32_t)dwarf_number(declared->f, die, DW_AT_decl_line);
    if (line && (!declared->line || line < declared->line))
        declared->line = line;
}

static void load_block(struct loader *l, Dwarf_Die die)
{
    struct declared declared = {.f = l->f};
    struct dwarf_block b = {.first_range = (uint32_t)l->ranges.len};
    struct dwarf_attrs a;

    dwarf_children(l->f, die, note_variable, &declared);
    if (!declared.line)
        return;
    dwarf_attrs_read(l->d, l->f, die, &a);
    dwarf_ranges_read(l->d, l->f, die, &a, &l->bases, &l->ranges);
    b.range_count = (uint32_t)l->ranges.len - b.first_range;
    b.declared = declared.line;
    if (b.range_count)
        vec_push(&l->blocks, b);
}

static void note_noreturn(struct loader *l, const struct dwarf_attrs *a)
{
    const char *name = a->linkage ? a->linkage : a->name;

    if (a->noreturn && name)
        vec_push(&l->noreturn, name);
}

static void load_procedure(struct loader *l, Dwarf_Die die, struct place at)
{
    struct dwarf_attrs a;
    struct dwarf_procedure p = {.first_range = (uint32_t)l->ranges.len};

    dwarf_attrs_read(l->d, l->f, die, &a);
    note_noreturn(l, &a);
    dwarf_ranges_read(l->d, l->f, die, &a, &l->bases, &l->ranges);
    p.range_count = (uint32_t)l->ranges.len - p.first_range;
    if (p.range_count) {
        size_t index = l->procedures.len;

        dwarf_origin_fill(l->d, l->f, die, &a, 0, &p.origin);
        p.entry = l->ranges.data[p.first_range].low;
        p.first_inline = (uint32_t)l->inlines.len;
        p.first_block = (uint32_t)l->blocks.len;
        vec_push(&l->procedures, p);
        walk_children(l, die,
                      (struct place){.parent = DWARF_NONE,
                                     .in_subprogram = true,
                                     .in_procedure = true,
                                     .in_region = dwarf_is_region(&p.origin),
                                     .depth = at.depth});
        l->procedures.data[index].inline_count = (uint32_t)l->inlines.len - p.first_inline;
        l->procedures.data[index].block_count = (uint32_t)l->blocks.len - p.first_block;
    } else if (!a.declaration) {
        walk_children(l, die, (struct place){.parent = DWARF_NONE, .in_subprogram = true, .depth = at.depth});
    }
}

static void visit(struct loader *l, Dwarf_Die die, struct place at)
{
    switch (dwarf_tag_of(l->f, die)) {
    case DW_TAG_subprogram: load_procedure(l, die, at); break;
    case DW_TAG_inlined_subroutine:
        if (at.in_procedure)
            load_inline(l, die, at);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        /* A lambda's code is described inside its class, inside the procedure that defines it. */
        if (at.in_subprogram)
            walk_children(l, die, (struct place){.parent = DWARF_NONE, .in_subprogram = true, .depth = at.depth});
        break;
    case DW_TAG_lexical_block:
        if (at.in_region && at.parent == DWARF_NONE)
            load_block(l, die);
        walk_children(l, die, at);
        break;
    case DW_TAG_module:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_namespace: walk_children(l, die, at); break;
    default: break;
    }
}

struct step {
    struct loader *l;
    struct place at;
};

static void visit_child(void *arg, Dwarf_Die die, Dwarf_Off offset)
{
    const struct step *step = arg;

    (void)offset;
    visit(step->l, die, step->at);
}

static void walk_children(struct loader *l, Dwarf_Die parent, struct place at)
{
    if (at.depth++ < MAX_DEPTH && !dwarf_children(l->f, parent, visit_child, &(struct step){l, at}))
        dwarf_set_problem(l->d, "part of the debug information is damaged");
}

static Dwarf_Unsigned language_of(const struct dwarf_file *f, Dwarf_Die unit)
{
    Dwarf_Error err = NULL;
    Dwarf_Unsigned language = 0;

    return dwarf_ok(f->dbg, dwarf_srclang(unit, &language, &err), &err) ? language : 0;
}

static bool is_cplusplus(Dwarf_Unsigned language)
{
    return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
           language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14;
}

static bool is_fortran(Dwarf_Unsigned language)
{
    return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 || language == DW_LANG_Fortran95 ||
           language == DW_LANG_Fortran03 || language == DW_LANG_Fortran08;
}

/* "GNU C++17 14.2.0 -mtune=generic ...": the version of gcc; 0 for another compiler. */
static int gcc_version(const struct dwarf_file *f, Dwarf_Die unit)
{
    Dwarf_Error err = NULL;
    Dwarf_Attribute attribute = NULL;
    char *text = NULL;
    int version = 0;

    if (!dwarf_ok(f->dbg, dwarf_attr(unit, DW_AT_producer, &attribute, &err), &err))
        return 0;
    if (dwarf_ok(f->dbg, dwarf_formstring(attribute, &text, &err), &err) &&
        sscanf(text, "GNU C++%*s %d", &version) != 1)
        version = 0;
    dwarf_dealloc_attribute(attribute);
    return version;
}

static void begin_unit(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die unit)
{
    Dwarf_Unsigned language = language_of(f, unit);

    d->cplusplus = is_cplusplus(language);
    d->qualify = d->cplusplus || is_fortran(language);
    d->lambdas_by_signature = d->cplusplus && gcc_version(f, unit) >= 14;
}

static void walk_split(struct loader *l, uint32_t unit, const struct dwarf_attrs *skeleton)
{
    const struct dwarf_file *f = dwarf_split_file(l->d, unit, skeleton);
    Dwarf_Die cu = f ? dwarf_split_unit(l->d, f) : NULL;

    if (!cu)
        return;
    l->f = f;
    l->bases = f->bases;
    begin_unit(l->d, f, cu);
    walk_children(l, cu, (struct place){.parent = DWARF_NONE});
    dwarf_dealloc_die(cu);
    l->f = &l->d->main;
}

void dwarf_load_unit(struct dwarf *d, uint32_t unit, struct dwarf_unit *out)
{
    struct loader l = {.d = d, .f = &d->main};
    Dwarf_Error err = NULL;
    Dwarf_Die cu = NULL;
    struct dwarf_attrs a;

    memset(out, 0, sizeof *out);
    if (unit >= d->units.len ||
        !dwarf_ok(d->main.dbg, dwarf_offdie_b(d->main.dbg, d->units.data[unit].die, 1, &cu, &err), &err))
        return;
    dwarf_attrs_read(d, l.f, cu, &a);
    l.bases = a.bases;
    begin_unit(d, l.f, cu);
    walk_children(&l, cu, (struct place){.parent = DWARF_NONE});
    if (a.dwo_name)
        walk_split(&l, unit, &a);
    *out = (struct dwarf_unit){
        .procedures = l.procedures.data,
        .procedure_count = l.procedures.len,
        .inlines = l.inlines.data,
        .inline_count = l.inlines.len,
        .blocks = l.blocks.data,
        .ranges = l.ranges.data,
        .range_count = l.ranges.len,
        .noreturn = l.noreturn.data,
        .noreturn_count = l.noreturn.len,
        .cplusplus = d->cplusplus,
    };
    dwarf_rows_read(d, l.f, cu, &a, out);
    dwarf_dealloc_die(cu);
}

void dwarf_unit_free(struct dwarf_unit *u)
{
    free(u->procedures);
    free(u->inlines);
    free(u->blocks);
    free(u->ranges);
    free(u->rows);
    free(u->hidden);
    free(u->noreturn);
    memset(u, 0, sizeof *u);
}

struct hq_error *dwarf_open(struct elf *text, struct elf *debug, struct elf *alt, struct dwarf **out)
{
    *out = NULL;
    if (!elf_find_section(debug, ".debug_info"))
        return NULL;
    struct dwarf *d = xcalloc(1, sizeof *d);
    d->text = text;
    d->most = SPEND_MOST(text->size + debug->size + (alt ? alt->size : 0));
    keymap_init(&d->origin_keys, sizeof(struct dwarf_key));
    keymap_init(&d->scope_keys, sizeof(struct dwarf_key));
    d->alt.number = 1;
    d->file_count = 2;
    if (!dwarf_file_open(d, &d->main, debug, DW_GROUPNUMBER_ANY)) {
        dwarf_close(d);
        return hq_error_new(HQ_DATA, "%s: its debug information cannot be read", debug->path);
    }
    Dwarf_Error err = NULL;
    if (alt && dwarf_file_open(d, &d->alt, alt, DW_GROUPNUMBER_ANY))
        dwarf_ok(d->main.dbg, dwarf_set_tied_dbg(d->main.dbg, d->alt.dbg, &err), &err);
    dwarf_units_collect(d);
    *out = d;
    return NULL;
}

void dwarf_close(struct dwarf *d)
{
    if (!d)
        return;
    dwarf_split_close(d);
    dwarf_file_close(&d->main);
    dwarf_file_close(&d->alt);
    vec_deinit(&d->units);
    vec_deinit(&d->hints);
    vec_deinit(&d->claims);
    vec_deinit(&d->origins);
    keymap_deinit(&d->origin_keys);
    dwarf_scopes_free(d);
    map_deinit(&d->file_tables);
    intern_deinit(&d->files);
    arena_deinit(&d->arena);
    free(d->problem);
    free(d);
}

const struct intern *dwarf_files(const struct dwarf *d)
{
    return &d->files;
}

const char *dwarf_problem(const struct dwarf *d)
{
    return d->problem;
}
