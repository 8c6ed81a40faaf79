/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of an OpenMP runtime: calls into it become rows of what they are for (db/states.def), and programs that hold
 * one of their own are told of.
 */
#include "common/file.h"
#include "common/mem.h"
#include "common/names.h"
#include "common/str.h"
#include "db/build/attribution.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- runtimes that are linked statically ---- */

static bool knows(const struct known *known, const char *const *names, size_t count)
{
    struct known_walk *w = known->state ? known_open(known->packed, known->bytes, known->unpacked) : NULL;
    bool found = false;

    for (const char *name; w && !found && (name = known_next(w));)
        for (size_t i = 0; i < count; i++)
            found |= !strcmp(name, names[i]);
    if (w)
        known_close(w);
    return found;
}

void openmp_note_static(struct attribution *a)
{
    static const char *const names[] = {"GOMP_parallel", "GOMP_parallel_start", "__kmpc_fork_call"};

    for (size_t i = 0; i < a->tree->modules.len; i++) {
        const struct module_work *w = &a->modules[i];

        if (w->runtime || w->flags & (TREE_GENERATED | HQM_MODULE_COLLECTOR) ||
            !knows(&w->known, names, sizeof names / sizeof *names))
            continue;
        AUTO_FREE char *text = xasprintf(
            "%s holds its OpenMP runtime, linked statically: its parallel regions are not seen, "
            "and its threads have roots of their own",
            file_basename(w->path));

        model_info(a->model, "warning", text);
    }
}

/* ---- the purpose of calls ---- */

static uint32_t state_scope(struct attribution *a, uint32_t module, enum scope_kind kind, const char *name)
{
    return model_scope(a->model, &(struct model_scope){
                                     .kind = kind,
                                     .parent = module == HQDB_NONE ? MODEL_ROOT : model_module_scope(a->model, module),
                                     .name = name,
                                     .file = "",
                                     .module = module,
                                 });
}

uint32_t openmp_wait_code(struct attribution *a)
{
    const struct module_work *w = NULL;

    for (size_t i = 0; i < a->tree->modules.len; i++) {
        const struct module_work *x = &a->modules[i];

        if (is_openmp_module(x) && x->offsets.len && (!w || strcmp(x->path, w->path) < 0))
            w = x;
    }
    return code_of_scope(a, HQDB_NONE, 0,
                         state_scope(a, w ? w->module : HQDB_NONE, SCOPE_WAIT, "[wait at the region's end]"));
}

static const struct state {
    const char *match, *name;
    enum scope_kind kind;
} states[] = {
#define STATE(match, name, kind) {match, name, SCOPE_##kind},
#include "db/states.def"
};

static const struct state *state_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof states / sizeof *states; i++)
        if (!fnmatch(states[i].match, name, 0))
            return &states[i];
    return NULL;
}

static uint32_t state_code(struct attribution *a, const struct tree_frame *f, const char *name, enum scope_kind kind)
{
    uint32_t module = a->modules[f->module].module;

    return code_of_scope(a, module, f->offset, state_scope(a, module, kind, name));
}

/* The runtimes' own functions have names where they are not stripped; in C++ such names begin with a type. */
static bool is_inside(const char *name)
{
    return name_is_address(name) || str_begins(name, "gomp_") || str_begins(name, "__kmp_") ||
           strstr(name, " __kmp_") || strstr(name, "kmp_flag");
}

uint32_t openmp_state_code(struct attribution *a, const struct tree_frame *f, const char *name, bool idle)
{
    bool inside = name && is_inside(name);
    const struct state *state;

    if (idle)
        return state_code(a, f, "[idle: no region]", SCOPE_WAIT);
    state = state_of(inside ? modules_called(a, f) : name);
    if (!state && inside)
        state = state_of(name);
    if (state)
        return state_code(a, f, state->name, state->kind);
    return inside ? state_code(a, f, "[fork, join, scheduling]", SCOPE_RUNTIME) : HQDB_NONE;
}

uint32_t openmp_inner_wait(struct attribution *a, const struct tree_frame *f, const char *name, const char *caller)
{
    const struct state *outer = state_of(caller),
                       *inner = outer && outer->kind == SCOPE_RUNTIME ? state_of(name) : NULL;

    return inner && inner->kind == SCOPE_WAIT ? state_code(a, f, inner->name, SCOPE_WAIT) : HQDB_NONE;
}
