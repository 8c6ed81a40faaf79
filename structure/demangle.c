/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of C++ and Rust as people write them (structure.h). */
#include "structure/structure.h"
#include "common/mem.h"
#include <libiberty/demangle.h>
#include <string.h>

#define MAX_SYMBOL 65536 /* libiberty takes time and stack in proportion, sometimes worse */

/* gfortran: __module_MOD_procedure */
static char *fortran(const char *symbol)
{
    const char *mark = strncmp(symbol, "__", 2) ? NULL : strstr(symbol, "_MOD_");

    if (!mark || mark == symbol + 2 || !mark[5])
        return NULL;
    return xasprintf("%.*s::%s", (int)(mark - symbol - 2), symbol + 2, mark + 5);
}

char *structure_demangle(const char *symbol)
{
    if (symbol[0] != '_' || strnlen(symbol, MAX_SYMBOL) == MAX_SYMBOL)
        return NULL;
    if (symbol[1] == '_' && symbol[2] != 'Z' && symbol[2] != 'R')
        return fortran(symbol);
    if (symbol[1] != 'Z' && symbol[1] != 'R' && symbol[1] != '_')
        return NULL;
    return cplus_demangle(symbol, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
}
