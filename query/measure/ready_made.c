/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups that need no definition (grouping.h): by directory, by load module, by runtime. */
#include "common/file.h"
#include "common/mem.h"
#include "common/names.h"
#include "db/runtimes.h"
#include "query/measure/grouping.h"
#include "query/pattern/system.h"
#include "query/pattern/waits.h"
#include <string.h>

/* ---- by the place of the innermost procedure ---- */

static const char *place_of(const struct tree *t, uint32_t scope, enum grouped grouped, struct arena *arena)
{
    enum scope_kind kind = grouped == GROUPED_MODULE ? SCOPE_MODULE : SCOPE_FILE;
    uint32_t holder = tree_enclosing(t, scope, kind);
    const char *path = holder == HQDB_NONE ? "" : tree_text(t, tree_scope(t, holder)->name);

    if (grouped == GROUPED_MODULE)
        return *path ? path_base(path) : "unknown module";
    const char *slash = strrchr(path, '/');

    if (!*path)
        return "unknown directory";
    return slash == path ? "/" : slash ? arena_strndup(arena, path, (size_t)(slash - path)) : ".";
}

static void label_places(struct run *run, enum grouped grouped, uint32_t *label, struct intern *names)
{
    const struct tree *t = run->tree;
    AUTO(arena_deinit) struct arena arena = {0};
    AUTO_FREE uint32_t *of_scope = xcalloc((size_t)t->scope_count + 1, sizeof *of_scope);

    for (uint32_t c = 0; c < t->context_count && !run_interrupted(run); c++) {
        uint32_t scope = tree_scope_of(t, c), parent = tree_parent(t, c);
        enum scope_kind kind = tree_kind(t, c);
        bool starts = scope_is_called(kind) || kind == SCOPE_THREAD || kind == SCOPE_PARTIAL || parent == HQDB_NONE;

        if (starts && !of_scope[scope])
            of_scope[scope] = intern_add(names, place_of(t, scope, grouped, &arena));
        label[c] = starts ? of_scope[scope] : label[parent];
    }
}

/* ---- by runtime ---- */

enum runtime_group {
    GROUP_NONE, /* the row of the table does not hold */
    GROUP_USER,
    GROUP_MPI,
    GROUP_OPENMP,
    GROUP_GPU,
    GROUP_MEMORY,
    GROUP_IO,
    GROUP_MATH,
    GROUP_KERNEL,
    GROUP_C_LIBRARY,
    GROUP_HQ,
    GROUP_UNKNOWN,
    GROUP_SUPPORT, /* MPI's below MPI, else the user's; no name */
    RUNTIME_GROUPS
};

static const char *const group_names[RUNTIME_GROUPS] = {
    [GROUP_USER] = "user code",      [GROUP_MPI] = "MPI", [GROUP_OPENMP] = "OpenMP",     [GROUP_GPU] = "GPU",
    [GROUP_MEMORY] = "memory",       [GROUP_IO] = "I/O",  [GROUP_MATH] = "math library", [GROUP_KERNEL] = "kernel",
    [GROUP_C_LIBRARY] = "C library", [GROUP_HQ] = "hq",   [GROUP_UNKNOWN] = "unknown",
};

static enum runtime_group group_of_module(const char *module)
{
    static const struct {
        const char *match;
        enum runtime_group group;
    } rows[] = {
#define MODULE(match, group) {match, GROUP_##group},
#include "query/measure/runtime_groups.def"
#undef MODULE
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (glob_matches(rows[i].match, module, strlen(module)))
            return rows[i].group;
    return GROUP_NONE;
}

static enum runtime_group group_of_name(const char *name, struct standing standing)
{
    static const struct {
        const char *match;
        enum where where;
        enum runtime_group group;
    } rows[] = {
#define CALL(match, where, group) {match, where, GROUP_##group},
#include "query/measure/runtime_groups.def"
#undef CALL
    };

