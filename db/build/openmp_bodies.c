/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which procedures are bodies of regions, of tasks and of target regions: by their names, by what the recording says of
 * who opened them, and by what calls them.
 */
#include "common/mem.h"
#include "common/str.h"
#include "db/build/openmp_impl.h"
#include <stdlib.h>
#include <string.h>

#define TASK_ENTRY ".omp_task_entry" /* clang's */
#define OUTLINED   ".omp_outlined"   /* likewise, of a region */

struct outlined *outlined_at(struct module_work *w, uint32_t procedure)
{
    const struct structure_scope *x = &w->structure.scopes.data[procedure];
    struct outlined *o;
    size_t base;

    if (!w->outlined)
        w->outlined = xcalloc(w->structure.scopes.len + 1, sizeof *w->outlined);
    o = &w->outlined[procedure];
    if (o->kind != NOT_KNOWN)
        return o;

    const char *name = opener_scope_name(w, procedure);
    struct opener_offloaded target;

    *o = (struct outlined){
        .kind = x->kind == SCOPE_PROCEDURE && opener_split_name(name, &base) ? BODY_OF_TASK : NOT_OUTLINED,
        .file = intern_str(&w->structure.strings, x->file),
        .line = x->line,
    };
    if (o->kind == BODY_OF_TASK && opener_split_offloaded(name, &target)) {
        o->is_target = true;
        o->line = target.line;
    }
    return o;
}

void openmp_deinit(struct module_work *w)
{
    free(w->outlined);
}

/* ---- frames ---- */

uint32_t procedure_at(const struct attribution *a, const struct tree_frame *f)
{
    uint32_t statement = opener_statement(a, f->module, f->offset);

    return statement == STRUCTURE_NONE ? STRUCTURE_NONE : procedure_of(&a->modules[f->module].structure, statement);
}

/* The frame of the program's code above what a runtime calls; TREE_NONE: none is. */
static uint32_t above_runtime(const struct attribution *a, uint32_t frame)
{
    for (;;) {
        frame = calltree_frame(a->tree, frame)->parent;
        if (frame == TREE_NONE || !is_openmp_code(a, calltree_frame(a->tree, frame)))
            return frame;
    }
}

uint32_t entry_above(const struct attribution *a, uint32_t frame)
{
    uint32_t entry = calltree_frame(a->tree, frame)->parent, outside = above_runtime(a, frame);

    while (calltree_frame(a->tree, entry)->parent != outside)
        entry = calltree_frame(a->tree, entry)->parent;
    return entry;
}

bool is_called_by_runtime(const struct attribution *a, const struct tree_frame *f)
{
    return f->module < a->tree->modules.len && !is_openmp_code(a, f) && f->parent != TREE_NONE &&
           is_openmp_code(a, calltree_frame(a->tree, f->parent)) && !is_own_work(a, f);
}

/* ---- which procedures are bodies of regions ---- */

/* flang's bodies have no line. Those of the calls that open them are near the directive, rarely its own. */
static void note_call(struct attribution *a, uint32_t region, struct outlined *o)
{
    struct module_work *w;
    const struct structure_scope *call = o->line ? NULL : opener_call(a, region, &w);

    if (!call || !call->line || (o->call_line && o->call_line <= call->line))
        return;
    o->call_file = intern_str(&w->structure.strings, call->file);
    o->call_line = call->line;
}

