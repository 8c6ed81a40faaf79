/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/folding.h"

#include "common/mem.h"
#include "common/str.h"
#include "db/model/model_data.h"
#include <ctype.h>
#include <string.h>

enum inside inside_of(const struct runtime *runtime, enum inside caller)
{
    if (!runtime || (runtime->kind == RUNTIME_SUPPORT && caller < ENTRY_OF_MPI))
        return OUTSIDE;
    if (caller != OUTSIDE)
        return caller >= ENTRY_OF_MPI ? INSIDE_OF_MPI : INSIDE;
    if (runtime->kind == RUNTIME_SYSTEM)
        return OUTSIDE;
    return runtime->kind == RUNTIME_MPI ? ENTRY_OF_MPI : ENTRY;
}

/* ---- names of MPI ---- */

static bool cut_end(char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);

    if (n <= k || strcmp(name + n - k, end))
        return false;
    name[n - k] = 0;
    return true;
}

static bool has_lower(const char *s)
{
    for (; *s; s++)
        if (islower((unsigned char)*s))
            return true;
    return false;
}

char *mpi_name_in_c(const char *name)
{
    AUTO_FREE char *own = NULL;
    bool behind = str_begins(name, "ompi_mpi_"); /* where MPI_Init and MPI_Finalize of Open MPI leave for by a jump */
    bool binding = !behind && str_begins(name, "ompi_"); /* its own names of what Fortran calls */

    if (behind)
        name += strlen("ompi_");
    else if (binding || tolower((unsigned char)*name) == 'p')
        name++;
    if (strncasecmp(name, "mpi_", 4) || !name[4])
        return NULL;
    own = xstrdup(name);
    if (str_begins(own, "MPI_") && has_lower(own + 4))
        return binding ? NULL : MEM_STEAL(own);
    while (cut_end(own, "_"))
        ;
    if (binding && !cut_end(own, "_f"))
        return NULL;
    if (!cut_end(own, "_f08"))
        cut_end(own, "_f08ts");
    if (!own[3] || !own[4])
        return NULL;
    for (char *p = own; *p; p++)
        *p = (char)(p < own + 5 ? toupper((unsigned char)*p) : tolower((unsigned char)*p));
    return MEM_STEAL(own);
}

static char *name_of_entry(const struct model *m, const struct hqdb_scope *procedure)
{
    char *name = mpi_name_in_c(intern_str(&m->strings, procedure->name));

    for (uint32_t i = 0; !name && i < procedure->alias_count; i++)
        name = mpi_name_in_c(intern_str(&m->strings, m->aliases.data[procedure->first_alias + i]));
    return name;
}

/* ---- entries ---- */

/* Fortran's procedures lie in a library of their own: their entries are those of the library that C calls. */
static uint32_t home_of_mpi(const struct model *m, uint32_t module)
{
    const struct runtime *own = runtime_of_module(intern_str(&m->strings, m->modules.data[module].path));
    const char *best = NULL;

    for (uint32_t i = 0; own && i < m->modules.len; i++) {
        const char *path = intern_str(&m->strings, m->modules.data[i].path);

        if (runtime_is_mpi_of_c(path) && runtime_of_module(path)->name == own->name &&
            (!best || strcmp(path, best) < 0)) {
            best = path;
            module = i;
        }
    }
    return module;
}

/* One scope for all names of a procedure of MPI, whichever of its libraries was called. */
static uint32_t mpi_scope(struct model *m, uint32_t module, const char *name)
{
    AUTO_FREE char *profiling = xasprintf("P%s", name);
    AUTO_FREE char *fortran = xstrdup(name);
    AUTO_FREE char *capitals = xstrdup(name);
    uint32_t file;

    for (char *p = fortran; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    for (char *p = capitals; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    AUTO_FREE char *one = xasprintf("%s_", fortran);
    AUTO_FREE char *two = xasprintf("%s__", fortran);
    const char *aliases[] = {profiling, fortran, one, two, capitals, NULL};

    module = home_of_mpi(m, module);
    file = model_scope(m, &(struct model_scope){.kind = SCOPE_FILE,
                                                .parent = model_module_scope(m, module),
                                                .name = "<unknown file>",
                                                .file = "",
                                                .module = module});
    return model_scope(m, &(struct model_scope){.kind = SCOPE_PROCEDURE,
                                                .parent = file,
                                                .name = name,
                                                .linkage = name,
                                                .file = "",
                                                .module = module,
                                                .aliases = aliases});
}

/* The procedure that was called (`called` if that is one of MPI); HQDB_NONE if it is not known. */
static uint32_t entry_scope(struct model *m, const struct hqdb_code *code, bool is_mpi, const char *called)
{
    uint32_t scope = code->normal;

    while (scope != MODEL_ROOT && m->scopes.data[scope].kind != SCOPE_PROCEDURE)
        scope = m->scopes.data[scope].parent;
    if (scope == MODEL_ROOT)
        return HQDB_NONE;

    AUTO_FREE char *name = is_mpi && called ? mpi_name_in_c(called) : NULL;

    if (is_mpi && !name)
        name = name_of_entry(m, &m->scopes.data[scope]);
    uint32_t module = m->scopes.data[scope].module;

    return name && module != HQDB_NONE ? mpi_scope(m, module, name) : scope;
}

uint32_t folding_frame(struct model *m, uint32_t parent, uint32_t code, enum inside inside, const char *called)
{
    if (inside == ENTRY || inside == ENTRY_OF_MPI) {
        uint32_t scope = entry_scope(m, &m->codes.data[code], inside == ENTRY_OF_MPI, called);

        if (scope == HQDB_NONE)
            return model_frame(m, parent, code);
        parent = model_frame(m, parent, model_code_entry(m, scope));
    }
    return model_frame(m, parent, inside == OUTSIDE ? code : model_code_inside(m, code));
}
