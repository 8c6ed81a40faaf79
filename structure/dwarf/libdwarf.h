/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdwarf's headers, and what its versions call differently: since 0.1 the records through which it asks for sections
 * have other names, sections are counted in 64 bits, and dwarf_object_finish has no error. 20210528 (Debian 11 and 12)
 * and 0.11 (Debian 13) are those that were tried.
 */
#ifndef HQ_STRUCTURE_DWARF_LIBDWARF_H
#define HQ_STRUCTURE_DWARF_LIBDWARF_H

#include <dwarf.h>
#include <libdwarf.h>

#ifdef DW_LIBDWARF_VERSION
typedef Dwarf_Obj_Access_Interface_a libdwarf_access;
typedef Dwarf_Obj_Access_Methods_a libdwarf_methods;
typedef Dwarf_Obj_Access_Section_a libdwarf_section;
typedef Dwarf_Unsigned libdwarf_index;
typedef Dwarf_Small libdwarf_order;
#define LIBDWARF_LITTLE        DW_END_little
#define LIBDWARF_ACCESS(name)  ai_##name
#define LIBDWARF_METHOD(name)  om_##name
#define LIBDWARF_SECTION(name) as_##name
#define LIBDWARF_FINISH(dbg)   dwarf_object_finish(dbg)
#else
typedef Dwarf_Obj_Access_Interface libdwarf_access;
typedef Dwarf_Obj_Access_Methods libdwarf_methods;
typedef Dwarf_Obj_Access_Section libdwarf_section;
typedef Dwarf_Half libdwarf_index;
typedef Dwarf_Endianness libdwarf_order;
#define LIBDWARF_LITTLE        DW_OBJECT_LSB
#define LIBDWARF_ACCESS(name)  name
#define LIBDWARF_METHOD(name)  name
#define LIBDWARF_SECTION(name) name
#define LIBDWARF_FINISH(dbg)   dwarf_object_finish((dbg), NULL)
#endif

#endif