/* Notes that a procedure is the body of a region. Several may open it: the first by name gives its name. */
static void note_body(struct attribution *a, uint32_t region, uint32_t module, uint32_t statement, bool at_entry)
{
    struct module_work *w = &a->modules[module];
    const struct structure_scope *x = &w->structure.scopes.data[statement];
    uint32_t procedure = procedure_of(&w->structure, statement);
    struct outlined *o = procedure == STRUCTURE_NONE ? NULL : outlined_at(w, procedure);
    const char *opener;

    if (!o || o->kind == NOT_OUTLINED || strstr(opener_scope_name(w, procedure), TASK_ENTRY))
        return;
    opener = opener_name(a, region, module, procedure);
    o->kind = BODY_OF_REGION;
    o->is_league = o->is_league || (opener_record(a, region) && opener_record(a, region)->runtime & HQM_RUNTIME_LEAGUE);
    if (at_entry && x->line && !o->line) {
        o->file = intern_str(&w->structure.strings, x->file);
        o->line = x->line;
    }
    note_call(a, region, o);
    if (opener && (!o->opener || strcmp(opener, o->opener) < 0))
        o->opener = opener;
    map_put(&a->bodies, region, (uint64_t)module << 32 | procedure);
}

/* The places of bodies of tasks; those of regions have theirs already. */
static void note_tasks(struct attribution *a)
{
    for (uint32_t i = 0; i < a->tree->openings.len; i++) {
        const struct tree_opening *o = keymap_key(&a->tree->openings, i);
        uint32_t statement = opener_statement(a, o->body.module, o->body.offset), procedure;
        struct module_work *w;

        if (statement == STRUCTURE_NONE)
            continue;
        w = &a->modules[o->body.module];
        procedure = procedure_of(&w->structure, statement);

        const struct structure_scope *x = &w->structure.scopes.data[statement];
        struct outlined *of = procedure == STRUCTURE_NONE ? NULL : outlined_at(w, procedure);

        if (!of || of->kind != BODY_OF_TASK)
            continue;
        of->is_task = true;
        if (!of->line && x->line) {
            of->file = intern_str(&w->structure.strings, x->file);
            of->line = x->line;
        }
    }
}

/* Without optimisation, and for debuggers, clang puts what is written in a region into a second procedure, which the
 * body calls (.omp_outlined._debug__). */
static void note_debug_bodies(struct attribution *a)
{
    for (uint32_t i = 0; i < a->tree->frames.len; i++) {
        const struct tree_frame *f = calltree_frame(a->tree, i);
        const struct tree_frame *call = f->parent == TREE_NONE ? NULL : calltree_frame(a->tree, f->parent);

        if (!call || call->module != f->module || f->module >= a->tree->modules.len || !a->modules[f->module].outlined)
            continue;
        struct module_work *w = &a->modules[f->module];
        uint32_t inner = procedure_of(&w->structure, opener_statement(a, f->module, f->offset));
        uint32_t outer = procedure_of(&w->structure, opener_statement(a, call->module, call->offset));
        size_t base;

        if (inner == STRUCTURE_NONE || outer == STRUCTURE_NONE || inner == outer ||
            outlined_at(w, outer)->kind != BODY_OF_REGION || !strstr(opener_scope_name(w, inner), "_debug__") ||
            !opener_split_name(opener_scope_name(w, inner), &base))
            continue;
        *outlined_at(w, inner) = *outlined_at(w, outer);
    }
}

static bool is_offloaded(const struct module_work *w, uint32_t procedure)
{
    vec_foreach(address, &w->offloaded)
        if (*address == w->structure.scopes.data[procedure].address)
            return true;
    return false;
}

/* gcc gives bodies of tasks, of regions and of target regions the same names, and which it is tells what calls it, or
 * a list. clang's tasks are called by others. */