    AUTO_FREE char *folded = name_folded(name);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (system_row(rows[i].match, rows[i].where, folded, standing))
            return rows[i].group;
    return GROUP_NONE;
}

static enum runtime_group group_of_runtime(const struct runtime *r)
{
    switch (r->kind) {
    case RUNTIME_MPI: return GROUP_MPI;
    case RUNTIME_OPENMP: return GROUP_OPENMP;
    case RUNTIME_GPU: return GROUP_GPU;
    case RUNTIME_SUPPORT: return GROUP_SUPPORT;
    case RUNTIME_SYSTEM: break;
    }
    return !strcmp(r->name, "kernel") ? GROUP_KERNEL : !strcmp(r->name, "hq") ? GROUP_HQ : GROUP_C_LIBRARY;
}

/* Returns the group of a procedure, whoever calls it. */
static enum runtime_group group_of_procedure(const struct tree *t, uint32_t scope)
{
    const struct hqdb_scope *s = tree_scope(t, scope);
    const char *module = tree_module_name(t, scope);
    const struct runtime *r = module ? runtime_of_module(module) : NULL;
    enum runtime_group of_module = r ? group_of_runtime(r) : module ? group_of_module(module) : GROUP_NONE, group;
    struct db_list aliases = tree_aliases(t, s);
    struct standing standing = standing_of(r, module != NULL);

    if (s->kind == SCOPE_WAIT || s->kind == SCOPE_RUNTIME)
        return of_module == GROUP_HQ || of_module == GROUP_KERNEL ? of_module : GROUP_OPENMP;
    if (of_module != GROUP_NONE && of_module != GROUP_C_LIBRARY)
        return of_module;
    if (scope_is_mpi(t, scope))
        return GROUP_MPI;
    group = group_of_name(tree_text(t, s->name), standing);
    for (size_t i = 0; i < aliases.len && group == GROUP_NONE; i++)
        group = group_of_name(db_string(t->db, aliases.data[i]), standing);
    return group != GROUP_NONE ? group : of_module != GROUP_NONE ? of_module : GROUP_USER;
}

/* The outermost runtime below the innermost frame of the user's; what hq does is nobody else's. */
static enum runtime_group group_below(enum runtime_group group, enum runtime_group above)
{
    if (group == GROUP_HQ)
        return group;
    bool in_runtime = above != GROUP_USER && above != GROUP_UNKNOWN;

    if (group == GROUP_SUPPORT)
        group = above == GROUP_MPI ? GROUP_MPI : GROUP_USER;
    return group != GROUP_USER && in_runtime ? above : group;
}

/* Labels each context with its runtime_group. */
static void find_runtimes(const struct tree *t, uint32_t *label)
{
    AUTO_FREE uint8_t *of_scope = xcalloc((size_t)t->scope_count + 1, 1);

    for (uint32_t c = 0; c < t->context_count; c++) {
        uint32_t scope = tree_scope_of(t, c), parent = tree_parent(t, c);
        enum scope_kind kind = tree_kind(t, c);
        enum runtime_group above = parent == HQDB_NONE ? GROUP_UNKNOWN : label[parent];

        if (scope_is_called(kind)) {
            if (!of_scope[scope])
                of_scope[scope] = (uint8_t)group_of_procedure(t, scope);
            label[c] = group_below(of_scope[scope], above);
        } else {
            label[c] = kind == SCOPE_THREAD || kind == SCOPE_PARTIAL ? GROUP_UNKNOWN : above;
        }
    }
}

static void label_runtimes(const struct tree *t, uint32_t *label, struct intern *names)
{
    find_runtimes(t, label);
    for (uint32_t c = 0; c < t->context_count; c++)
        label[c] = intern_add(names, group_names[label[c]]);
}

void ready_made_keep_system(const struct db *db, uint8_t **keep)
{
    struct tree t;

    tree_init(&t, db);
    AUTO_FREE uint32_t *label = xcalloc((size_t)t.context_count + 1, sizeof *label);

    find_runtimes(&t, label);
    if (!*keep) {
        *keep = xmalloc((size_t)t.position_count + 1);
        memset(*keep, 1, (size_t)t.position_count + 1);
    }
    for (uint32_t c = 0; c < t.context_count; c++) {
        enum runtime_group g = label[c];
        uint32_t next = c + 1 < tree_end(&t, c) ? tree_first(&t, c + 1) : tree_range(&t, c).last;

        if (g == GROUP_IO || g == GROUP_KERNEL || g == GROUP_MPI || g == GROUP_OPENMP)
            continue;
        for (uint32_t p = tree_first(&t, c); p < next; p++)
            (*keep)[p] = 0;
    }
    tree_deinit(&t);
}

void ready_made_labels(struct run *run, enum grouped grouped, uint32_t *label, struct intern *names)
{
    if (grouped == GROUPED_RUNTIME)
        label_runtimes(run->tree, label, names);
    else
        label_places(run, grouped, label, names);
}
