/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the files of dwarf/: the types and functions that they share. */
#ifndef HQ_STRUCTURE_DWARF_IMPL_H
#define HQ_STRUCTURE_DWARF_IMPL_H

#include "common/arena.h"
#include "common/map.h"
#include "common/str.h"
#include "common/vec.h"
#include "structure/dwarf/dwarf.h"
#include "structure/dwarf/libdwarf.h"

/* The bases of a unit, which its range lists are relative to. */
struct dwarf_bases {
    uint64_t low, addresses, ranges; /* its low address; offsets in .debug_addr and .debug_rnglists */
};

/* One file opened with libdwarf through the object interface. */
struct dwarf_file {
    struct elf *elf;
    Dwarf_Debug dbg; /* NULL: it could not be opened */
    libdwarf_access access;
    struct dwarf *dwarf; /* that it is of */
    uint32_t number;     /* 0 the main file, 1 dwz's common file, 2 ... split files */
    /* Of a split file, which leaves addresses and lines in the main one: */
    const struct dwarf_file *main; /* else NULL */
    Dwarf_Off skeleton;            /* the unit that it belongs to */
    uint64_t id;                   /* that both must have; 0 unknown */
    struct dwarf_bases bases;
};

#define NAME_MOST 100000 /* bytes of a name that is made of types, as of one that is demangled */

struct dwarf_attrs;

struct dwarf_cu {
    Dwarf_Off die;            /* of the unit's DIE in .debug_info */
    uint64_t id;              /* of a skeleton, in DWARF 5; else 0 */
    struct dwarf_file *split; /* where the rest of it is; NULL: nowhere else, or not looked for yet */
    bool split_tried;
};

struct dwarf_claim { /* an address range that a unit describes */
    uint64_t low, high;
    uint64_t reach; /* largest high of this and all earlier claims */
    uint32_t unit;
};

struct dwarf_key {
    uint64_t file, offset;
};

struct dwarf {
    struct elf *text;
    struct dwarf_file main, alt;
    struct elf *package; /* of split debug information; NULL: there is none, or it was not looked for yet */
    bool package_tried;
    char *package_problem; /* why one that is there cannot be read; NULL */
    struct arena arena;
    struct intern files;
    VEC(struct dwarf_cu) units;
    VEC(struct dwarf_claim) hints, claims; /* of .debug_aranges; of the units themselves (made when first needed) */
    bool claims_made;
    uint32_t file_count;                   /* numbers given to files */
    struct keymap origin_keys, scope_keys; /* struct dwarf_key -> index in origins; in scopes */
    VEC(struct dwarf_origin *) origins;
    VEC(struct dwarf_scopes *) scopes;
    bool qualify;              /* the unit that is being loaded is of C++ or Fortran */
    bool cplusplus;            /* of C++ */
    bool lambdas_by_signature; /* and by gcc 14 or newer */
    unsigned naming;           /* names of classes within names of classes that are being made */
    unsigned named;            /* since the outermost of these began */
    struct map file_tables;    /* (file, CU offset) -> struct dwarf_file_table * */
    uint64_t spent, most;      /* what was read, and may be (dwarf_spend) */
    char *problem;
};

/* File numbers of one unit's line table, as numbers of dwarf->files. */
struct dwarf_file_table {
    uint32_t *ids; /* by the number that rows and DIEs use */
    size_t count;
};

uint64_t dwarf_signature(const Dwarf_Sig8 *signature); /* units.c */
/* The split file of a unit (DW_AT_dwo_name), opened on first use; NULL if there is none. Sets a problem if it is
 * missing. */
/* split.c */
struct dwarf_file *dwarf_split_file(struct dwarf *d, uint32_t unit, const struct dwarf_attrs *skeleton);
void dwarf_split_close(struct dwarf *d);
/* Returns the part of a package that describes one unit, as if it were the unit's .dwo file; the caller closes it
 * before the package. NULL if the package does not have the unit. */
struct elf *dwarf_package_unit(struct elf *package, uint64_t id); /* package.c */
/* Its first unit; to be freed with dwarf_dealloc_die. NULL if it has none. */
Dwarf_Die dwarf_split_unit(struct dwarf *d, const struct dwarf_file *f); /* split.c */

/* An entry of .debug_addr; 0 if there is none: never the address of code. */
/* ranges.c */
uint64_t dwarf_indexed_address(const struct dwarf_file *f, const struct dwarf_bases *bases, uint64_t index);