static void note_called(struct attribution *a, uint32_t frame)
{
    const struct tree_frame *f = calltree_frame(a->tree, frame);
    uint32_t procedure = procedure_at(a, f), entry = entry_above(a, frame);
    const char *name = frame_name(a, calltree_frame(a->tree, entry)), *called = name ? name : "", *opener;
    struct module_work *w = &a->modules[f->module];
    struct outlined *o = procedure == STRUCTURE_NONE ? NULL : outlined_at(w, procedure);

    if (!o || o->is_task || o->kind == NOT_OUTLINED)
        return;
    if (o->kind == BODY_OF_TASK && (str_begins(called, "GOMP_target") || is_offloaded(w, procedure)))
        o->is_target = true;
    if (o->is_target || (o->kind == BODY_OF_TASK && !str_begins(called, "GOMP_parallel") &&
                         !str_begins(called, "GOMP_teams") && !strstr(opener_scope_name(w, procedure), OUTLINED)))
        return;
    o->kind = BODY_OF_REGION;
    o->is_league |= str_begins(called, "GOMP_teams") || str_begins(called, "__kmpc_fork_teams");
    opener = begins_thread(a, calltree_frame(a->tree, entry))
                 ? NULL
                 : opener_name(a, calltree_frame(a->tree, entry)->parent, f->module, procedure);
    if (opener && !o->opener)
        o->opener = opener;
}

static void note_all_called(struct attribution *a)
{
    for (uint32_t i = 0; i < a->tree->frames.len; i++)
        if (is_called_by_runtime(a, calltree_frame(a->tree, i)))
            note_called(a, i);
}

/* The body of a target region at a frame, as in a->bodies. */
static uint64_t target_at(struct attribution *a, const struct tree_frame *f)
{
    uint32_t procedure = f->module >= a->tree->modules.len || !a->modules[f->module].outlined ? STRUCTURE_NONE
                                                                                              : procedure_at(a, f);

    return procedure == STRUCTURE_NONE || !outlined_at(&a->modules[f->module], procedure)->is_target
               ? UINT64_MAX
               : (uint64_t)f->module << 32 | procedure;
}

/* A region that is written in a task: its body is opened by that of the task, or of a region in it. Outer ones come
 * first. */
static void note_regions_of_tasks(struct attribution *a)
{
    for (uint32_t i = 0; i < a->tree->frames.len; i++) {
        const struct tree_frame *f = calltree_frame(a->tree, i), *call;
        uint64_t body = f->module == TREE_REGION ? map_get(&a->bodies, i, UINT64_MAX) : target_at(a, f);
        uint32_t procedure;
        size_t base = 0;

        if (body == UINT64_MAX || f->parent == TREE_NONE)
            continue;
        call = calltree_frame(a->tree, f->parent);
        procedure = call->module == body >> 32 ? procedure_at(a, call) : STRUCTURE_NONE;
        if (procedure == STRUCTURE_NONE)
            continue;
        struct module_work *w = &a->modules[body >> 32];
        struct outlined *of = outlined_at(w, (uint32_t)body), *by = outlined_at(w, procedure);

        opener_split_name(opener_scope_name(w, procedure), &base);
        if (by->kind == BODY_OF_TASK && !by->is_target && (!base || by->is_task))
            of->task = procedure + 1;
        else if ((by->kind == BODY_OF_REGION || by->is_target) && by != of)
            of->task = by->task;
    }
}

void openmp_find_bodies(struct attribution *a)
{
    const struct calltree *t = a->tree;

    for (uint32_t i = 0; i < t->frames.len; i++) {
        const struct tree_frame *f = calltree_frame(t, i);
        const struct tree_opening *o = f->module == TREE_REGION ? opener_record(a, i) : NULL;
        uint32_t statement = o ? opener_statement(a, o->body.module, o->body.offset) : STRUCTURE_NONE;

        if (statement != STRUCTURE_NONE)
            note_body(a, i, o->body.module, statement, true);
        if (f->parent == TREE_NONE || calltree_frame(t, f->parent)->module != TREE_REGION)
            continue;
        o = opener_record(a, f->parent);
        statement = opener_statement(a, f->module, f->offset);
        if (statement != STRUCTURE_NONE && (!o || o->body.module == TREE_NONE))
            note_body(a, f->parent, f->module, statement, false);
    }
    note_tasks(a);
    note_debug_bodies(a);
    note_all_called(a);
    note_regions_of_tasks(a);
}
