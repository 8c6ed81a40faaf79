/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/pattern/families.h"
#include "common/mem.h"
#include "db/runtimes.h"
#include "query/pattern/shades.h"
#include "query/pattern/waits.h"
#include <string.h>

static const enum family of_runtime[] = {
    [RUNTIME_MPI] = FAMILY_MPI,         [RUNTIME_OPENMP] = FAMILY_OPENMP, [RUNTIME_GPU] = FAMILY_GPU,
    [RUNTIME_SUPPORT] = FAMILY_SUPPORT, [RUNTIME_SYSTEM] = FAMILY_SYSTEM,
};

static bool is_executable(const struct db *db, const char *path)
{
    for (size_t m = 0; m < db->module_count; m++)
        if (db->modules[m].flags & HQDB_MODULE_MAIN && !strcmp(db_string(db, db->modules[m].path), path))
            return true;
    return false;
}

/* [scope of a load module] what its code is. The program is what was executed: the file says so, or, in data of other
 * tools, a main in it; one that was jumped out of is on no call path. Where neither is, all that is no runtime is the
 * program. */
static uint8_t *families_of_modules(const struct tree *t)
{
    uint8_t *of = xcalloc((size_t)t->scope_count + 1, 1), *own = xcalloc((size_t)t->scope_count + 1, 1);
    bool any = false;

    for (uint32_t s = 0; s < t->scope_count; s++) {
        const struct hqdb_scope *scope = tree_scope(t, s);
        const char *name = tree_text(t, scope->name);

        if (scope->kind == SCOPE_MODULE ? !is_executable(t->db, name)
                                        : scope->kind != SCOPE_PROCEDURE || strcmp(name, "main"))
            continue;
        uint32_t module = scope->kind == SCOPE_MODULE ? s : tree_enclosing(t, s, SCOPE_MODULE);

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

/* [scope] enum family; the caller frees it. */
static uint8_t *families_of_scopes(const struct query_env *env, const struct tree *t)
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

struct tint *tints_of_scopes(const struct query_env *env, const struct tree *t)
{
    struct tint *of = xcalloc((size_t)t->scope_count + 1, sizeof *of);
    AUTO_FREE uint8_t *families = families_of_scopes(env, t);
    struct shades shades = {0};
    struct arena names = {0};
    struct tree own;

    tree_init(&own, t->db);
    AUTO_FREE uint8_t *own_families = families_of_scopes(env, &own);

    shades_choose(&shades, &own, own_families);
    for (uint32_t s = 0; s < t->scope_count; s++)
        of[s] = (struct tint){families[s], (uint8_t)shades_of(&shades, t, s, families[s], &names)};
    tree_deinit(&own);
    shades_deinit(&shades);
    arena_deinit(&names);
    return of;
}