bool dwarf_file_open(struct dwarf *d, struct dwarf_file *f, struct elf *elf, unsigned group); /* file.c */
void dwarf_file_close(struct dwarf_file *f);
void dwarf_set_problem(struct dwarf *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Counts what is read: entries of lists, rows of lines, names, types. No compiler has one of them read more than a few
 * times; a damaged file may have all units refer to one list, or types to themselves. False, and a problem, when it is
 * more than any file of this size needs. */
bool dwarf_spend(struct dwarf *d, uint64_t entries); /* file.c */

/* True if a call of libdwarf succeeded; frees its error if not. Ends the process if that is a lack of memory. */
bool dwarf_ok(Dwarf_Debug dbg, int rc, Dwarf_Error *err);

/* The attributes of one DIE, gathered in one pass. */
struct dwarf_attrs {
    uint64_t low, high; /* high is absolute */
    bool has_low, has_high, has_ranges, noreturn, declaration;
    Dwarf_Half ranges_form;
    uint64_t ranges;
    struct dwarf_bases bases; /* of a unit */
    uint64_t gnu_dwo_id;      /* of a skeleton and its split unit in DWARF 4, else 0 */
    uint64_t gnu_ranges_base; /* of a unit whose split file is DWARF 4: offset in .debug_ranges */
    const char *name, *linkage, *comp_dir, *dwo_name;
    uint64_t decl_file, decl_line, call_file, call_line;
    bool has_decl_file, has_call_file, has_lines;
    uint64_t lines;                       /* of a unit: offset in .debug_line */
    Dwarf_Off origin;                     /* abstract origin, specification: offset in the file below */
    const struct dwarf_file *origin_file; /* NULL if there is none */
    Dwarf_Half inlined;
};
/* attrs.c */
void dwarf_attrs_read(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, struct dwarf_attrs *out);

/* Calls fn for each child of a DIE, in order; false if what is damaged hides more of them. */
typedef void dwarf_child_fn(void *arg, Dwarf_Die child, Dwarf_Off offset);
bool dwarf_children(const struct dwarf_file *f, Dwarf_Die parent, dwarf_child_fn *fn, void *arg);
/* A number that a DIE has, 0 without it. */
uint64_t dwarf_number(const struct dwarf_file *f, Dwarf_Die die, Dwarf_Half attribute); /* attrs.c */
bool dwarf_has(const struct dwarf_file *f, Dwarf_Die die, Dwarf_Half attribute);        /* types.c */
/* The tag of a DIE; 0 for NULL and what cannot be read. */
Dwarf_Half dwarf_tag_of(const struct dwarf_file *f, Dwarf_Die die);

/* In C++: a procedure's name with those of what it lies in, if it lies in anything; else NULL. `die` is its
 * declaration. */
/* scopes.c */
const char *dwarf_qualified(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, const char *name);
/* The file and line of the class that a DIE lies in, if it has no name; else nothing is changed. */
/* scopes.c */
void dwarf_class_place(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, uint32_t *file, uint32_t *line);
/* A class without a name, with what it lies in: `main::{lambda(int)#1}`; false if it is none. */
bool dwarf_add_unnamed(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, struct str *out);
/* Begins a name within a name, which ends by naming--; false: they lie in one another too deep, or are too many. */
bool dwarf_name_begin(struct dwarf *d); /* types.c */
/* The name of an instance of a template over lambdas: gcc writes `f<main()::<lambda()> >` for all of them. */
/* types.c */
void dwarf_add_instance(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, const char *name, struct str *out);
/* The names around a DIE, each with "::" behind it. */
void dwarf_add_scopes(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, struct str *out); /* scopes.c */
void dwarf_scopes_free(struct dwarf *d);
/* The type that a DIE says it has. */
void dwarf_add_type(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, struct str *out); /* types.c */
/* Is its type a pointer (constant itself or not) to what is constant? */
bool dwarf_points_to_const(const struct dwarf_file *f, Dwarf_Die die); /* types.c */

/* Address ranges of a DIE, clipped to executable code; appended to `out`. */
struct dwarf_ranges {
    struct dwarf_range *data;
    size_t len, cap;
};
void dwarf_ranges_read(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, const struct dwarf_attrs *a,
                       const struct dwarf_bases *bases, struct dwarf_ranges *out); /* ranges.c */

/* names.c */
const struct dwarf_origin *dwarf_origin_at(struct dwarf *d, const struct dwarf_file *f, Dwarf_Off offset);
void dwarf_origin_fill(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, const struct dwarf_attrs *a,
                       int depth, struct dwarf_origin *out);
uint32_t dwarf_file_number(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die any, uint64_t index);

/* The number of a path in d's strings, absolute where `here` (of the unit) or `directory` makes it so; 0: no name. */
uint32_t dwarf_intern_path(struct dwarf *d, const char *here, const char *directory, const char *name);

/* The file table of the unit that a DIE belongs to; never NULL. */
const struct dwarf_file_table *dwarf_file_table(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die any);
void dwarf_files_read(struct dwarf *d, const struct dwarf_file *f, const struct dwarf_attrs *cu,
                      struct dwarf_file_table *out); /* lines.c */
void dwarf_rows_read(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, const struct dwarf_attrs *cu,
                     struct dwarf_unit *out);
void dwarf_units_collect(struct dwarf *d); /* units.c */

#endif
