/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/pattern/families.h"
#include "common/mem.h"
#include "db/runtimes.h"
#include "query/pattern/waits.h"
#include <string.h>

static const enum family of_runtime[] = {
    [RUNTIME_MPI] = FAMILY_MPI,         [RUNTIME_OPENMP] = FAMILY_OPENMP, [RUNTIME_GPU] = FAMILY_GPU,
    [RUNTIME_SUPPORT] = FAMILY_SUPPORT, [RUNTIME_SYSTEM] = FAMILY_SYSTEM,
};

/* [scope of a load module] what its code is. Where none has a main, all that is no runtime is the program. */
static uint8_t *families_of_modules(const struct tree *t)
{
    uint8_t *of = xcalloc((size_t)t->scope_count + 1, 1), *own = xcalloc((size_t)t->scope_count + 1, 1);
    bool any = false;

    for (uint32_t s = 0; s < t->scope_count; s++) {
        if (tree_scope(t, s)->kind != SCOPE_PROCEDURE || strcmp(tree_text(t, tree_scope(t, s)->name), "main"))
            continue;
        uint32_t module = tree_enclosing(t, s, SCOPE_MODULE);

        if (module != HQDB_NONE)
            own[module] = any = true;
    }
    for (uint32_t s = 0; s < t->scope_count; s++) {
        if (tree_scope(t, s)->kind != SCOPE_MODULE)
            continue;
        const struct runtime *r = runtime_of_module(tree_text(t, tree_scope(t, s)->name));

        of[s] = r ? of_runtime[r->kind] : own[s] || !any ? FAMILY_PROGRAM : FAMILY_LIBRARY;
    }
    free(own);
    return of;
}

uint8_t *families_of_scopes(const struct query_env *env, const struct tree *t)
{
    AUTO_FREE uint8_t *modules = families_of_modules(t);
    AUTO_FREE uint8_t *waits = waits_of_scopes(env, t);
    uint8_t *of = xcalloc((size_t)t->scope_count + 1, 1);

    for (uint32_t s = 0; s < t->scope_count; s++) {
        uint32_t module = tree_enclosing(t, s, SCOPE_MODULE);

        of[s] = module == HQDB_NONE ? FAMILY_PROGRAM : modules[module];
        if (waits[s] != WAITS_NOT && waits[s] != WAITS_IN_MPI)
            of[s] = FAMILY_WAITING;
        else if (waits[s] == WAITS_IN_MPI)
            of[s] = FAMILY_MPI;
        else if (tree_scope(t, s)->kind == SCOPE_DEVICE)
            of[s] = FAMILY_GPU;
    }
    return of;
}
